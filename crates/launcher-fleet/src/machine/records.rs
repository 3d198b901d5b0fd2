//! The files of a data directory: the records of the Workshops, and the identities.

pub(super) mod data_dir_identity;
mod files;
mod layout;
mod process;
mod record;
pub(super) mod store;
mod stored_record;
mod watch_cache;

pub(crate) use files::{make_private, remove_directory, replace_file};
pub(crate) use layout::Layout;
pub(crate) use process::Process;
pub(crate) use record::Record;
pub(crate) use store::StateError;
pub(crate) use stored_record::StoredRecord;
pub(crate) use watch_cache::WatchCache;
