//! Sources of the last crash of the app.

use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use launcher_domain::{Crash, FailureCode};
use launcher_process::follow;

/// Crash of the app, after which it was started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppCrash {
    /// Time of the crash.
    pub at: Timestamp,
    /// True if the app exceeded its memory.
    pub out_of_memory: bool,
    /// True if the restart lost files.
    pub files_lost: bool,
}

impl From<Crash> for AppCrash {
    fn from(Crash { at, code, files_lost }: Crash) -> Self {
        Self { at, out_of_memory: code == FailureCode::OutOfMemory, files_lost }
    }
}

/// Source of the last crash of the app.
#[derive(Clone, Default)]
pub enum LastCrash {
    /// No source.
    #[default]
    Unknown,
    /// A file in the format of [`Crash::from_text`], read for each status. A missing or empty file means that the app has
    /// not crashed.
    File(PathBuf),
    /// A function that returns the last crash.
    Shared(Arc<dyn Fn() -> Option<AppCrash> + Send + Sync>),
}

impl fmt::Debug for LastCrash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => formatter.write_str("Unknown"),
            Self::File(path) => formatter.debug_tuple("File").field(path).finish(),
            Self::Shared(_) => formatter.write_str("Shared"),
        }
    }
}

impl LastCrash {
    /// Returns the last crash; `None` if the app has not crashed, or if the source is unreadable.
    pub(super) async fn read(&self) -> Option<AppCrash> {
        let path = match self {
            Self::Unknown => return None,
            Self::Shared(current) => return current(),
            Self::File(path) => path,
        };
        match follow::read(path).await {
            Ok(text) => Crash::from_text(&text).map(AppCrash::from),
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    tracing::debug!(path = %path.display(), %error, "reading the last crash failed");
                }
                None
            }
        }
    }
}
