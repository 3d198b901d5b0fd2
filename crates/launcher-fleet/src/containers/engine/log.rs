//! The log of a container.

use bollard::container::LogOutput;
use bollard::query_parameters::LogsOptions;
use futures_util::TryStreamExt;

use super::{Engine, EngineError, SHORT};
use crate::machine::plain_tail;

/// Number of last entries to read. It is larger than the number of quoted lines, because the tail omits empty lines.
const ENTRIES: &str = "100";
/// Number of bytes at the end of the log that the tail may quote.
const KEPT_BYTES: usize = 64 * 1024;

impl Engine {
    /// Returns the last lines of a container's output as plain text, or `None` if there are none or the container does
    /// not exist.
    pub async fn log_tail(&self, name: &str) -> Result<Option<String>, EngineError> {
        let options = LogsOptions { stdout: true, stderr: true, tail: ENTRIES.to_owned(), ..LogsOptions::default() };
        let output = self.docker.logs(name, Some(options));
        let end = output.try_fold(Vec::new(), |end, output| std::future::ready(Ok(appended(end, output))));
        match self.limited(SHORT, end).await {
            Ok(end) => Ok(plain_tail(&end)),
            Err(EngineError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Appends output and keeps only the end.
fn appended(mut end: Vec<u8>, output: LogOutput) -> Vec<u8> {
    end.extend_from_slice(&output.into_bytes());
    let excess = end.len().saturating_sub(KEPT_BYTES);
    end.drain(..excess);
    end
}
