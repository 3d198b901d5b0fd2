//! Responses: short ones with a text, and the archive in chunks.

use std::io::{self, BufWriter, Write};
use std::net::TcpStream;

/// Size of a chunk in bytes, except for the last ones.
const CHUNK: usize = 64 * 1024;

/// Sends a response with a text.
pub(super) fn answer(mut stream: &TcpStream, status: &str, text: &str) -> io::Result<()> {
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    )
}

/// A body in chunks (RFC 9112, section 7.1).
pub(super) struct Chunked<'a>(BufWriter<Chunks<'a>>);

struct Chunks<'a>(&'a TcpStream);

impl<'a> Chunked<'a> {
    /// Sends the head.
    pub(super) fn begin(mut stream: &'a TcpStream, content_type: &str) -> io::Result<Self> {
        let head = "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n{head}")?;
        Ok(Self(BufWriter::with_capacity(CHUNK, Chunks(stream))))
    }

    /// Sends the last chunk, which is empty.
    pub(super) fn end(self) -> io::Result<()> {
        let Chunks(mut stream) = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        stream.write_all(b"0\r\n\r\n")
    }
}

impl Write for Chunked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Write for Chunks<'_> {
    /// Sends one chunk. An empty chunk would end the body.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            write!(self.0, "{:x}\r\n", bytes.len())?;
            self.0.write_all(bytes)?;
            self.0.write_all(b"\r\n")?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
