//! Relays a WebSocket's bytes unchanged in both directions after its upgrade, and tracks its frames (RFC 6455, 5.2). Stores
//! no payload: an idle WebSocket holds no buffer and no timer.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::Instant;

use crate::downstream::Client;
use crate::metrics::Metrics;
use crate::progress::{ConnectionState, Progress};
use crate::transport::buffers::{WriteBuffer, poll_read, with_scratch};
use crate::transport::deadline_timer::DeadlineTimer;
use crate::transport::{PeerIo, Socket};

/// Maximum time for client and app to close the WebSocket after a stop is requested.
const CLOSING: Duration = Duration::from_secs(3);
/// Timeout of a WebSocket without traffic after one peer has closed its sending side.
const HALF_CLOSED: Duration = Duration::from_secs(60);
/// Timeout for a peer that accepts none of the bytes that are pending for it.
const STALL: Duration = Duration::from_secs(300);

/// One direction of the WebSocket, from a sender to a receiver.
#[derive(Debug, Default)]
struct Flow {
    frames: FrameTracker,
    write_buffer: WriteBuffer,
    /// True if the sender has closed its sending side.
    has_ended: bool,
    /// True if the end of the sender's stream is forwarded to the receiver.
    is_shut: bool,
    /// True if a stop has closed this direction: the receiver gets a close frame, and further bytes are dropped.
    is_closed: bool,
    /// True if the sender has sent a close frame.
    has_sent_close: bool,
    has_moved: bool,
}

/// The metrics and the progress in which a WebSocket records its use.
#[derive(Debug, Clone, Copy)]
struct Usage<'t> {
    metrics: &'t Metrics,
    progress: &'t Progress,
}

/// State of a WebSocket between the client and the app.
struct Tunnel<'t, IO> {
    io: &'t mut IO,
    app: Socket,
    up: Flow,
    down: Flow,
    usage: Usage<'t>,
    timer: DeadlineTimer,
    is_closing: bool,
    is_waiting: bool,
}

/// Relays bytes between the client and the app until both have closed their sides. When `stop` is ready, sends a close
/// frame to both.
///
/// The client's write buffer holds the upgrade response. `app_read_buffer` and the client's read buffer hold bytes of
/// the WebSocket that have already arrived.
pub(crate) async fn run_tunnel<IO, S>(
    client: &mut Client<IO>,
    app: Socket,
    app_read_buffer: &[u8],
    metrics: &Metrics,
    mut stop: Pin<&mut S>,
) where
    IO: PeerIo,
    S: Future<Output = ()>,
{
    let _open = metrics.websocket();
    client.timer.release();
    client.progress.enter(ConnectionState::Serving, Instant::now());
    let usage = Usage { metrics, progress: &client.progress };
    let mut up = Flow::default();
    up.accept(&std::mem::take(&mut client.read_buffer), usage);
    let mut down = Flow { write_buffer: std::mem::take(&mut client.write_buffer), ..Flow::default() };
    down.accept(app_read_buffer, usage);
    up.has_ended = client.has_ended;
    let io = &mut client.io;
    let mut tunnel =
        Tunnel { io, app, up, down, usage, timer: DeadlineTimer::default(), is_closing: false, is_waiting: false };
    poll_fn(|cx| {
        if !tunnel.is_closing && stop.as_mut().poll(cx).is_ready() {
            tunnel.is_closing = true;
            tunnel.timer.set(Instant::now() + CLOSING);
        }
        tunnel.poll(cx)
    })
    .await;
}

impl<IO: PeerIo> Tunnel<'_, IO> {
    /// Relays all bytes that can be relayed without waiting. Ready when the WebSocket has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Poll the timer before reading. Otherwise a peer that never stops sending would keep the timer from firing.
        if self.is_closing && self.timer.poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let Self { io, app, up, down, usage, is_closing, .. } = self;
        (up.has_moved, down.has_moved) = (false, false);
        let upward = up.poll(*io, app, CLOSE_TO_APP, *is_closing, *usage, cx);
        let downward = down.poll(app, *io, CLOSE_TO_CLIENT, *is_closing, *usage, cx);
        let is_over = match (upward, downward) {
            (Poll::Ready(Err(_)), _) | (_, Poll::Ready(Err(_))) | (Poll::Ready(Ok(())), Poll::Ready(Ok(()))) => true,
            // After a stop, the WebSocket also ends once the client was sent the close frame, and has sent a close
            // frame or closed its side.
            _ => *is_closing && down.is_closed && down.write_buffer.is_empty() && (up.has_sent_close || up.has_ended),
        };
        if is_over {
            return Poll::Ready(());
        }
        self.poll_timeout(cx)
    }

    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.is_closing {
            let is_stalled = !self.up.write_buffer.is_empty() || !self.down.write_buffer.is_empty();
            let is_half_closed = self.up.has_ended || self.down.has_ended;
            if !is_stalled && !is_half_closed {
                if self.is_waiting {
                    self.timer.release();
                    self.usage.progress.set_state(ConnectionState::Serving);
                    self.is_waiting = false;
                }
                return Poll::Pending;
            }
            if !self.is_waiting || self.up.has_moved || self.down.has_moved {
                let now = Instant::now();
                self.timer.set(now + if is_half_closed { HALF_CLOSED } else { STALL });
                if !self.is_waiting {
                    self.usage.progress.enter(ConnectionState::Transfer, now);
                }
                self.is_waiting = true;
            }
        }
        self.timer.poll(cx)
    }
}

impl Flow {
    /// Queues bytes that arrived together with the upgrade.
    fn accept(&mut self, bytes: &[u8], usage: Usage<'_>) {
        self.write_buffer.space().extend_from_slice(bytes);
        self.record(bytes, usage);
    }

    fn record(&mut self, bytes: &[u8], usage: Usage<'_>) {
        let seen = self.frames.process(bytes);
        self.has_sent_close |= seen.close;
        usage.progress.add_bytes(bytes.len());
        if seen.data {
            let now = Instant::now();
            usage.metrics.used(now);
            usage.progress.touch(now);
        }
    }

    /// Relays this direction. Ready when the end of the sender's stream is forwarded to the receiver.
    fn poll<R, W>(
        &mut self,
        from: &mut R,
        to: &mut W,
        close: &[u8],
        is_closing: bool,
        usage: Usage<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>>
    where
        R: PeerIo,
        W: PeerIo,
    {
        loop {
            let waiting = self.write_buffer.len();
            let flushed = self.write_buffer.poll_flush(to, cx);
            self.has_moved |= self.write_buffer.len() < waiting;
            ready!(flushed)?;
            self.write_buffer.release();
            if self.has_ended {
                if !self.is_shut {
                    ready!(to.poll_delivered(cx));
                    ready!(Pin::new(&mut *to).poll_shutdown(cx))?;
                    self.is_shut = true;
                }
                return Poll::Ready(Ok(()));
            }
            if is_closing && !self.is_closed && self.frames.is_at_frame_boundary() {
                if !self.has_sent_close {
                    self.write_buffer.space().extend_from_slice(close);
                }
                self.is_closed = true;
                continue;
            }
            let count = with_scratch(|area| {
                let count = ready!(poll_read(from, cx, area))?;
                let bytes = &area[..count];
                if self.is_closed {
                    self.has_sent_close |= self.frames.process(bytes).close;
                } else if is_closing {
                    let (rest, seen) = self.frames.process_to_frame_end(bytes);
                    self.has_sent_close |= seen.close;
                    self.write_buffer.send(to, cx, &bytes[..rest])?;
                    self.has_sent_close |= self.frames.process(&bytes[rest..]).close;
                } else {
                    self.record(bytes, usage);
                    self.write_buffer.send(to, cx, bytes)?;
                }
                Poll::Ready(io::Result::Ok(count))
            });
            self.has_ended = ready!(count)? == 0;
            self.has_moved = true;
        }
    }
}

/// Close frame for the client: status 1001 (going away), not masked.
const CLOSE_TO_CLIENT: &[u8] = &[0x88, 0x02, 0x03, 0xe9];
/// Close frame for the app: status 1001 (going away), masked as RFC 6455 requires for clients. The masking key is zero
/// and leaves the payload unchanged. A random key is unnecessary: it protects against payloads that a page chooses, and
/// this payload is fixed.
const CLOSE_TO_APP: &[u8] = &[0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9];

const CLOSE: u8 = 0x8;

/// Types of frames found in a piece of the stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct SeenFrames {
    /// True if the piece contains a part of a data frame (text, binary or continuation).
    data: bool,
    /// True if the piece completes the header of a close frame.
    close: bool,
}

/// Tracks the frames of one direction of a WebSocket.
#[derive(Debug, Default)]
struct FrameTracker {
    header: [u8; 14],
    header_bytes: u8,
    /// Remaining payload bytes of the current frame.
    payload: u64,
}

impl FrameTracker {
    /// Returns true if the next byte of the stream begins a frame.
    fn is_at_frame_boundary(&self) -> bool {
        self.header_bytes == 0 && self.payload == 0
    }

    /// Processes the next piece of the stream. Returns the types of its frames.
    fn process(&mut self, mut bytes: &[u8]) -> SeenFrames {
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
    fn process_to_frame_end(&mut self, bytes: &[u8]) -> (usize, SeenFrames) {
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

    #[test]
    fn frames_of_any_peer_are_the_same_for_each_split() {
        let name = "frames_of_any_peer_are_the_same_for_each_split";
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 500_000, |bytes| {
            let (mut whole, mut split, mut seen) =
                (FrameTracker::default(), FrameTracker::default(), SeenFrames::default());
            for byte in bytes.chunks(1) {
                let part = split.process(byte);
                seen = SeenFrames { data: seen.data | part.data, close: seen.close | part.close };
            }
            assert_eq!(whole.process(bytes), seen);
            assert_eq!((whole.payload, whole.header_bytes), (split.payload, split.header_bytes));
        });
    }
}
