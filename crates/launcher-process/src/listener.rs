//! Listen addresses, listeners on TCP ports and on Unix sockets, and their connections. A listener on a TCP port accepts
//! IPv4 and IPv6, with bounded kernel buffers.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::str::FromStr;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

use rustix::fs::Mode;
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, TcpKeepalive, Type};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Pause after a failed accept. Without it, the loop would spin while the process has no free file descriptor.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Prefix of the address of a Unix socket.
const UNIX: &str = "unix:";
/// Maximum length of the path of a Unix socket, in bytes (`sun_path` of the kernel, without its final NUL).
const MAX_PATH: usize = 107;

/// A listen address: `IP:PORT`, or `unix:` and an absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A TCP port.
    Tcp(SocketAddr),
    /// The file of a Unix socket.
    Unix(PathBuf),
}

impl FromStr for Address {
    /// Sentence that states the valid form.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "invalid socket address: write IP:PORT, as in 0.0.0.0:8080, or unix: and an absolute path, as \
                            in unix:/run/app.sock";
        let Some(path) = text.strip_prefix(UNIX) else {
            return text.parse().map(Self::Tcp).map_err(|_| FORM.to_owned());
        };
        if !path.starts_with('/') || path.contains('\0') {
            return Err("the path of a Unix socket is not absolute: write unix:/absolute/path.sock".to_owned());
        }
        if path.len() > MAX_PATH {
            let length = path.len();
            return Err(format!(
                "the path of the Unix socket has {length} bytes, and the kernel allows {MAX_PATH}: choose a shorter path"
            ));
        }
        Ok(Self::Unix(path.into()))
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

/// Options of a listening socket. Accepted connections inherit all of them except the backlog.
#[derive(Debug, Clone, Default)]
pub struct ListenOptions {
    /// Maximum number of connections that wait to be accepted. The default is 1,024.
    pub backlog: Option<u32>,
    /// Kernel receive buffer of each connection, in bytes. With `None`, the kernel chooses and adapts the size.
    pub receive_buffer: Option<usize>,
    /// Kernel send buffer of each connection, in bytes. With `None`, the kernel chooses and adapts the size.
    pub send_buffer: Option<usize>,
    /// True disables Nagle's algorithm, which delays small packets (TCP_NODELAY).
    pub nodelay: bool,
    /// TCP keepalive of each connection. With `None`, the kernel never probes idle connections.
    pub keepalive: Option<TcpKeepalive>,
}

/// Default of [`ListenOptions::backlog`].
const BACKLOG: u32 = 1024;

impl ListenOptions {
    /// Returns the backlog as the kernel takes it.
    fn backlog(&self) -> i32 {
        self.backlog.unwrap_or(BACKLOG).try_into().unwrap_or(i32::MAX)
    }
}

/// Listens on an address. Must be called within a tokio runtime.
///
/// An unspecified address, `0.0.0.0` or `[::]`, means every IPv4 and IPv6 address. If the kernel has IPv6, one
/// dual-stack socket serves both, so that no other process can bind the port for the other address family. IPv4 peers
/// then have IPv4-mapped addresses (`::ffff:192.0.2.1`). Without IPv6, `0.0.0.0` means every IPv4 address, and `[::]`
/// is an error.
///
/// # Errors
/// Fails if the address is in use, does not belong to this host, or is not permitted.
pub fn listen(address: SocketAddr, options: &ListenOptions) -> io::Result<TcpListener> {
    if !address.ip().is_unspecified() {
        return bind_tcp(address, options);
    }
    let every = SocketAddr::from((Ipv6Addr::UNSPECIFIED, address.port()));
    match bind_tcp(every, options) {
        Err(error) if address.is_ipv4() && lacks_ipv6(&error) => bind_tcp(address, options),
        outcome => outcome,
    }
}

/// True if the error shows that the kernel lacks or disables IPv6.
fn lacks_ipv6(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(code) if [AFNOSUPPORT, ADDRNOTAVAIL].contains(&code))
}

const AFNOSUPPORT: i32 = rustix::io::Errno::AFNOSUPPORT.raw_os_error();
const ADDRNOTAVAIL: i32 = rustix::io::Errno::ADDRNOTAVAIL.raw_os_error();

fn bind_tcp(address: SocketAddr, options: &ListenOptions) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    // Lets a restarted process bind the port while connections of the previous process are still closing. Two listeners
    // on one port still exclude each other.
    socket.set_reuse_address(true)?;
    if let Some(bytes) = options.receive_buffer {
        socket.set_recv_buffer_size(bytes)?;
    }
    if let Some(bytes) = options.send_buffer {
        socket.set_send_buffer_size(bytes)?;
    }
    if options.nodelay {
        socket.set_tcp_nodelay(true)?;
    }
    if let Some(keepalive) = &options.keepalive {
        socket.set_tcp_keepalive(keepalive)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(options.backlog())?;
    TcpListener::from_std(socket.into())
}

/// Listens on the Unix socket `path`, whose file gets mode 0600.
fn listen_unix(path: &Path, backlog: i32) -> io::Result<UnixListener> {
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

/// A listener on a TCP port or on a Unix socket.
#[derive(Debug)]
pub enum Listener {
    /// Listens on a TCP port.
    Tcp(TcpListener),
    /// Listens on a Unix socket.
    Unix {
        /// The listening socket.
        listener: UnixListener,
        /// Kernel send buffer of each connection, in bytes. Connections of a Unix socket do not inherit it.
        send_buffer: Option<usize>,
    },
}

impl Listener {
    /// Listens on an address. Must be called within a tokio runtime.
    ///
    /// For a TCP port, see [`listen`]. The file of a Unix socket gets mode 0600: only its user, and root, can connect.
    /// A stale socket file, on which no process listens, is replaced. Of the options, only the backlog and the send
    /// buffer apply to Unix sockets: a sender's buffer also holds the bytes that the receiver has not read.
    ///
    /// # Errors
    /// Fails if another process listens on the address, if the path is a file that is not a socket, or if the address
    /// cannot be bound.
    pub fn bind(address: &Address, options: &ListenOptions) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => listen(*address, options).map(Self::Tcp),
            Address::Unix(path) => {
                let listener = listen_unix(path, options.backlog())?;
                Ok(Self::Unix { listener, send_buffer: options.send_buffer })
            }
        }
    }

    /// Returns the port; `None` for a Unix socket.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        let Self::Tcp(listener) = self else { return None };
        Some(listener.local_addr().ok()?.port())
    }

    /// Accepts a connection. Returns it with the IP address of its peer. IPv4 peers have IPv4 addresses, also on a
    /// dual-stack listener. Peers of a Unix socket have no address.
    ///
    /// # Errors
    /// Fails if the process has no free file descriptor, or if the connection failed before it was accepted.
    pub async fn accept(&self) -> io::Result<(Stream, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                Ok((Stream::Tcp(stream), Some(peer.ip().to_canonical())))
            }
            Self::Unix { listener, send_buffer } => {
                let (stream, _) = listener.accept().await?;
                if let Some(bytes) = send_buffer {
                    SockRef::from(&stream).set_send_buffer_size(*bytes)?;
                }
                Ok((Stream::Unix(stream), None))
            }
        }
    }

    /// Accepts the next connection like [`Listener::accept`]. Logs an error, and tries again after a pause. `what` names the
    /// connection in the log.
    pub async fn accept_next(&self, what: &str) -> (Stream, Option<IpAddr>) {
        loop {
            match self.accept().await {
                Ok(accepted) => return accepted,
                Err(error) => {
                    tracing::warn!(%error, "accepting {what} failed, retrying");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// A connection over TCP or over a Unix socket.
#[derive(Debug)]
pub enum Stream {
    /// A TCP connection.
    Tcp(TcpStream),
    /// A connection of a Unix socket.
    Unix(UnixStream),
}

/// Does the same with either stream.
macro_rules! each {
    ($connection:expr, $stream:ident => $action:expr) => {
        match $connection {
            Stream::Tcp($stream) => $action,
            Stream::Unix($stream) => $action,
        }
    };
}

impl Stream {
    /// Reads bytes that have already arrived.
    ///
    /// # Errors
    /// Returns `WouldBlock` if no bytes have arrived, or the error of the connection.
    pub fn try_read(&self, area: &mut [u8]) -> io::Result<usize> {
        each!(self, stream => stream.try_read(area))
    }

    /// Calls `operation` if the connection is ready. If it returns `WouldBlock`, the connection counts as not ready
    /// until its next event.
    ///
    /// # Errors
    /// Returns `WouldBlock` if the connection is not ready, or the error of `operation`.
    pub fn try_io<T>(&self, interest: Interest, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        each!(self, stream => stream.try_io(interest, operation))
    }

    /// Ready when the connection is writable.
    ///
    /// # Errors
    /// Fails if the runtime shuts down.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_write_ready(cx))
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        each!(self, stream => stream.as_fd())
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, area: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_read(cx, area))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(cx))
    }
}
