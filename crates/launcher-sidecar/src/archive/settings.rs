//! Settings of `launcher-sidecar archive`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use launcher_process::telemetry::LogSettings;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Sends the files of a directory as a tar archive to the client that knows the token: once, or until a signal ends the
/// program. Exits with 0 when the one archive is complete, and with 1 if it is not, or if no client asked for it in time
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "launcher-sidecar archive", version)]
pub struct ArchiveSettings {
    /// Listen address: IP:PORT
    #[arg(long, env = "SERVICE_LISTEN_ADDR", value_name = "ADDR", default_value = "0.0.0.0:8080")]
    pub listen_addr: SocketAddr,

    /// Directory with the files
    #[arg(long, env = "SERVICE_ARCHIVE_DIRECTORY", value_name = "DIRECTORY")]
    pub directory: PathBuf,

    /// SHA-256 of the token, in hexadecimal
    #[arg(long, env = "SERVICE_ARCHIVE_TOKEN_SHA256", value_name = "DIGEST")]
    pub token_sha256: TokenDigest,

    /// Maximum seconds until a client asks for the archive. 0: no maximum, and each request gets the archive
    #[arg(long, env = "SERVICE_ARCHIVE_WAIT", value_name = "SECONDS", default_value = "60",
          value_parser = clap::value_parser!(u32).range(..=3600))]
    wait: u32,

    /// Log settings
    #[command(flatten)]
    pub logs: LogSettings,
}

impl ArchiveSettings {
    /// Returns the maximum time until a client asks for the only archive. `None`: each request gets the archive.
    #[must_use]
    pub fn wait(&self) -> Option<Duration> {
        (self.wait > 0).then(|| Duration::from_secs(self.wait.into()))
    }
}

/// SHA-256 of a token. It does not reveal the token, so the resource of the download may contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenDigest([u8; 32]);

/// Error of a text that is not a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write 64 hexadecimal digits")]
pub struct ParseDigestError;

impl TokenDigest {
    /// True if this is the digest of the token. The duration does not depend on the difference.
    #[must_use]
    pub fn accepts(&self, token: &[u8]) -> bool {
        Sha256::digest(token).as_slice().ct_eq(&self.0).into()
    }
}

impl FromStr for TokenDigest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(ParseDigestError);
        }
        let mut digest = [0; 32];
        for (index, byte) in digest.iter_mut().enumerate() {
            let digits = text.get(2 * index..2 * index + 2).ok_or(ParseDigestError)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| ParseDigestError)?;
        }
        Ok(Self(digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of `token`.
    const DIGEST: &str = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";

    #[test]
    fn only_the_token_of_the_digest_is_accepted() {
        let digest: TokenDigest = DIGEST.parse().unwrap();
        assert!(digest.accepts(b"token"));
        for other in [&b""[..], b"Token", b"token ", DIGEST.as_bytes()] {
            assert!(!digest.accepts(other), "{other:?}");
        }
    }

    #[test]
    fn digest_has_64_hexadecimal_digits() {
        for text in ["", &DIGEST[1..], &format!("{DIGEST}0"), &DIGEST.replace('c', "g"), &"ü".repeat(32)] {
            assert_eq!(text.parse::<TokenDigest>(), Err(ParseDigestError), "{text}");
        }
    }
}
