//! Reasons why the sidecar answers a request with an error instead of forwarding it.

use crate::http1::framing::FramingError;
use crate::http1::request_head::HeadError;
use crate::http1::target::TargetError;
use crate::metrics::Outcome;
use crate::texts::Language;

/// Reason why the sidecar answers a request with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The request is not valid HTTP/1.
    Malformed(&'static str),
    Framing(FramingError),
    Target(TargetError),
    Version,
    HeadTooLarge,
    HeadTooSlow,
    Method,
    /// The path is reserved for the sidecar, which serves no resource there.
    UnknownResource,
    /// The request changes a resource of the sidecar, or has a body.
    ReadOnly,
    NoIdentity,
    NotTheOwner,
    ForeignOrigin,
    /// The app does not accept connections.
    AppUnavailable,
    /// The app's response is not HTTP, or ends before its head is complete.
    InvalidAppResponse,
}

/// A request that the sidecar answers with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    pub(crate) is_head: bool,
    pub(crate) wants_html: bool,
    /// The client's preferred language.
    pub(crate) language: Language,
    /// True if the connection can stay open: the end of the request is known, and no part of its body is unread.
    pub(crate) keep_alive: bool,
}

impl Refused {
    /// Refuses a request whose head cannot be parsed. The connection must close, because the end of the request is
    /// unknown.
    pub(crate) fn unread(reason: Reason) -> Self {
        Self { reason, is_head: false, wants_html: false, language: Language::default(), keep_alive: false }
    }
}

impl Reason {
    /// The request's head is not valid HTTP/1.
    pub(crate) const MALFORMED_HEAD: Self = Self::Malformed("the request's head is malformed");
    /// The chunks of the request's body are invalid.
    pub(crate) const MALFORMED_BODY: Self = Self::Malformed("the request's body is malformed");

    /// Returns true if the end of the request is known, so that the next request can follow on the connection.
    pub(crate) fn is_understood(self) -> bool {
        matches!(
            self,
            Self::NoIdentity
                | Self::NotTheOwner
                | Self::ForeignOrigin
                | Self::AppUnavailable
                | Self::InvalidAppResponse
                | Self::UnknownResource
        )
    }

    /// Returns the outcome under which the metrics count a request that is refused for this reason.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Malformed(_) | Self::Framing(_) | Self::Target(_) | Self::Version | Self::Method | Self::ReadOnly => {
                Outcome::Malformed
            }
            Self::UnknownResource => Outcome::Served,
            Self::HeadTooLarge => Outcome::TooLarge,
            Self::HeadTooSlow => Outcome::TooSlow,
            Self::NoIdentity | Self::NotTheOwner => Outcome::NotTheOwner,
            Self::ForeignOrigin => Outcome::ForeignOrigin,
            Self::AppUnavailable => Outcome::AppUnavailable,
            Self::InvalidAppResponse => Outcome::InvalidAppResponse,
        }
    }
}

impl From<HeadError> for Reason {
    fn from(error: HeadError) -> Self {
        match error {
            HeadError::Malformed => Self::MALFORMED_HEAD,
            HeadError::TooManyLines => Self::HeadTooLarge,
            HeadError::Version => Self::Version,
        }
    }
}
