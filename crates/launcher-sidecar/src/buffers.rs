//! Reading and writing without a buffer per connection: bytes are read into one scratch area of the thread, written on
//! at once, and only what the other side does not take is kept.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::memory::READ;

thread_local! {
    static SCRATCH: Cell<Option<Box<[u8]>>> = const { Cell::new(None) };
}

/// Lends the thread's scratch area. A call within a call gets an area of its own.
pub(crate) fn with_scratch<T>(work: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut area = SCRATCH.take().unwrap_or_else(|| vec![0; READ].into_boxed_slice());
    let result = work(&mut area);
    SCRATCH.set(Some(area));
    result
}

/// Reads once, into `area`; the number of bytes read, 0 at the end.
pub(crate) fn poll_read<R>(io: &mut R, cx: &mut Context<'_>, area: &mut [u8]) -> Poll<io::Result<usize>>
where
    R: AsyncRead + Unpin,
{
    let mut buffer = ReadBuf::new(area);
    ready!(Pin::new(io).poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

/// Reads once and appends to `inbox`, which has less than `limit` bytes and gets at most as many; the number of bytes read,
/// 0 at the end.
pub(crate) fn poll_fill<R>(
    io: &mut R,
    cx: &mut Context<'_>,
    inbox: &mut Vec<u8>,
    limit: usize,
) -> Poll<io::Result<usize>>
where
    R: AsyncRead + Unpin,
{
    with_scratch(|area| {
        let room = limit.saturating_sub(inbox.len()).min(area.len());
        let count = ready!(poll_read(io, cx, &mut area[..room]))?;
        let length = inbox.len() + count;
        if length > inbox.capacity() {
            // As a Vec grows by itself, but never beyond the limit.
            let capacity = length.max((2 * inbox.capacity()).min(limit));
            inbox.reserve_exact(capacity - inbox.len());
        }
        inbox.extend_from_slice(&area[..count]);
        Poll::Ready(Ok(count))
    })
}

/// Bytes on their way out that could not be written yet.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outbox {
    /// Whether everything has been written.
    pub(crate) fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }

    /// How many bytes are not written yet.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// The place to append bytes to.
    pub(crate) fn space(&mut self) -> &mut Vec<u8> {
        if self.is_empty() {
            self.bytes.clear();
            self.sent = 0;
        }
        &mut self.bytes
    }

    /// Everything once more, from its start. What was written stays here until something else is appended.
    pub(crate) fn rewind(&mut self) {
        self.sent = 0;
    }

    /// Forgets what is not written.
    pub(crate) fn discard(&mut self) {
        self.bytes.clear();
        self.sent = 0;
    }

    /// Gives the memory back, if all is written.
    pub(crate) fn release(&mut self) {
        if self.is_empty() {
            *self = Self::default();
        }
    }

    /// Writes what is here; ready when nothing is left.
    pub(crate) fn poll_flush<W>(&mut self, io: &mut W, cx: &mut Context<'_>) -> Poll<io::Result<()>>
    where
        W: AsyncWrite + Unpin,
    {
        if self.is_empty() {
            return Poll::Ready(Ok(()));
        }
        while !self.is_empty() {
            let count = ready!(Pin::new(&mut *io).poll_write(cx, &self.bytes[self.sent..]))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += count;
        }
        Pin::new(io).poll_flush(cx)
    }

    /// Writes `bytes` behind what is here, and keeps what is not taken.
    pub(crate) fn send<W>(&mut self, io: &mut W, cx: &mut Context<'_>, mut bytes: &[u8]) -> io::Result<()>
    where
        W: AsyncWrite + Unpin,
    {
        while self.is_empty() && !bytes.is_empty() {
            match Pin::new(&mut *io).poll_write(cx, bytes)? {
                Poll::Ready(0) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(count) => bytes = &bytes[count..],
                Poll::Pending => break,
            }
        }
        if bytes.is_empty() {
            // A writer with a buffer of its own may keep the bytes otherwise; for a socket this does nothing.
            let _ = Pin::new(io).poll_flush(cx)?;
        } else {
            let space = self.space();
            space.reserve_exact(bytes.len());
            space.extend_from_slice(bytes);
        }
        Ok(())
    }
}
