//! The parts of a record and of a state directory that only this fleet has: the app's process, token and log.
//!
//! The processes write directly to the log. A pipe to the launcher would break when the launcher is killed, but the
//! workshops keep running.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use launcher_domain::Token;
use serde::{Deserialize, Serialize};

use super::process::PersistentProcessId;
use crate::machine::plain_tail;

pub(super) type Record = crate::machine::Record<Started>;
pub(super) type StoredRecord = crate::machine::StoredRecord<Started>;

/// The app process that was started for a Workshop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Started {
    /// The leader of the app's process group.
    pub(crate) leader: PersistentProcessId,
    pub(crate) port: u16,
    /// The app's token, a new one for each start. `None` if the app supports no token, or if an earlier launcher version
    /// started it without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<Token>,
}

/// Maximum size of a log, in bytes. A larger log is truncated.
const MAX_LOG_BYTES: u64 = 10 * 1024 * 1024;
/// Number of bytes at the end of a log that a truncation keeps.
const KEPT_BYTES: u64 = 64 * 1024;

/// Creates an empty log for an app that is about to start. The app writes in append mode, so that [`cap_log`] can truncate
/// the file while the app writes.
pub(crate) fn create_log(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    OpenOptions::new().append(true).open(path)
}

/// Truncates a log above [`MAX_LOG_BYTES`] and keeps only its end. Output that the app writes at that moment may be lost.
pub(crate) fn cap_log(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.len() <= MAX_LOG_BYTES {
        return Ok(());
    }
    let end = read_log_end(path)?;
    let mut log = OpenOptions::new().append(true).open(path)?;
    log.set_len(0)?;
    log.write_all(&end)
}

/// Returns the last lines of a log as plain text, or `None` if the app wrote nothing.
pub(crate) fn log_tail(path: &Path) -> Option<String> {
    plain_tail(&read_log_end(path).unwrap_or_default())
}

fn read_log_end(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(KEPT_BYTES)))?;
    let mut end = Vec::new();
    file.take(KEPT_BYTES).read_to_end(&mut end)?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use launcher_domain::clock::SystemEntropy;

    use super::{MAX_LOG_BYTES, Token, cap_log, create_log, log_tail};

    #[test]
    fn token_is_random_and_hidden_in_debug_output() {
        let token = Token::random(&SystemEntropy);
        assert_eq!(token.reveal().len(), 64);
        assert_ne!(token, Token::random(&SystemEntropy));
        assert!(!format!("{token:?}").contains(token.reveal()));
    }

    #[test]
    fn missing_log_has_no_tail() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(log_tail(&directory.path().join("none")), None);
    }

    #[test]
    fn large_log_is_truncated_to_its_end_while_app_writes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut writer = create_log(&path).unwrap();
        writer.write_all(&vec![b'.'; usize::try_from(MAX_LOG_BYTES).unwrap()]).unwrap();
        writer.write_all(b"\nbefore\n").unwrap();

        cap_log(&path).unwrap();
        writer.write_all(b"after\n").unwrap();

        let content = fs::read_to_string(&path).unwrap();
        assert!(content.len() < 100_000, "{} bytes are left", content.len());
        assert!(content.ends_with("\nbefore\nafter\n"));
    }
}
