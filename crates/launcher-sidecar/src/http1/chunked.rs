//! The chunked transfer coding (RFC 9112, 7.1). Decodes strictly, and encodes without extensions or trailers.

use std::io::Write as _;

use crate::http1::head::is_token;

/// Maximum bytes of one chunk's extensions, which the decoder skips.
const MAX_EXTENSION_BYTES: usize = 1024;
/// Maximum bytes of all trailer lines, which the decoder skips.
const MAX_TRAILER_BYTES: usize = 8 * 1024;
/// The empty chunk that ends a body, without trailers.
pub(crate) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Error of an invalid chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChunkError {
    #[error("a chunk's size is not a hexadecimal number")]
    Size,
    #[error("a chunk's extensions are too long or contain control characters")]
    Extension,
    #[error("a chunk's data does not end in CR LF")]
    DataEnd,
    #[error("the trailer is too long or contains an invalid line")]
    Trailer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size { digits: u8 },
    Extension { length: usize },
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
    Done,
}

/// Decodes a chunked body that arrives in pieces of any size.
#[derive(Debug)]
pub(crate) struct Decoder {
    state: State,
    left: u64,
    trailer_bytes: usize,
}

impl Decoder {
    /// Creates a decoder at the start of a body.
    pub(crate) fn new() -> Self {
        Self { state: State::Size { digits: 0 }, left: 0, trailer_bytes: 0 }
    }

    /// Returns true if the decoder has read the end of the body.
    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Returns the next piece of data in `input`, and advances `input` past this piece. Returns `None` at the end of
    /// `input` or of the body.
    ///
    /// # Errors
    /// Returns [`ChunkError`] if the body is invalid. The decoder must not be used afterwards.
    pub(crate) fn next<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<&'b [u8]>, ChunkError> {
        while self.state != State::Done {
            if self.state == State::Data {
                if input.is_empty() {
                    return Ok(None);
                }
                let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(input.len());
                let (data, rest) = input.split_at(length);
                *input = rest;
                self.left -= length as u64;
                if self.left == 0 {
                    self.state = State::DataCr;
                }
                return Ok(Some(data));
            }
            let Some((&byte, rest)) = input.split_first() else { return Ok(None) };
            *input = rest;
            self.state = self.step(byte)?;
        }
        Ok(None)
    }

    fn step(&mut self, byte: u8) -> Result<State, ChunkError> {
        Ok(match (self.state, byte) {
            (State::Size { digits: 1.. }, b';') => State::Extension { length: 1 },
            (State::Size { digits: 1.. }, b'\r') => State::SizeLf,
            (State::Size { digits }, _) => self.size_digit(digits, byte)?,
            (State::Extension { .. }, b'\r') => State::SizeLf,
            (State::Extension { length }, b'\t' | b' '..=b'~' | 0x80..) if length < MAX_EXTENSION_BYTES => {
                State::Extension { length: length + 1 }
            }
            (State::Extension { .. }, _) => return Err(ChunkError::Extension),
            (State::SizeLf, b'\n') if self.left == 0 => State::TrailerStart,
            (State::SizeLf, b'\n') => State::Data,
            (State::SizeLf, _) => return Err(ChunkError::Size),
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size { digits: 0 },
            (State::TrailerStart, b'\r') => State::EndLf,
            (State::EndLf, b'\n') => State::Done,
            (State::TrailerValue, b'\r') => State::TrailerLf,
            (State::TrailerLf, b'\n') => State::TrailerStart,
            (State::TrailerStart | State::TrailerName, _) if is_token(byte) => self.trailer_byte(State::TrailerName)?,
            (State::TrailerName, b':') | (State::TrailerValue, b'\t' | b' '..=b'~' | 0x80..) => {
                self.trailer_byte(State::TrailerValue)?
            }
            (State::DataCr | State::DataLf, _) => return Err(ChunkError::DataEnd),
            _ => return Err(ChunkError::Trailer),
        })
    }

    fn trailer_byte(&mut self, next: State) -> Result<State, ChunkError> {
        self.trailer_bytes += 1;
        if self.trailer_bytes > MAX_TRAILER_BYTES { Err(ChunkError::Trailer) } else { Ok(next) }
    }

    fn size_digit(&mut self, digits: u8, byte: u8) -> Result<State, ChunkError> {
        let value = char::from(byte).to_digit(16).ok_or(ChunkError::Size)?;
        // 15 hexadecimal digits suffice for any real body, and cannot overflow 64 bits.
        if digits >= 15 {
            return Err(ChunkError::Size);
        }
        self.left = (if digits == 0 { 0 } else { self.left << 4 }) | u64::from(value);
        Ok(State::Size { digits: digits + 1 })
    }
}

/// Appends one chunk with `data` to `out`. Appends no byte if `data` is empty, because an empty chunk would end the
/// body.
pub(crate) fn encode(data: &[u8], out: &mut Vec<u8>) {
    if data.is_empty() {
        return;
    }
    // Ignore the result: writing to a `Vec` cannot fail.
    let _ = write!(out, "{:x}\r\n", data.len());
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Result<(Vec<u8>, bool, Vec<u8>), ChunkError> {
        let (mut decoder, mut data, mut rest) = (Decoder::new(), Vec::new(), Vec::new());
        for piece in pieces {
            let mut input = *piece;
            while let Some(part) = decoder.next(&mut input)? {
                data.extend_from_slice(part);
            }
            rest.extend_from_slice(input);
        }
        Ok((data, decoder.is_done(), rest))
    }

    proptest! {
        #[test]
        fn encoded_chunks_decode_to_same_data_for_any_split(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..8),
            cuts in prop::collection::vec(1_usize..40, 0..60),
        ) {
            let mut wire = Vec::new();
            for part in &parts {
                encode(part, &mut wire);
            }
            wire.extend_from_slice(LAST_CHUNK);
            wire.extend_from_slice(b"GET /");
            let mut pieces = Vec::new();
            let mut rest = &wire[..];
            for cut in cuts {
                let (piece, more) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = more;
            }
            pieces.push(rest);
            let (data, done, rest) = decode(&pieces).unwrap();
            prop_assert_eq!(data, parts.concat());
            prop_assert!(done);
            prop_assert_eq!(rest, b"GET /");
        }

        #[test]
        fn chunk_decoder_never_panics_on_random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode(&[&bytes]);
        }
    }

    #[test]
    fn chunk_extensions_and_trailers_are_skipped() {
        let wire = b"3;a=\"b\"\r\nabc\r\n0\r\nX-Auth-Request-Email: bob@example.org\r\n\r\n";
        assert_eq!(decode(&[wire]).unwrap(), (b"abc".to_vec(), true, Vec::new()));
    }

    #[test]
    fn invalid_chunks_are_refused() {
        for (wire, error) in [
            (&b"x\r\n"[..], ChunkError::Size),
            (b"\r\n", ChunkError::Size),
            (b";a\r\n", ChunkError::Size),
            (b"+3\r\nabc\r\n", ChunkError::Size),
            (b"0x3\r\nabc\r\n", ChunkError::Size),
            (b" 3\r\nabc\r\n", ChunkError::Size),
            (b"3 \r\nabc\r\n", ChunkError::Size),
            (b"3\nabc\r\n", ChunkError::Size),
            (b"3\rxabc\r\n", ChunkError::Size),
            (b"fffffffffffffffff\r\n", ChunkError::Size),
            (b"3;a\nabc\r\n", ChunkError::Extension),
            (b"3\r\nabcd\r\n", ChunkError::DataEnd),
            (b"3\r\nabc\n0\r\n\r\n", ChunkError::DataEnd),
            (b"0\r\n\n", ChunkError::Trailer),
            (b"0\r\na: b\nc\r\n\r\n", ChunkError::Trailer),
            (b"0\r\nno colon\r\n\r\n", ChunkError::Trailer),
            (b"0\r\nname\r\n\r\n", ChunkError::Trailer),
            (b"0\r\na: b\r\nname\r\n\r\n", ChunkError::Trailer),
            (b"0\r\n: value\r\n\r\n", ChunkError::Trailer),
            (b"0\r\na : b\r\n\r\n", ChunkError::Trailer),
            (b"0\r\na: b\r\n c\r\n\r\n", ChunkError::Trailer),
        ] {
            assert_eq!(decode(&[wire]), Err(error), "{:?}", String::from_utf8_lossy(wire));
        }
        let long = [b"0\r\n", "a: b\r\n".repeat(3000).as_bytes()].concat();
        assert_eq!(decode(&[&long]), Err(ChunkError::Trailer));
        let long = [b"1;", "a".repeat(2000).as_bytes()].concat();
        assert_eq!(decode(&[&long]), Err(ChunkError::Extension));
    }

    #[test]
    fn any_chunks_are_the_same_for_each_split() {
        let name = "any_chunks_are_the_same_for_each_split";
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 500_000, |bytes| {
            let whole = decode(&[bytes]);
            assert_eq!(decode(&bytes.chunks(1).collect::<Vec<_>>()), whole);
            if let Ok((data, true, _)) = whole {
                let mut again = Vec::new();
                encode(&data, &mut again);
                again.extend_from_slice(LAST_CHUNK);
                assert_eq!(decode(&[&again]), Ok((data, true, Vec::new())));
            }
        });
    }
}
