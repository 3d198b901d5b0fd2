//! E-mail addresses. People are compared only by [`EmailAddress`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text_enum::text_conversions;

/// Maximum length of an address, in bytes (RFC 5321, 4.5.3.1.3, less the angle brackets).
const MAX_BYTES: usize = 254;
/// Maximum length of the part before the `@`, in bytes (RFC 5321, 4.5.3.1.1).
const MAX_LOCAL_BYTES: usize = 64;

/// An e-mail address in its canonical spelling: trimmed and lower-case.
///
/// [`EmailAddress::parse`] is the only constructor, for the API, the admin list and the sidecar, so that
/// `ALICE@example.org` gets the same verdict everywhere.
///
/// The canonical spelling is a decision about identity. It treats `Alice@` and `alice@` as one person, as every large
/// provider does, although RFC 5321 lets a provider distinguish them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EmailAddress(Box<str>);

/// Reason why a text is not an e-mail address. Errors are logged, so this error does not contain the text: it may be
/// a secret that was put in the wrong place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EmailError {
    #[error("the e-mail address is empty")]
    Empty,
    #[error("an e-mail address has only visible ASCII characters")]
    NotVisibleAscii,
    #[error("an e-mail address has exactly one @")]
    NotOneAt,
    #[error("the part before the @ has 1 to 64 characters")]
    LocalPart,
    #[error("the part after the @ is empty")]
    NoDomain,
    #[error("an e-mail address has at most 254 characters")]
    TooLong,
}

impl EmailAddress {
    /// Parses an address: trims, lower-cases, and rejects text that is not visible ASCII with exactly one `@`.
    ///
    /// # Errors
    /// [`EmailError`] names the rule that the text breaks.
    pub fn parse(text: &str) -> Result<Self, EmailError> {
        // Trims only ASCII white space, which a header or a list may have around a value. The check of the characters
        // below rejects other white space.
        let text = text.trim_ascii();
        if text.is_empty() {
            return Err(EmailError::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(EmailError::TooLong);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(EmailError::NotVisibleAscii);
        }
        let (local, domain) = text.split_once('@').ok_or(EmailError::NotOneAt)?;
        if domain.contains('@') {
            return Err(EmailError::NotOneAt);
        }
        if local.is_empty() || local.len() > MAX_LOCAL_BYTES {
            return Err(EmailError::LocalPart);
        }
        if domain.is_empty() {
            return Err(EmailError::NoDomain);
        }
        Ok(Self(text.to_ascii_lowercase().into_boxed_str()))
    }

    /// Returns the canonical spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

text_conversions!(EmailAddress.0, EmailError, EmailAddress::parse);

impl fmt::Debug for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EmailAddress({})", self.0)
    }
}

impl FromStr for EmailAddress {
    type Err = EmailError;

    fn from_str(text: &str) -> Result<Self, EmailError> {
        Self::parse(text)
    }
}
