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
        Ok(plain_tail(&self.end_of_log(name, options).await?))
    }

    /// Returns the end of a container's standard output, or an empty text if there is none or the container does not
    /// exist.
    pub async fn last_output(&self, name: &str) -> Result<String, EngineError> {
        let options = LogsOptions { stdout: true, tail: ENTRIES.to_owned(), ..LogsOptions::default() };
        Ok(String::from_utf8_lossy(&self.end_of_log(name, options).await?).into_owned())
    }

    async fn end_of_log(&self, name: &str, options: LogsOptions) -> Result<Vec<u8>, EngineError> {
        let output = self.docker.logs(name, Some(options));
        let end = output.try_fold(Vec::new(), |end, output| std::future::ready(Ok(appended(end, output))));
        match self.limited(SHORT, end).await {
            Err(EngineError::NotFound(_)) => Ok(Vec::new()),
            end => end,
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
