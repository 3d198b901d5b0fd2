//! Follows a small file that changes while the process runs, such as a mounted Kubernetes Secret.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Interval between two reads of a followed file.
const INTERVAL: Duration = Duration::from_secs(2);
/// Maximum size of a followed file, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Reads a file into a string.
///
/// # Errors
/// Fails if the file cannot be read, is not UTF-8, or is larger than 64 KiB.
pub async fn read(path: &Path) -> io::Result<String> {
    let size = tokio::fs::metadata(path).await?.len();
    if size > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has {size} bytes, more than {MAX_BYTES}")));
    }
    tokio::fs::read_to_string(path).await
}

/// Reads a file every two seconds and passes its content to `apply`. Never returns.
///
/// `apply` returns true if the content differs from the content in use. If the file cannot be read or `apply` fails,
/// the previous content stays in use. Repetitions of the same error are not logged. `what` names the content in the
/// log.
pub async fn follow<E: Display>(path: &Path, what: &'static str, apply: impl Fn(&str) -> Result<bool, E>) {
    let mut previous = None;
    loop {
        tokio::time::sleep(INTERVAL).await;
        let outcome = match read(path).await {
            Ok(text) => apply(&text).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match &outcome {
            Ok(true) => tracing::info!(path = %path.display(), content = what, "reloaded file"),
            Err(error) if previous.as_ref() != Some(&outcome) => {
                let path = path.display();
                tracing::error!(%path, content = what, error, "reloading file failed, keeping the previous content");
            }
            _ => {}
        }
        previous = Some(outcome);
    }
}
