//! Framing of a body (length, chunks, until close): reads it from the header lines, and converts a body from the sender's
//! framing to the receiver's. Refuses framing that two parsers could read differently, because it allows request smuggling.

use crate::http1::chunked;
use crate::http1::chunked::{ChunkError, Decoder};
use crate::http1::head::HeaderKind;

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

/// Remaining part of a body, in the sender's framing.
#[derive(Debug)]
enum Remaining {
    Nothing,
    Length(u64),
    Chunks(Decoder),
    UntilClose,
}

/// Converts one body while it is in transit.
#[derive(Debug)]
pub(crate) struct BodyTranscoder {
    remaining: Remaining,
    /// True if the receiver gets chunks, false if it gets the plain data.
    chunks: bool,
}

impl BodyTranscoder {
    /// Creates a transcoder that keeps the framing. A length stays a length. Chunks are decoded and encoded again.
    pub(crate) fn with_same_framing(framing: Framing) -> Self {
        match framing {
            Framing::Empty => Self { remaining: Remaining::Nothing, chunks: false },
            Framing::Length(length) => Self { remaining: Remaining::Length(length), chunks: false },
            Framing::Chunked => Self { remaining: Remaining::Chunks(Decoder::new()), chunks: true },
        }
    }

    /// Creates a transcoder that decodes chunks, for a receiver that does not support chunks.
    pub(crate) fn decoding_chunks() -> Self {
        Self { remaining: Remaining::Chunks(Decoder::new()), chunks: false }
    }

    /// Creates a transcoder for a body that ends when its sender closes the connection. With `chunks`, the receiver
    /// gets chunks.
    pub(crate) fn until_close(chunks: bool) -> Self {
        Self { remaining: Remaining::UntilClose, chunks }
    }

    /// Returns true if the sender has sent the whole body.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.remaining, Remaining::Nothing)
    }

    /// Returns how many of the next `available` bytes belong to this body and can be forwarded unchanged. `None` if the
    /// bytes must be decoded or encoded.
    pub(crate) fn passthrough_len(&self, available: usize) -> Option<usize> {
        match self.remaining {
            Remaining::Length(left) if !self.chunks => Some(usize::try_from(left).unwrap_or(usize::MAX).min(available)),
            Remaining::UntilClose if !self.chunks => Some(available),
            _ => None,
        }
    }

    /// Records that `count` bytes of this body were forwarded unchanged.
    pub(crate) fn advance(&mut self, count: usize) {
        if let Remaining::Length(left) = &mut self.remaining {
            *left = left.saturating_sub(count as u64);
            if *left == 0 {
                self.remaining = Remaining::Nothing;
            }
        }
    }

    /// Removes this body's bytes from `input`, and appends them to `out` in the receiver's framing.
    ///
    /// # Errors
    /// Fails if the sender's chunks are malformed.
    pub(crate) fn feed(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<(), ChunkError> {
        if let Remaining::Chunks(decoder) = &mut self.remaining {
            reserve(input.len(), out);
            while let Some(data) = decoder.next(input)? {
                put(data, self.chunks, out);
            }
            if decoder.is_done() {
                self.end(out);
            }
            return Ok(());
        }
        let count = match self.remaining {
            Remaining::Nothing | Remaining::Chunks(_) => return Ok(()),
            Remaining::Length(left) => usize::try_from(left).unwrap_or(usize::MAX).min(input.len()),
            Remaining::UntilClose => input.len(),
        };
        reserve(count, out);
        let (data, rest) = input.split_at(count);
        *input = rest;
        put(data, self.chunks, out);
        self.advance(count);
        Ok(())
    }

    /// Records that the sender has closed its connection. Returns true if the body is complete.
    pub(crate) fn handle_eof(&mut self, out: &mut Vec<u8>) -> bool {
        if matches!(self.remaining, Remaining::UntilClose) {
            self.end(out);
        }
        self.is_done()
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.remaining = Remaining::Nothing;
        if self.chunks {
            out.extend_from_slice(chunked::LAST_CHUNK);
        }
    }
}

/// Reserves space for `count` bytes of a body and for one chunk size line: a chunk that arrives in two parts is
/// forwarded as two chunks. The reservation is exact, because a growing `Vec` would double its capacity.
fn reserve(count: usize, out: &mut Vec<u8>) {
    out.reserve_exact(count + 32);
}

fn put(data: &[u8], chunks: bool, out: &mut Vec<u8>) {
    if chunks {
        chunked::encode(data, out);
    } else {
        out.extend_from_slice(data);
    }
}
