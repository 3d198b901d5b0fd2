//! Receives saved files from the launcher, on a cluster: in an init container with the app's image, before the app starts.
//!
//! [`launcher_domain::transfer`] describes the connection. Only the launcher knows the token. If a connection breaks, the
//! program waits for the next one, which sends all files again: each replaces the one of the former attempt.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use launcher_domain::TokenDigest;
use launcher_domain::transfer::{Frame, FrameKind, HEAD_BYTES, PLACED, PROOF_BYTES};

use crate::restore::restore;

/// Maximum time of the first messages. The program serves one connection at a time.
const PROOF_TIMEOUT: Duration = Duration::from_secs(5);
/// Buffer of the archive, in bytes.
const BUFFER: usize = 64 * 1024;
/// Maximum time without a byte of the archive.
const STALL: Duration = Duration::from_secs(60);

/// Listens on a port, with IPv6 if the kernel has it.
pub fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))
}

/// Places the files that the launcher sends in `target`, where the files of the image are already. Afterwards it creates the
/// file `marker`. If this file exists, it receives nothing: after a restart of the node, the kubelet runs init containers
/// again, and the directory then has the work of the student. `log` gets the errors of connections.
///
/// # Errors
/// The files cannot be placed: the text is for the student. Another attempt would fail, too.
pub fn receive(
    listener: &TcpListener,
    token: TokenDigest,
    target: &Path,
    marker: &Path,
    log: impl Fn(&str),
) -> Result<(), String> {
    if marker.exists() {
        return Ok(());
    }
    for stream in listener.incoming() {
        let received = stream.map_err(Problem::Connection).and_then(|stream| serve(&stream, token, target, marker));
        match received {
            Ok(()) => return Ok(()),
            Err(Problem::Connection(error)) => log(&format!("a connection failed, waiting for the next one: {error}")),
            Err(Problem::Final(text)) => return Err(text),
        }
    }
    Ok(())
}

/// Reason why a connection did not place the files.
enum Problem {
    /// The connection broke. The launcher tries again.
    Connection(io::Error),
    /// Another attempt would fail, too.
    Final(String),
}

fn serve(stream: &TcpStream, token: TokenDigest, target: &Path, marker: &Path) -> Result<(), Problem> {
    prove(stream, token).map_err(Problem::Connection)?;
    let mut files = Files { stream, left: 0, end: None };
    let placed = restore(target, BufReader::with_capacity(BUFFER, &mut files))
        // The end of the archive may precede an error of the launcher.
        .and_then(|_| io::copy(&mut files, &mut io::sink()))
        .and_then(|_| File::create(marker));
    match (placed, files.end) {
        (Ok(_), _) => {
            // All files are placed, also if the launcher does not learn it.
            let _ = (&*stream).write_all(&PLACED);
            Ok(())
        }
        (_, Some(End::Failed(text))) => Err(Problem::Final(text)),
        (Err(error), Some(End::Broken)) => Err(Problem::Connection(error)),
        (Err(error), _) => Err(Problem::Final(error.to_string())),
    }
}

/// Proves to the launcher that this pod is the one of the workshop, and checks the token.
fn prove(mut stream: &TcpStream, token: TokenDigest) -> io::Result<()> {
    stream.set_read_timeout(Some(PROOF_TIMEOUT))?;
    stream.set_write_timeout(Some(PROOF_TIMEOUT))?;
    let (mut challenge, mut sent) = ([0; PROOF_BYTES], [0; PROOF_BYTES]);
    stream.read_exact(&mut challenge)?;
    stream.write_all(token.answer(&challenge).as_bytes())?;
    stream.read_exact(&mut sent)?;
    if !token.accepts(&sent) {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "wrong token"));
    }
    stream.set_read_timeout(Some(STALL))
}

/// The archive in the frames of a connection.
struct Files<'a> {
    stream: &'a TcpStream,
    /// Bytes of the current frame that are not read yet.
    left: u32,
    end: Option<End>,
}

/// End of the frames.
enum End {
    Complete,
    /// The launcher cannot read the files.
    Failed(String),
    /// The connection broke, or sent something else.
    Broken,
}

impl Read for Files<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.next(buffer);
        if read.is_err() && self.end.is_none() {
            self.end = Some(End::Broken);
        }
        read
    }
}

impl Files<'_> {
    fn next(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left == 0 {
            match &self.end {
                None => self.begin_frame()?,
                Some(End::Complete) => return Ok(0),
                Some(End::Failed(_) | End::Broken) => return Err(ErrorKind::ConnectionAborted.into()),
            }
        }
        let most = buffer.len().min(self.left as usize);
        let Some(part) = buffer.get_mut(..most).filter(|part| !part.is_empty()) else { return Ok(0) };
        match self.stream.read(part)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            read => {
                self.left = self.left.saturating_sub(u32::try_from(read).unwrap_or(u32::MAX));
                Ok(read)
            }
        }
    }

    fn begin_frame(&mut self) -> io::Result<()> {
        let mut head = [0; HEAD_BYTES];
        self.stream.read_exact(&mut head)?;
        let frame = Frame::parse(head).ok_or(ErrorKind::InvalidData)?;
        match frame.kind {
            FrameKind::Files => self.left = frame.length,
            FrameKind::End => self.end = Some(End::Complete),
            FrameKind::Failure => {
                let mut text = Vec::new();
                self.stream.take(frame.length.into()).read_to_end(&mut text)?;
                self.end = Some(End::Failed(String::from_utf8_lossy(&text).into_owned()));
            }
        }
        Ok(())
    }
}
