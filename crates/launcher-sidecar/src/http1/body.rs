//! Converts a body from the sender's framing (length, chunks, until close) to the receiver's framing.

use crate::http1::chunked::{self, ChunkError, Decoder};
use crate::http1::framing::Framing;

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
