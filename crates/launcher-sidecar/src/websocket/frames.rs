//! Tracks the frames of a WebSocket stream (RFC 6455, 5.2): frame boundaries and frame types. Stores no payload.

/// Close frame for the client: status 1001 (going away), not masked.
pub(crate) const CLOSE_TO_CLIENT: &[u8] = &[0x88, 0x02, 0x03, 0xe9];
/// Close frame for the app: status 1001 (going away), masked as RFC 6455 requires for clients. The masking key is zero
/// and leaves the payload unchanged. A random key is unnecessary: it protects against payloads that a page chooses, and
/// this payload is fixed.
pub(crate) const CLOSE_TO_APP: &[u8] = &[0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9];

const CLOSE: u8 = 0x8;

/// Types of frames found in a piece of the stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SeenFrames {
    /// True if the piece contains a part of a data frame (text, binary or continuation).
    pub(crate) data: bool,
    /// True if the piece completes the header of a close frame.
    pub(crate) close: bool,
}

/// Tracks the frames of one direction of a WebSocket.
#[derive(Debug, Default)]
pub(crate) struct FrameTracker {
    header: [u8; 14],
    header_bytes: u8,
    /// Remaining payload bytes of the current frame.
    payload: u64,
}

impl FrameTracker {
    /// Returns true if the next byte of the stream begins a frame.
    pub(crate) fn is_at_frame_boundary(&self) -> bool {
        self.header_bytes == 0 && self.payload == 0
    }

    /// Processes the next piece of the stream. Returns the types of its frames.
    pub(crate) fn process(&mut self, mut bytes: &[u8]) -> SeenFrames {
        let mut seen = SeenFrames::default();
        while !bytes.is_empty() {
            let (count, part) = self.process_to_frame_end(bytes);
            seen.data |= part.data;
            seen.close |= part.close;
            bytes = &bytes[count..];
        }
        seen
    }

    /// Processes the next piece of the stream, at most up to the end of the current frame. Returns the number of
    /// processed bytes and the type of their frame.
    pub(crate) fn process_to_frame_end(&mut self, bytes: &[u8]) -> (usize, SeenFrames) {
        let mut seen = SeenFrames::default();
        let mut count = 0;
        if self.payload == 0 {
            while usize::from(self.header_bytes) < self.header_length() {
                let Some(&byte) = bytes.get(count) else { return (count, seen) };
                self.header[usize::from(self.header_bytes)] = byte;
                self.header_bytes += 1;
                count += 1;
            }
            self.payload = self.payload_length();
            seen.close = self.opcode() == CLOSE;
            seen.data = self.opcode() < CLOSE;
            self.header_bytes = 0;
        }
        let payload = usize::try_from(self.payload).unwrap_or(usize::MAX).min(bytes.len() - count);
        self.payload -= payload as u64;
        seen.data |= payload > 0 && self.opcode() < CLOSE;
        (count + payload, seen)
    }

    fn opcode(&self) -> u8 {
        self.header[0] & 0x0f
    }

    fn header_length(&self) -> usize {
        if self.header_bytes < 2 {
            return 2;
        }
        let mask = if self.header[1] & 0x80 == 0 { 0 } else { 4 };
        mask + match self.header[1] & 0x7f {
            126 => 4,
            127 => 10,
            _ => 2,
        }
    }

    fn payload_length(&self) -> u64 {
        let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
        match self.header[1] & 0x7f {
            126 => number(&self.header[2..4]),
            127 => number(&self.header[2..10]),
            length => u64::from(length),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(opcode: u8, length: usize, masked: bool) -> Vec<u8> {
        let mask = if masked { 0x80 } else { 0 };
        let mut bytes = vec![0x80 | opcode];
        match length {
            0..126 => bytes.push(mask | u8::try_from(length).unwrap()),
            126..65536 => {
                bytes.push(mask | 126);
                bytes.extend_from_slice(&u16::try_from(length).unwrap().to_be_bytes());
            }
            _ => {
                bytes.push(mask | 127);
                bytes.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        bytes.extend_from_slice(if masked { &[1, 2, 3, 4] } else { &[] });
        bytes.resize(bytes.len() + length, 0x88);
        bytes
    }

    #[test]
    fn only_text_binary_and_continuation_frames_are_data() {
        for (opcode, seen) in [
            (0, SeenFrames { data: true, close: false }),
            (1, SeenFrames { data: true, close: false }),
            (2, SeenFrames { data: true, close: false }),
            (8, SeenFrames { data: false, close: true }),
            (9, SeenFrames::default()),
            (10, SeenFrames::default()),
        ] {
            assert_eq!(FrameTracker::default().process(&frame(opcode, 5, true)), seen, "{opcode}");
            assert_eq!(FrameTracker::default().process(&frame(opcode, 0, false)), seen, "{opcode}");
        }
    }

    #[test]
    fn generated_close_frames_are_valid() {
        for close in [CLOSE_TO_CLIENT, CLOSE_TO_APP] {
            let mut frames = FrameTracker::default();
            assert_eq!(frames.process_to_frame_end(close), (close.len(), SeenFrames { data: false, close: true }));
            assert!(frames.is_at_frame_boundary());
        }
    }

    proptest! {
        #[test]
        fn frame_tracker_finds_frame_ends_for_any_split(
            sizes in prop::collection::vec(prop_oneof![0_usize..130, 65_530_usize..65_540], 1..5),
            masked in any::<bool>(),
            step in 1_usize..70_000,
        ) {
            let (mut stream, mut ends) = (Vec::new(), Vec::new());
            for size in sizes {
                stream.extend(frame(9, size, masked));
                ends.push(stream.len());
            }
            let (mut frames, mut at, mut found) = (FrameTracker::default(), 0, Vec::new());
            while at < stream.len() {
                let piece = &stream[at..stream.len().min(at + step)];
                at += frames.process_to_frame_end(piece).0;
                if frames.is_at_frame_boundary() {
                    found.push(at);
                }
            }
            prop_assert_eq!(found, ends);
        }
    }
}
