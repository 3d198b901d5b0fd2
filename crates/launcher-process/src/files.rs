//! The limit of open files; each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard limit. The default soft limit, often 1,024, is meant for programs
/// that use `select`, and is less than the connections of a course.
pub fn raise_open_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })
    {
        tracing::warn!(%error, limit.current, "raising open file limit failed");
    }
}
