//! The limit of open files. Each connection counts as an open file.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard limit. The default soft limit is often 1,024, because `select`
/// cannot handle more files. The connections of one course can exceed it.
pub fn raise_open_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })
    {
        tracing::warn!(%error, limit.current, "raising open file limit failed, keeping the current limit");
    }
}
