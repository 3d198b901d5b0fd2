//! The transfer of saved files to the pod of a workshop: the messages of its connection.
//!
//! The pod listens, and the launcher connects, as for a snapshot. Launcher and pod prove in turn that they know the token of
//! the workshop. The pod comes first: a pod of another workshop may have its address by now, and must get neither token nor
//! files.
//!
//! 1. The launcher sends a challenge: [`PROOF_BYTES`] hexadecimal digits.
//! 2. The pod sends [`TokenDigest::answer`](crate::TokenDigest::answer).
//! 3. The launcher sends the token, and then frames: a head of [`Frame`], and the content.
//! 4. After [`FrameKind::End`], the pod sends [`PLACED`] when all files are placed.

/// Length of the challenge, of the answer and of the token, in bytes.
pub const PROOF_BYTES: usize = 64;
/// Length of the head of a frame, in bytes.
pub const HEAD_BYTES: usize = 5;
/// Maximum length of the text of [`FrameKind::Failure`], in bytes.
pub const MAX_FAILURE_BYTES: u32 = 2048;
/// Message of the pod: all files are placed.
pub const PLACED: [u8; 1] = *b"P";
/// Exit code of the program in the pod if the files cannot be placed, also not by another attempt.
pub const NOT_RESTORED: u8 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// Next bytes of the archive.
    Files,
    /// The archive is complete. The frame has no content.
    End,
    /// The launcher cannot read the files: a text in English.
    Failure,
}

/// Head of a frame: its kind, and the length of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    pub kind: FrameKind,
    /// Length of the content, in bytes.
    pub length: u32,
}

impl Frame {
    /// Returns the bytes of the head.
    #[must_use]
    pub fn head(self) -> [u8; HEAD_BYTES] {
        let [a, b, c, d] = self.length.to_be_bytes();
        let kind = match self.kind {
            FrameKind::Files => b'D',
            FrameKind::End => b'E',
            FrameKind::Failure => b'F',
        };
        [kind, a, b, c, d]
    }

    /// Parses a head; `None` if it is invalid.
    #[must_use]
    pub fn parse(head: [u8; HEAD_BYTES]) -> Option<Self> {
        let [kind, length @ ..] = head;
        let length = u32::from_be_bytes(length);
        let kind = match kind {
            b'D' => FrameKind::Files,
            b'E' if length == 0 => FrameKind::End,
            b'F' if length <= MAX_FAILURE_BYTES => FrameKind::Failure,
            _ => return None,
        };
        Some(Self { kind, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_of_each_kind_is_parsed() {
        for (kind, length) in [(FrameKind::Files, 0x0102_0304), (FrameKind::End, 0), (FrameKind::Failure, 9)] {
            let frame = Frame { kind, length };
            assert_eq!(Frame::parse(frame.head()), Some(frame));
        }
    }

    #[test]
    fn other_heads_are_invalid() {
        for head in [*b"G\0\0\0\0", *b"E\0\0\0\x01", *b"F\0\0\x08\x01", *b"HTTP/"] {
            assert_eq!(Frame::parse(head), None, "{head:?}");
        }
    }
}
