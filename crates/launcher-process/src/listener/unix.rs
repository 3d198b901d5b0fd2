//! Listening Unix sockets.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use rustix::fs::Mode;
use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::UnixListener;

/// Listens on the Unix socket `path`, whose file gets mode 0600.
pub(super) fn listen(path: &Path, backlog: i32) -> io::Result<UnixListener> {
    let address = SockAddr::unix(path)?;
    remove_stale(path, &address)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // Linux creates the file with the mode of the socket, so that no other user can connect at any time.
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address)?;
    socket.listen(backlog)?;
    UnixListener::from_std(socket.into())
}

/// Removes the socket file of a process that has ended. A second process cannot take the socket of a running one.
fn remove_stale(path: &Path, address: &SockAddr) -> io::Result<()> {
    let kind = match std::fs::symlink_metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !kind.is_socket() {
        let message = "the file exists and is not a socket; remove it, or choose another path";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // A full backlog must not block the start.
    probe.set_nonblocking(true)?;
    match probe.connect(address) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens on this socket")),
    }
}
