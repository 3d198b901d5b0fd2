//! Packet lines of the git protocol: <https://git-scm.com/docs/gitprotocol-common>.

use std::io::{self, BufRead, Read};

use crate::failure::Failure;
use crate::meter::is_at_end;

/// Maximum bytes of a packet, with its length.
const PACKET_BYTES: usize = 65_520;

/// Packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Packet {
    /// End of a message.
    Flush,
    /// Boundary between two sections.
    Delimiter,
    /// Data.
    Data(Vec<u8>),
}

impl Packet {
    /// Returns the data as a line of text without its end; `None` for a boundary.
    pub(crate) fn line(&self) -> Option<String> {
        let Self::Data(data) = self else { return None };
        Some(String::from_utf8_lossy(data).trim_end_matches('\n').to_owned())
    }
}

/// Reads one packet; `None` at the end.
///
/// # Errors
/// The bytes are no packet, or the packet is an error message of the server.
pub(crate) fn read(reader: &mut dyn BufRead) -> Result<Option<Packet>, Failure> {
    if is_at_end(reader)? {
        return Ok(None);
    }
    let mut length = [0; 4];
    reader.read_exact(&mut length)?;
    let digits = std::str::from_utf8(&length).ok().filter(|digits| !digits.starts_with('+'));
    let length = digits.and_then(|digits| usize::from_str_radix(digits, 16).ok());
    let size = match length {
        Some(0) => return Ok(Some(Packet::Flush)),
        Some(1 | 2) => return Ok(Some(Packet::Delimiter)),
        Some(length @ 4..=PACKET_BYTES) => length - 4,
        _ => return Err(not_git()),
    };
    let mut data = vec![0; size];
    reader.read_exact(&mut data)?;
    if let Some(message) = data.strip_prefix(b"ERR ") {
        return Err(refused(message));
    }
    Ok(Some(Packet::Data(data)))
}

/// Appends a packet with this text.
pub(crate) fn write(to: &mut Vec<u8>, text: &str) {
    to.extend_from_slice(format!("{:04x}{text}", text.len() + 4).as_bytes());
}

/// Failure of a server that does not speak the protocol.
pub(crate) fn not_git() -> Failure {
    Failure::new("The server does not answer as a git server: check the URL.")
}

/// Failure with a message of the server.
fn refused(message: &[u8]) -> Failure {
    let message = String::from_utf8_lossy(message.get(..message.len().min(200)).unwrap_or_default()).trim().to_owned();
    Failure::new(format!("The git server refuses: {message}."))
}

/// Data of the first band: the server's progress messages are skipped, its errors are failures.
pub(crate) struct FirstBand<R> {
    inner: R,
    packet: Vec<u8>,
    position: usize,
}

impl<R: BufRead> FirstBand<R> {
    /// Reads the bands that begin at this position.
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, packet: Vec::new(), position: 0 }
    }

    fn next(&mut self) -> Result<(), Failure> {
        loop {
            let Some(Packet::Data(data)) = read(&mut self.inner)? else {
                (self.packet, self.position) = (Vec::new(), 0);
                return Ok(());
            };
            match data.split_first() {
                Some((1, content)) if !content.is_empty() => {
                    (self.packet, self.position) = (data, 1);
                    return Ok(());
                }
                Some((3, message)) => return Err(refused(message)),
                _ => {}
            }
        }
    }
}

impl<R: BufRead> BufRead for FirstBand<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position >= self.packet.len() {
            self.next()?;
        }
        Ok(self.packet.get(self.position..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.position += amount;
    }
}

impl<R: BufRead> Read for FirstBand<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
