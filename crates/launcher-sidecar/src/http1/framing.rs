//! Message framing: the header lines that define where a body ends. Refuses framing that two parsers could read
//! differently, because it allows request smuggling.

use crate::http1::header::HeaderKind;

/// Framing of a message: how the receiver finds the end of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The message has no body.
    Empty,
    /// The body has this number of bytes.
    Length(u64),
    /// The body consists of chunks. An empty chunk ends it.
    Chunked,
}

/// Error of a message whose framing is ambiguous or not supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FramingError {
    #[error("the message has both a Content-Length and a Transfer-Encoding")]
    Both,
    #[error("the message has more than one Content-Length")]
    RepeatedLength,
    #[error("the Content-Length is not a valid decimal number")]
    Length,
    #[error("the message has more than one Transfer-Encoding")]
    RepeatedEncoding,
    #[error("the Transfer-Encoding is not chunked")]
    Encoding,
    #[error("the message has a header line that other programs may read as Content-Length or Transfer-Encoding")]
    Alias,
}

/// Collects the header lines that define a message's framing.
#[derive(Debug, Default)]
pub(crate) struct FramingLines<'h> {
    length: Option<&'h [u8]>,
    encoding: Option<&'h [u8]>,
    repeated: Option<FramingError>,
}

impl<'h> FramingLines<'h> {
    /// Records a header line if it defines the framing.
    pub(crate) fn record(&mut self, kind: HeaderKind, value: &'h [u8]) {
        if kind == HeaderKind::ContentLength && self.length.replace(value).is_some() {
            self.repeated = Some(FramingError::RepeatedLength);
        }
        if kind == HeaderKind::TransferEncoding && self.encoding.replace(value).is_some() {
            self.repeated = Some(FramingError::RepeatedEncoding);
        }
    }

    /// Returns true if the message has a Transfer-Encoding header.
    pub(crate) fn has_encoding(&self) -> bool {
        self.encoding.is_some()
    }

    /// Returns true if the message has a Content-Length header.
    pub(crate) fn has_length(&self) -> bool {
        self.length.is_some()
    }

    /// Returns the framing that the recorded lines define. `None` if no line was recorded.
    ///
    /// # Errors
    /// Returns [`FramingError`] if the framing is ambiguous or not supported.
    pub(crate) fn read(&self) -> Result<Option<Framing>, FramingError> {
        if let Some(error) = self.repeated {
            return Err(error);
        }
        match (self.length, self.encoding) {
            (Some(_), Some(_)) => Err(FramingError::Both),
            (None, Some(coding)) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Some(Framing::Chunked)),
            (None, Some(_)) => Err(FramingError::Encoding),
            (Some(digits), None) => read_length(digits).map(Some),
            (None, None) => Ok(None),
        }
    }
}

fn read_length(digits: &[u8]) -> Result<Framing, FramingError> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(FramingError::Length);
    }
    let number =
        digits.iter().try_fold(0_u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    match number.ok_or(FramingError::Length)? {
        0 => Ok(Framing::Empty),
        length => Ok(Framing::Length(length)),
    }
}
