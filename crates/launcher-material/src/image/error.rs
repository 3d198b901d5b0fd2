//! Error of a copy.

use std::io;
use std::path::PathBuf;

/// Error of a copy. The text says what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The path in the image is no directory, or a link.
    #[error("{0} is no directory in the image, or a link: choose another directory in the template")]
    NotADirectory(PathBuf),
    /// The files exceed the limit.
    #[error(
        "the files of the image below {path} need more than {bytes} bytes: use a smaller image or another directory"
    )]
    TooLarge {
        /// Directory in the image.
        path: PathBuf,
        /// Maximum bytes.
        bytes: u64,
    },
    /// A file could not be copied.
    #[error("copying {path} from the image failed: {source}")]
    File {
        /// The file in the image.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
    /// The marker file could not be created.
    #[error("writing {path} failed: {source}")]
    Marker {
        /// The marker file.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
}
