//! Follows a small file that changes while the process runs, such as a mounted Kubernetes Secret.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Interval between two reads of a followed file.
const INTERVAL: Duration = Duration::from_secs(2);
/// Maximum size of a followed file, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Reads a whole file.
///
/// # Errors
/// The file cannot be read, is not UTF-8, or is larger than 64 KiB.
pub async fn read(path: &Path) -> io::Result<String> {
    let size = tokio::fs::metadata(path).await?.len();
    if size > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has {size} bytes, more than {MAX_BYTES}")));
    }
    tokio::fs::read_to_string(path).await
}

/// Reads a file every two seconds and passes each new content to `apply`, which returns true if it changed anything.
/// Never returns. Content that cannot be read or applied is logged once, and the previous content stays in force.
pub async fn follow<E: Display>(path: &Path, what: &'static str, apply: impl Fn(&str) -> Result<bool, E>) {
    let mut previous = None;
    loop {
        tokio::time::sleep(INTERVAL).await;
        let outcome = match read(path).await {
            Ok(text) => apply(&text).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match &outcome {
            Ok(true) => tracing::info!(path = %path.display(), "reloaded the {what}"),
            Err(error) if previous.as_ref() != Some(&outcome) => {
                tracing::error!(path = %path.display(), error, "reload of the {what} failed, keeping the previous content");
            }
            _ => {}
        }
        previous = Some(outcome);
    }
}
