//! Converts one body from its sender's framing to its receiver's.

use crate::chunked::{self, ChunkError, Decoder};
use crate::framing::Framing;

/// Remaining part of a body, as its sender delimits it.
#[derive(Debug)]
enum Rest {
    Nothing,
    Length(u64),
    Chunks(Decoder),
    UntilEnd,
}

/// One body in transit.
#[derive(Debug)]
pub(crate) struct Transfer {
    rest: Rest,
    /// True when the receiver gets chunks, false when it gets the data alone.
    chunks: bool,
}

impl Transfer {
    /// Creates a transfer that keeps the framing: a length stays a length, and chunks are encoded again.
    pub(crate) fn keeping(framing: Framing) -> Self {
        match framing {
            Framing::Empty => Self { rest: Rest::Nothing, chunks: false },
            Framing::Length(length) => Self { rest: Rest::Length(length), chunks: false },
            Framing::Chunked => Self { rest: Rest::Chunks(Decoder::new()), chunks: true },
        }
    }

    /// Creates a transfer that decodes chunks, for a receiver that does not support them.
    pub(crate) fn unchunking() -> Self {
        Self { rest: Rest::Chunks(Decoder::new()), chunks: false }
    }

    /// Creates a transfer of a body that ends when its sender closes the connection.
    pub(crate) fn until_end(chunks: bool) -> Self {
        Self { rest: Rest::UntilEnd, chunks }
    }

    /// Returns true when the whole body has been received from its sender.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.rest, Rest::Nothing)
    }

    /// Returns how many of `available` bytes belong to this body and can be forwarded unchanged. `None` when they must
    /// be decoded or encoded.
    pub(crate) fn as_it_is(&self, available: usize) -> Option<usize> {
        match self.rest {
            Rest::Length(left) if !self.chunks => Some(usize::try_from(left).unwrap_or(usize::MAX).min(available)),
            Rest::UntilEnd if !self.chunks => Some(available),
            _ => None,
        }
    }

    /// Records that `count` bytes were forwarded unchanged.
    pub(crate) fn passed(&mut self, count: usize) {
        if let Rest::Length(left) = &mut self.rest {
            *left = left.saturating_sub(count as u64);
            if *left == 0 {
                self.rest = Rest::Nothing;
            }
        }
    }

    /// Consumes this body's bytes from `input`, and appends them to `out` in the receiver's framing.
    ///
    /// # Errors
    /// The sender's chunks are malformed.
    pub(crate) fn feed(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<(), ChunkError> {
        if let Rest::Chunks(decoder) = &mut self.rest {
            reserve(input.len(), out);
            while let Some(data) = decoder.next(input)? {
                put(data, self.chunks, out);
            }
            if decoder.is_done() {
                self.end(out);
            }
            return Ok(());
        }
        let count = match self.rest {
            Rest::Nothing | Rest::Chunks(_) => return Ok(()),
            Rest::Length(left) => usize::try_from(left).unwrap_or(usize::MAX).min(input.len()),
            Rest::UntilEnd => input.len(),
        };
        reserve(count, out);
        let (data, rest) = input.split_at(count);
        *input = rest;
        put(data, self.chunks, out);
        self.passed(count);
        Ok(())
    }

    /// Handles the end of the sender's connection. Returns true when the body is complete, false when it was cut off.
    pub(crate) fn sender_ended(&mut self, out: &mut Vec<u8>) -> bool {
        if matches!(self.rest, Rest::UntilEnd) {
            self.end(out);
        }
        self.is_done()
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.rest = Rest::Nothing;
        if self.chunks {
            out.extend_from_slice(chunked::LAST_CHUNK);
        }
    }
}

/// Reserves exactly: a growing `Vec` doubles. New chunks are as long as received ones, except one that is split.
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
