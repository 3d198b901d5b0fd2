//! The proxy secret: proof that a request's identity header was set by the auth proxy.
//!
//! The auth proxy sends the secret in [`PROOF_HEADER`] together with the identity header. If a secret is configured, a
//! request that has an identity header but not the secret counts as forged.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Name of the header that carries the proxy secret, lower-case.
pub const PROOF_HEADER: &str = "x-auth-request-proof";

/// Maximum number of secrets accepted at a time: the old and the new one during a rotation.
const MAX_SECRETS: usize = 2;
/// Length of a secret in characters. The minimum is 128 bits in hexadecimal; the maximum fits into one header line.
const LENGTH: std::ops::RangeInclusive<usize> = 32..=256;

/// Reason why a text is not a valid list of proxy secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxySecretError {
    /// No line contains a secret.
    #[error("it is empty: write one secret per line, for example the output of `openssl rand -hex 32`")]
    Empty,
    /// The text has more than two secrets. A rotation needs only the old and the new one.
    #[error("it holds {0} secrets, but at most {MAX_SECRETS} are accepted at a time: remove the oldest")]
    TooMany(usize),
    /// A secret is too short to resist guessing, or too long for a header.
    #[error("line {0}: a secret has 32 to 256 characters; `openssl rand -hex 32` makes one")]
    Length(usize),
    /// A secret has a character that is not allowed in a header value.
    #[error("line {0}: a secret has only visible ASCII characters; `openssl rand -hex 32` makes one")]
    Character(usize),
}

/// The proxy secrets that a process accepts. Clones share the same secrets, so that a rotation reaches all of them.
#[derive(Clone)]
pub struct ProxySecret {
    accepted: Arc<RwLock<Vec<Box<[u8]>>>>,
}

impl ProxySecret {
    /// Reads one or two secrets, one per line.
    ///
    /// # Errors
    /// [`ProxySecretError`]. It never contains the text, because errors are logged.
    pub fn parse(text: &str) -> Result<Self, ProxySecretError> {
        Ok(Self { accepted: Arc::new(RwLock::new(secrets(text)?)) })
    }

    /// Replaces the accepted secrets by those of `text`. Returns true when they differ from the previous ones.
    ///
    /// # Errors
    /// [`ProxySecretError`]. The previous secrets stay in force.
    pub fn replace(&self, text: &str) -> Result<bool, ProxySecretError> {
        let secrets = secrets(text)?;
        let mut accepted = self.accepted.write().unwrap_or_else(PoisonError::into_inner);
        let differs = *accepted != secrets;
        *accepted = secrets;
        Ok(differs)
    }

    /// Number of secrets that are accepted now: one, or two during a rotation.
    #[must_use]
    pub fn count(&self) -> usize {
        self.accepted.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// True when `value` is one of the accepted secrets. The duration of the comparison depends only on lengths, so it
    /// does not reveal a secret.
    #[must_use]
    pub fn accepts(&self, value: &[u8]) -> bool {
        let accepted = self.accepted.read().unwrap_or_else(PoisonError::into_inner);
        accepted.iter().fold(false, |found, secret| found | equal_in_constant_time(secret, value))
    }
}

impl fmt::Debug for ProxySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxySecret").finish_non_exhaustive()
    }
}

fn secrets(text: &str) -> Result<Vec<Box<[u8]>>, ProxySecretError> {
    let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    let secrets = lines.map(|(index, line)| secret(index + 1, line)).collect::<Result<Vec<_>, _>>()?;
    match secrets.len() {
        0 => Err(ProxySecretError::Empty),
        1..=MAX_SECRETS => Ok(secrets),
        count => Err(ProxySecretError::TooMany(count)),
    }
}

fn secret(number: usize, line: &str) -> Result<Box<[u8]>, ProxySecretError> {
    if !line.bytes().all(|byte| byte.is_ascii_graphic()) {
        Err(ProxySecretError::Character(number))
    } else if !LENGTH.contains(&line.len()) {
        Err(ProxySecretError::Length(number))
    } else {
        Ok(line.as_bytes().into())
    }
}

fn equal_in_constant_time(left: &[u8], right: &[u8]) -> bool {
    subtle::ConstantTimeEq::ct_eq(left, right).into()
}
