//! A stream of bytes that a blocking function writes.

use std::io::{self, Write};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio_stream::wrappers::ReceiverStream;

/// Maximum chunks that wait for the reader. The writer then waits, so a slow reader needs little memory.
const CHUNKS: usize = 2;
/// Size of a chunk in bytes, except for the last one.
const CHUNK: usize = 64 * 1024;

/// Maximum memory of a stream, in bytes: the waiting chunks, one at the writer, one at the reader, and the buffer.
pub const STREAM_BYTES: usize = (CHUNKS + 3) * CHUNK;

/// Bytes of a file or an archive. An error is the last item: the bytes before it are incomplete.
pub type ByteStream = BoxStream<'static, io::Result<Bytes>>;

/// Runs `write` on a thread for blocking work, and returns the bytes that it writes. If the stream is dropped, the next
/// write fails, which ends `write`.
pub fn written_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static) -> ByteStream {
    let (sender, receiver) = mpsc::channel(CHUNKS);
    spawn_blocking(move || {
        let mut buffer = io::BufWriter::with_capacity(CHUNK, Sender(sender));
        let written = write(&mut buffer).and_then(|()| buffer.flush());
        if let Err(error) = written {
            // The send fails if the receiver is gone. It then needs no error.
            let (Sender(sender), _) = buffer.into_parts();
            drop(sender.blocking_send(Err(error)));
        }
    });
    ReceiverStream::new(receiver).boxed()
}

struct Sender(mpsc::Sender<io::Result<Bytes>>);

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map(|()| bytes.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
