//! Reads the identity that the auth proxy vouches for from a request's header lines.
//!
//! The API and the sidecar share this code, so both always see the same person in a request. It depends on no HTTP
//! library: header lines come in as (name, value) pairs.

use crate::email::{EmailAddress, EmailError};
use crate::proof::{PROOF_HEADER, ProxySecret};

/// The name of the header that carries the caller's e-mail address, lower-case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedHeader {
    name: Box<str>,
}

/// Error: the text is not a valid header name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a header name: use letters, digits and dashes, as in X-Auth-Request-Email")]
pub struct TrustedHeaderError(pub String);

/// Why a request's header lines contain no valid identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// No line with the trusted name, or an empty one.
    #[error("the request carries no identity")]
    Missing,
    /// More than one line of the trusted header, even if their values agree.
    #[error("the request carries its identity more than once")]
    Repeated,
    /// The trusted line beside a line with another spelling of its name (`X_Auth_Request_Email`). A program on the way
    /// may have read the other one.
    #[error("the request carries its identity under a second spelling of the header's name")]
    Alias,
    /// A trusted line without the proxy secret beside it: the request did not come through the auth proxy.
    #[error("the request carries an identity without the proof that the auth proxy set it (X-Auth-Request-Proof)")]
    Unproven,
    /// The trusted line's value is not an e-mail address.
    #[error("the request's identity cannot be read: {0}")]
    Unreadable(EmailError),
}

impl TrustedHeader {
    /// The header's default name.
    pub const DEFAULT: &str = "X-Auth-Request-Email";

    /// Parses a header name. Only letters, digits and dashes are accepted: other characters make aliases possible.
    ///
    /// # Errors
    /// [`TrustedHeaderError`] with the text.
    pub fn parse(text: &str) -> Result<Self, TrustedHeaderError> {
        let name = text.trim();
        let readable = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !readable || !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Err(TrustedHeaderError(text.to_owned()));
        }
        Ok(Self { name: name.to_ascii_lowercase().into_boxed_str() })
    }

    /// The name, lower-case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the single identity from a request's header lines (names in any case, values as received).
    ///
    /// # Errors
    /// [`IdentityError`], unless exactly one readable line in its exact spelling exists.
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

    /// Reads the single identity from a request's header lines, and accepts it only beside exactly one valid proxy
    /// secret. Without a configured secret, it accepts the same identities as [`TrustedHeader::read`].
    ///
    /// # Errors
    /// [`IdentityError`]; a request without an identity is `Missing` even if its proof is wrong.
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

    /// True when a header line carries identity in any spelling and must not reach an app: the trusted header, all of
    /// `X-Auth-Request-*`, and the `X-Forwarded-*` lines that auth proxies set for a person.
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

/// True when two names are equal to a program that folds `-`, `_` and `.` into each other or drops them.
fn same_letters(left: &[u8], right: &[u8]) -> bool {
    letters(left).eq(letters(right))
}

fn starts_with_letters(name: &[u8], prefix: &[u8]) -> bool {
    let mut name = letters(name);
    letters(prefix).all(|wanted| name.next() == Some(wanted))
}
