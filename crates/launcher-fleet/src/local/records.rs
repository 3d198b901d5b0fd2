//! The files of a data directory: records of the Workshops, logs and identities.

pub(super) mod data_dir_identity;
mod files;
mod layout;
pub(super) mod log;
mod record;
pub(super) mod store;
mod token;
mod watch_cache;

pub(super) use files::{make_private, remove_directory, replace_file};
pub(super) use layout::Layout;
pub(super) use record::{Record, Started};
pub(super) use token::Token;
pub(super) use watch_cache::WatchCache;
