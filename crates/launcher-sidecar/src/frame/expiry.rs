//! Sources of the workshop's expiry.

use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use launcher_process::follow;

/// Source of the workshop's expiry.
#[derive(Clone, Default)]
pub enum Expiry {
    /// No source: the expiry is unknown.
    #[default]
    Unknown,
    /// A file with the expiry in RFC 3339, read for each status. While the file is missing or empty, the expiry is
    /// unknown.
    File(PathBuf),
    /// A function that returns the current expiry.
    Shared(Arc<dyn Fn() -> Option<Timestamp> + Send + Sync>),
}

impl fmt::Debug for Expiry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => formatter.write_str("Unknown"),
            Self::File(path) => formatter.debug_tuple("File").field(path).finish(),
            Self::Shared(_) => formatter.write_str("Shared"),
        }
    }
}

impl Expiry {
    /// Returns the current expiry; `None` if it is unknown.
    pub(super) async fn read(&self) -> Option<Timestamp> {
        let path = match self {
            Self::Unknown => return None,
            Self::Shared(current) => return current(),
            Self::File(path) => path,
        };
        let text = match follow::read(path).await {
            Ok(text) => text,
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    tracing::debug!(path = %path.display(), %error, "reading the expiry failed");
                }
                return None;
            }
        };
        text.trim().parse().ok()
    }
}
