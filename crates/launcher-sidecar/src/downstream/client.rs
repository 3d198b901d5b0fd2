//! Socket, buffers and timer of a client connection.

use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::time::Instant;

use crate::downstream::progress::{ConnectionState, Progress};
use crate::transport::buffers::WriteBuffer;
use crate::transport::bulk::TransferCounter;
use crate::transport::deadline_timer::DeadlineTimer;
use crate::transport::socket::{Direction, PeerIo};

/// Socket, buffers and timer of a client connection.
#[derive(Debug)]
pub(crate) struct Client<IO> {
    pub(crate) io: IO,
    /// Bytes that were read from the client but are not processed yet.
    pub(crate) read_buffer: Vec<u8>,
    pub(crate) write_buffer: WriteBuffer,
    /// True if the client has closed its sending side.
    pub(crate) has_ended: bool,
    pub(crate) timer: DeadlineTimer,
    pub(crate) progress: Arc<Progress>,
    /// Bytes relayed of the current request (`up`) and of its response (`down`).
    pub(crate) up: TransferCounter,
    pub(crate) down: TransferCounter,
}

impl<IO: PeerIo> Client<IO> {
    pub(crate) fn new(io: IO, progress: Arc<Progress>) -> Self {
        Self {
            io,
            read_buffer: Vec::new(),
            write_buffer: WriteBuffer::default(),
            has_ended: false,
            timer: DeadlineTimer::default(),
            progress,
            up: TransferCounter::default(),
            down: TransferCounter::default(),
        }
    }

    /// Resets progress and byte counts at the start of an exchange.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.progress.enter(ConnectionState::Serving, now);
        self.up.restart();
        self.down.restart();
    }

    /// Removes the first `length` bytes of the read buffer.
    pub(crate) fn consume(&mut self, length: usize) {
        if length == self.read_buffer.len() {
            self.read_buffer.clear();
        } else {
            self.read_buffer.drain(..length);
        }
    }

    /// Frees the buffers and the bulk transfer permits, because an idle connection does not need them.
    pub(crate) fn release(&mut self) {
        self.read_buffer = Vec::new();
        self.write_buffer.release();
        self.up.release(self.io.socket(), Direction::Receive);
        self.down.release(self.io.socket(), Direction::Send);
    }

    /// Flushes the write buffer. Returns false on a write error, or when the timer's deadline has passed.
    pub(crate) fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        match self.write_buffer.poll_flush(&mut self.io, cx) {
            Poll::Ready(written) => Poll::Ready(written.is_ok()),
            Poll::Pending => self.timer.poll(cx).map(|()| false),
        }
    }
}
