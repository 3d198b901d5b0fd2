//! The archives of workshops' files in an object store: a folder, or a bucket of S3.
//!
//! Each archive is one object with the name `<identifier>.tar.gz`. It appears when it is complete: an interrupted upload
//! leaves no object. Only the database knows whose archive it is.

mod http;
mod store;

pub use store::{ARCHIVE_BYTES, ByteStream, Location, LocationError, SaveError, SnapshotStore, StoreError};
