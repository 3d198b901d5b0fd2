//! Reads the caller's identity, which the auth proxy has set, from a request's header lines.
//!
//! The API and the sidecar share this code, so both always see the same person in a request. This module depends on no
//! HTTP library: header lines are passed as (name, value) pairs.
//!
//! The proxy secret proves that the auth proxy has set the identity header of a request. The auth proxy sends the secret
//! in [`PROOF_HEADER`] together with the identity header. If a secret is configured, a request that has an identity
//! header but not the secret counts as forged.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use subtle::ConstantTimeEq as _;

use crate::email::{EmailAddress, EmailError};

/// The name of the header that carries the caller's e-mail address, lower-case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedHeader {
    name: Box<str>,
}

/// Error: the text is not a valid header name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a header name: use letters, digits and dashes, as in X-Auth-Request-Email")]
pub struct TrustedHeaderError(pub String);

/// Reason why a request's header lines contain no valid identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The trusted header is missing or empty.
    #[error("the request carries no identity")]
    Missing,
    /// The request has more than one line of the trusted header, even if their values are equal.
    #[error("the request carries its identity more than once")]
    Repeated,
    /// The request has the trusted header, and a second header with another spelling of its name
    /// (`X_Auth_Request_Email`). A proxy or an app may treat the second one as the identity.
    #[error("the request carries its identity under a second spelling of the header's name")]
    Alias,
    /// The request has the trusted header but no valid proxy secret: it did not come through the auth proxy.
    #[error("the request carries an identity without the proof that the auth proxy set it (X-Auth-Request-Proof)")]
    Unproven,
    #[error("the request's identity cannot be read: {0}")]
    Unreadable(EmailError),
}

impl TrustedHeader {
    /// The header's default name.
    pub const DEFAULT: &str = "X-Auth-Request-Email";

    /// Parses a header name. Accepts only letters, digits and dashes, because some programs treat `_` and `.` like `-`.
    ///
    /// # Errors
    /// [`TrustedHeaderError`] with the invalid text.
    pub fn parse(text: &str) -> Result<Self, TrustedHeaderError> {
        let name = text.trim();
        let readable = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !readable || !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Err(TrustedHeaderError(text.to_owned()));
        }
        Ok(Self { name: name.to_ascii_lowercase().into_boxed_str() })
    }

    /// Returns the name, lower-case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the single identity from a request's header lines (names in any case, values as received).
    ///
    /// # Errors
    /// [`IdentityError`], unless the request has exactly one line of the trusted header, no line with another spelling
    /// of its name, and a readable address.
    pub fn read<'a>(
        &self,
        lines: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Result<EmailAddress, IdentityError> {
        let mut found: Option<&[u8]> = None;
        let mut alias = false;
        for (name, value) in lines {
            if name.eq_ignore_ascii_case(self.name.as_bytes()) {
                if found.replace(value).is_some() {
                    return Err(IdentityError::Repeated);
                }
            } else {
                alias |= same_letters(name, self.name.as_bytes());
            }
        }
        let value = found.ok_or(IdentityError::Missing)?;
        if alias {
            return Err(IdentityError::Alias);
        }
        let text = std::str::from_utf8(value).map_err(|_| IdentityError::Unreadable(EmailError::NotVisibleAscii))?;
        match EmailAddress::parse(text) {
            Ok(email) => Ok(email),
            Err(EmailError::Empty) => Err(IdentityError::Missing),
            Err(error) => Err(IdentityError::Unreadable(error)),
        }
    }

    /// Reads the single identity from a request's header lines. With a configured `secret`, the request must also have
    /// exactly one valid proxy secret. Without one, the result is that of [`TrustedHeader::read`].
    ///
    /// # Errors
    /// [`IdentityError`]. A request without an identity gives `Missing`, even if its proxy secret is wrong.
    pub fn read_verified<'a, L>(&self, secret: Option<&ProxySecret>, lines: L) -> Result<EmailAddress, IdentityError>
    where
        L: IntoIterator<Item = (&'a [u8], &'a [u8])> + Clone,
    {
        let Some(secret) = secret else { return self.read(lines) };
        let identity = self.read(lines.clone());
        if identity == Err(IdentityError::Missing) || is_proven(secret, lines) {
            identity
        } else {
            Err(IdentityError::Unproven)
        }
    }

    /// True when a header line carries identity, in any spelling of its name, and must not reach an app. These are the
    /// trusted header, all `X-Auth-Request-*`, and the `X-Forwarded-*` headers that auth proxies set for a person.
    #[must_use]
    pub fn is_identity_header(&self, name: &[u8]) -> bool {
        const FORWARDED: [&[u8]; 5] = [
            b"x-forwarded-user",
            b"x-forwarded-email",
            b"x-forwarded-groups",
            b"x-forwarded-preferred-username",
            b"x-forwarded-access-token",
        ];
        same_letters(name, self.name.as_bytes())
            || starts_with_letters(name, b"x-auth-request")
            || FORWARDED.iter().any(|forwarded| same_letters(name, forwarded))
    }
}

impl Default for TrustedHeader {
    fn default() -> Self {
        Self { name: Self::DEFAULT.to_ascii_lowercase().into_boxed_str() }
    }
}

fn is_proven<'a>(secret: &ProxySecret, lines: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> bool {
    let mut proofs = lines.into_iter().filter(|(name, _)| name.eq_ignore_ascii_case(PROOF_HEADER.as_bytes()));
    match (proofs.next(), proofs.next()) {
        (Some((_, value)), None) => secret.accepts(value.trim_ascii()),
        _ => false,
    }
}

fn letters(name: &[u8]) -> impl Iterator<Item = u8> + '_ {
    name.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase)
}

/// True when two names differ only in `-`, `_` and `.`. Some programs treat these characters as equal, or drop them.
fn same_letters(left: &[u8], right: &[u8]) -> bool {
    letters(left).eq(letters(right))
}

fn starts_with_letters(name: &[u8], prefix: &[u8]) -> bool {
    let mut name = letters(name);
    letters(prefix).all(|wanted| name.next() == Some(wanted))
}

/// Name of the header that carries the proxy secret, lower-case.
pub const PROOF_HEADER: &str = "x-auth-request-proof";

/// Maximum number of secrets accepted at a time: the old and the new one during a rotation.
const MAX_SECRETS: usize = 2;
/// Length of a secret in characters. The minimum is 128 bits in hexadecimal; the maximum fits into one header line.
const SECRET_LENGTH: std::ops::RangeInclusive<usize> = 32..=256;

/// Reason why a text is not a valid list of proxy secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxySecretError {
    #[error("it is empty: write one secret per line, for example the output of `openssl rand -hex 32`")]
    Empty,
    /// The text has more than two secrets. A rotation needs only the old and the new one.
    #[error("it holds {0} secrets, but at most {MAX_SECRETS} are accepted at a time: remove the oldest")]
    TooMany(usize),
    /// A secret is too short to resist guessing, or too long for a header.
    #[error("line {0}: a secret has 32 to 256 characters; `openssl rand -hex 32` makes one")]
    Length(usize),
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
        Ok(Self { accepted: Arc::new(RwLock::new(parse_secrets(text)?)) })
    }

    /// Replaces the accepted secrets by those of `text`. Returns true when they differ from the previous ones.
    ///
    /// # Errors
    /// [`ProxySecretError`]. The previous secrets stay in force.
    pub fn replace(&self, text: &str) -> Result<bool, ProxySecretError> {
        let secrets = parse_secrets(text)?;
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
        accepted.iter().fold(false, |found, secret| found | bool::from(secret.ct_eq(value)))
    }
}

impl fmt::Debug for ProxySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxySecret").finish_non_exhaustive()
    }
}

fn parse_secrets(text: &str) -> Result<Vec<Box<[u8]>>, ProxySecretError> {
    let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    let secrets = lines.map(|(index, line)| parse_secret(index + 1, line)).collect::<Result<Vec<_>, _>>()?;
    match secrets.len() {
        0 => Err(ProxySecretError::Empty),
        1..=MAX_SECRETS => Ok(secrets),
        count => Err(ProxySecretError::TooMany(count)),
    }
}

fn parse_secret(number: usize, line: &str) -> Result<Box<[u8]>, ProxySecretError> {
    if !line.bytes().all(|byte| byte.is_ascii_graphic()) {
        Err(ProxySecretError::Character(number))
    } else if !SECRET_LENGTH.contains(&line.len()) {
        Err(ProxySecretError::Length(number))
    } else {
        Ok(line.as_bytes().into())
    }
}
