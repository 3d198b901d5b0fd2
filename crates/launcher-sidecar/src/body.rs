//! Moving one body from its sender's framing to its receiver's.

use crate::chunked::{self, ChunkError, Decoder};
use crate::framing::Framing;

/// How what is still to come of a body is delimited by its sender.
#[derive(Debug)]
enum Rest {
    Nothing,
    Length(u64),
    Chunks(Decoder),
    UntilEnd,
}

/// One body on its way.
#[derive(Debug)]
pub(crate) struct Transfer {
    rest: Rest,
    /// Whether the receiver gets chunks; otherwise it gets the data alone.
    chunks: bool,
}

impl Transfer {
    /// A body in the framing in which it is passed on: a length stays a length, chunks become new chunks.
    pub(crate) fn keeping(framing: Framing) -> Self {
        match framing {
            Framing::Empty => Self { rest: Rest::Nothing, chunks: false },
            Framing::Length(length) => Self { rest: Rest::Length(length), chunks: false },
            Framing::Chunked => Self { rest: Rest::Chunks(Decoder::new()), chunks: true },
        }
    }

    /// A chunked body for a receiver that does not know chunks.
    pub(crate) fn unchunking() -> Self {
        Self { rest: Rest::Chunks(Decoder::new()), chunks: false }
    }

    /// A body that ends where its sender's connection ends.
    pub(crate) fn until_end(chunks: bool) -> Self {
        Self { rest: Rest::UntilEnd, chunks }
    }

    /// Whether all of it has been taken from its sender.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.rest, Rest::Nothing)
    }

    /// How many of `available` bytes belong to this body and can be passed on as they are; `None` when they have to be
    /// taken apart or put together.
    pub(crate) fn as_it_is(&self, available: usize) -> Option<usize> {
        match self.rest {
            Rest::Length(left) if !self.chunks => Some(usize::try_from(left).unwrap_or(usize::MAX).min(available)),
            Rest::UntilEnd if !self.chunks => Some(available),
            _ => None,
        }
    }

    /// Takes note that `count` bytes were passed on as they are.
    pub(crate) fn passed(&mut self, count: usize) {
        if let Rest::Length(left) = &mut self.rest {
            *left = left.saturating_sub(count as u64);
            if *left == 0 {
                self.rest = Rest::Nothing;
            }
        }
    }

    /// Appends the receiver's form of what `input` holds of this body; `input` moves on behind it.
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

    /// The sender's connection is at its end: whether that is the body's end too, or it was cut off.
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

/// Exactly, since a Vec that grows by itself doubles. New chunks are as long as those that came, but for one that is cut.
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
