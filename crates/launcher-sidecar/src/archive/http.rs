//! Reads the heads of requests. Sends responses: short ones with a text, and the archive in chunks.

use std::io::{self, BufWriter, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum bytes of a head. The requests of launcher and kubelet have less than 512.
const MAX_HEAD: usize = 4096;
/// Maximum header lines.
const MAX_HEADERS: usize = 32;
/// Maximum time of a head. The read timeout of the socket begins again at each byte.
pub(super) const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// A request of this program's API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    /// The kubelet asks if the program listens.
    Ready,
    /// The launcher asks for the archive. A request without a token has an empty one.
    Archive { token: Vec<u8> },
    /// Any other request, also an invalid one.
    Unknown,
}

/// Reads a request. Requests have no bodies.
///
/// # Errors
/// The connection failed, or the head was not complete in time.
pub(super) fn read_request(mut stream: &TcpStream) -> io::Result<Request> {
    let began = Instant::now();
    let (mut head, mut length) = ([0; MAX_HEAD], 0);
    while length < MAX_HEAD && began.elapsed() < HEAD_TIMEOUT {
        let read = stream.read(&mut head[length..])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        length += read;
        if let Some(request) = parse(&head[..length]) {
            return Ok(request);
        }
    }
    Ok(Request::Unknown)
}

/// Returns `None` while the head is incomplete.
fn parse(head: &[u8]) -> Option<Request> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Partial) => None,
        Ok(httparse::Status::Complete(_)) => Some(match (request.method, request.path) {
            (Some("GET"), Some("/ready")) => Request::Ready,
            (Some("GET"), Some("/archive")) => Request::Archive { token: bearer(request.headers) },
            _ => Request::Unknown,
        }),
        Err(_) => Some(Request::Unknown),
    }
}

/// Returns the token of the only `Authorization` line; empty without one.
fn bearer(headers: &[httparse::Header<'_>]) -> Vec<u8> {
    let mut lines = headers.iter().filter(|header| header.name.eq_ignore_ascii_case("authorization"));
    let (Some(line), None) = (lines.next(), lines.next()) else { return Vec::new() };
    line.value.strip_prefix(b"Bearer ").unwrap_or_default().to_vec()
}

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
pub(super) type Chunked<'a> = BufWriter<Chunks<'a>>;

pub(super) struct Chunks<'a>(&'a TcpStream);

/// Sends the head of a response with an archive.
pub(super) fn begin_archive(mut stream: &TcpStream) -> io::Result<Chunked<'_>> {
    let head = "Content-Type: application/x-tar\r\nTransfer-Encoding: chunked\r\nConnection: close";
    write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n")?;
    Ok(BufWriter::with_capacity(CHUNK, Chunks(stream)))
}

/// Sends the last chunk, which is empty.
pub(super) fn end_archive(body: Chunked<'_>) -> io::Result<()> {
    let Chunks(mut stream) = body.into_inner().map_err(io::IntoInnerError::into_error)?;
    stream.write_all(b"0\r\n\r\n")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(token: &str) -> Option<Request> {
        Some(Request::Archive { token: token.as_bytes().to_vec() })
    }

    #[test]
    fn requests_are_recognised_by_method_and_path() {
        assert_eq!(parse(b"GET /ready HTTP/1.1\r\nHost: a\r\n\r\n"), Some(Request::Ready));
        assert_eq!(parse(b"GET /archive HTTP/1.1\r\nauthorization: Bearer abc\r\n\r\n"), archive("abc"));
        for other in
            ["POST /archive HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET /archive/../ready HTTP/1.1\r\n\r\n"]
        {
            assert_eq!(parse(other.as_bytes()), Some(Request::Unknown), "{other}");
        }
        assert_eq!(parse(b"\x16\x03\x01"), Some(Request::Unknown), "TLS");
        assert_eq!(parse(b"GET /archive HTTP/1.1\r\nAuthoriz"), None);
    }

    #[test]
    fn token_is_the_one_of_a_single_bearer_line() {
        for line in ["", "Authorization: Basic abc\r\n", "Authorization: Bearer a\r\nAuthorization: Bearer a\r\n"] {
            assert_eq!(parse(format!("GET /archive HTTP/1.1\r\n{line}\r\n").as_bytes()), archive(""), "{line}");
        }
    }
}
