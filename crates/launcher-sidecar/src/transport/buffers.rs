//! I/O without a read buffer per connection. Each thread reads bytes into one scratch area and writes them at once. A
//! connection stores only the bytes that the receiver does not accept yet.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::memory::READ;

thread_local! {
    static SCRATCH: Cell<Option<Box<[u8]>>> = const { Cell::new(None) };
}

/// Calls `work` with the thread's scratch area. A nested call gets another area.
pub(crate) fn with_scratch<T>(work: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut area = SCRATCH.take().unwrap_or_else(|| vec![0; READ].into_boxed_slice());
    let result = work(&mut area);
    SCRATCH.set(Some(area));
    result
}

/// Reads once into `area`. Returns the number of bytes read. 0 means the end of the stream.
pub(crate) fn poll_read<R>(io: &mut R, cx: &mut Context<'_>, area: &mut [u8]) -> Poll<io::Result<usize>>
where
    R: AsyncRead + Unpin,
{
    let mut buffer = ReadBuf::new(area);
    ready!(Pin::new(io).poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

/// Reads once and appends the bytes to `read_buffer`, which grows to at most `limit` bytes. Before the call, the buffer
/// must hold fewer than `limit` bytes. Returns the number of bytes read. 0 means the end of the stream.
pub(crate) fn poll_fill<R>(
    io: &mut R,
    cx: &mut Context<'_>,
    read_buffer: &mut Vec<u8>,
    limit: usize,
) -> Poll<io::Result<usize>>
where
    R: AsyncRead + Unpin,
{
    with_scratch(|area| {
        let room = limit.saturating_sub(read_buffer.len()).min(area.len());
        let count = ready!(poll_read(io, cx, &mut area[..room]))?;
        let length = read_buffer.len() + count;
        if length > read_buffer.capacity() {
            // Double the capacity as `Vec` does, but never beyond the limit.
            let capacity = length.max((2 * read_buffer.capacity()).min(limit));
            read_buffer.reserve_exact(capacity - read_buffer.len());
        }
        read_buffer.extend_from_slice(&area[..count]);
        Poll::Ready(Ok(count))
    })
}

/// Bytes that could not be written yet.
#[derive(Debug, Default)]
pub(crate) struct WriteBuffer {
    bytes: Vec<u8>,
    sent: usize,
}

impl WriteBuffer {
    /// Returns true if all bytes are written.
    pub(crate) fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }

    /// Returns the number of unwritten bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Returns the `Vec` to which the caller appends bytes.
    pub(crate) fn space(&mut self) -> &mut Vec<u8> {
        if self.is_empty() {
            self.bytes.clear();
            self.sent = 0;
        }
        &mut self.bytes
    }

    /// Marks all bytes as unwritten, so that a request can be sent again. Must be called before further bytes are
    /// appended, because an append removes written bytes.
    pub(crate) fn rewind(&mut self) {
        self.sent = 0;
    }

    /// Discards the unwritten bytes.
    pub(crate) fn discard(&mut self) {
        self.bytes.clear();
        self.sent = 0;
    }

    /// Frees the memory if all bytes are written.
    pub(crate) fn release(&mut self) {
        if self.is_empty() {
            *self = Self::default();
        }
    }

    /// Writes the pending bytes. Ready when all bytes are written.
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

    /// Writes `bytes` after the pending bytes. Stores the bytes that `io` does not accept yet.
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
            // Flush, because a buffered writer could otherwise hold back the bytes. Sockets ignore the flush.
            let _ = Pin::new(io).poll_flush(cx)?;
        } else {
            let space = self.space();
            space.reserve_exact(bytes.len());
            space.extend_from_slice(bytes);
        }
        Ok(())
    }
}
