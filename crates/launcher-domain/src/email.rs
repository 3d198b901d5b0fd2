//! The one type that people are compared by.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest address, in bytes (RFC 5321, 4.5.3.1.3, less the angle brackets).
const MAX_BYTES: usize = 254;
/// The longest part before the `@`, in bytes (RFC 5321, 4.5.3.1.1).
const MAX_LOCAL_BYTES: usize = 64;

/// An e-mail address in its canonical spelling: trimmed and lower-case.
///
/// [`EmailAddress::parse`] is the only way in, for the API, the admin list and the sidecar alike, so that
/// `ALICE@example.org` gets one verdict everywhere.
///
/// The canonical spelling is a decision about identity: it takes `Alice@` and `alice@` for one person, as every large
/// provider does, although RFC 5321 would let a provider tell them apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EmailAddress(Box<str>);

/// Why a text is not an e-mail address. The offending text is not repeated: it may be somebody's secret in the wrong
/// place, and it goes to logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EmailError {
    /// Nothing, or only white space.
    #[error("the e-mail address is empty")]
    Empty,
    /// A control character, a space inside, or anything beyond ASCII.
    #[error("an e-mail address has only visible ASCII characters")]
    NotVisibleAscii,
    /// None, or more than one.
    #[error("an e-mail address has exactly one @")]
    NotOneAt,
    /// Nothing before the `@`, or more than 64 bytes.
    #[error("the part before the @ has 1 to 64 characters")]
    LocalPart,
    /// Nothing behind the `@`.
    #[error("the part behind the @ is empty")]
    NoDomain,
    /// More than 254 bytes.
    #[error("an e-mail address has at most 254 characters")]
    TooLong,
}

impl EmailAddress {
    /// Reads an address: trims, lower-cases, and refuses whatever is not visible ASCII with exactly one `@`.
    ///
    /// # Errors
    /// [`EmailError`] says which rule the text breaks.
    pub fn parse(text: &str) -> Result<Self, EmailError> {
        // Only what a header or a list may have around a value: other white space is as foreign as other letters.
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

    /// The canonical spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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

impl TryFrom<String> for EmailAddress {
    type Error = EmailError;

    fn try_from(text: String) -> Result<Self, EmailError> {
        Self::parse(&text)
    }
}

impl From<EmailAddress> for String {
    fn from(email: EmailAddress) -> Self {
        email.0.into_string()
    }
}
