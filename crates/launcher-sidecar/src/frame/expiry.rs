//! Sources of the workshop's expiry.

use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use jiff::{SignedDuration, Timestamp};
use launcher_process::follow;

/// Source of the workshop's expiry.
#[derive(Clone, Default)]
pub enum Expiry {
    /// No source: the expiry is unknown.
    #[default]
    Unknown,
    /// A file, read for each status.
    File(ExpiryFile),
    /// A function that returns the current expiry.
    Shared(Arc<dyn Fn() -> Option<Timestamp> + Send + Sync>),
}

/// A file with the expiry, in one of two forms. While the file is missing, empty or in another form, the expiry is unknown.
///
/// - RFC 3339: the expiry.
/// - `+SECONDS`: this number of seconds after the app first accepted a connection.
#[derive(Debug, Clone)]
pub struct ExpiryFile {
    path: PathBuf,
    /// Time at which the app first accepted a connection.
    ready_at: Arc<OnceLock<Timestamp>>,
}

impl ExpiryFile {
    /// Names the file. The app is not ready yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, ready_at: Arc::default() }
    }

    async fn read(&self) -> Option<Timestamp> {
        let text = match follow::read(&self.path).await {
            Ok(text) => text,
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    tracing::debug!(path = %self.path.display(), %error, "reading the expiry failed");
                }
                return None;
            }
        };
        let text = text.trim();
        match text.strip_prefix('+') {
            Some(seconds) => {
                let lifetime = SignedDuration::from_secs(seconds.parse::<u32>().ok()?.into());
                self.ready_at.get()?.checked_add(lifetime).ok()
            }
            None => text.parse().ok(),
        }
    }
}

impl fmt::Debug for Expiry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => formatter.write_str("Unknown"),
            Self::File(file) => formatter.debug_tuple("File").field(file).finish(),
            Self::Shared(_) => formatter.write_str("Shared"),
        }
    }
}

impl Expiry {
    /// Returns the current expiry; `None` if it is unknown.
    pub(super) async fn read(&self) -> Option<Timestamp> {
        match self {
            Self::Unknown => None,
            Self::Shared(current) => current(),
            Self::File(file) => file.read().await,
        }
    }

    /// Notes that the app accepts connections. Only the first call has an effect.
    pub(super) fn note_ready(&self, now: Timestamp) {
        if let Self::File(file) = self {
            file.ready_at.get_or_init(|| now);
        }
    }
}
