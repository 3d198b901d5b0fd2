//! Listening sockets that accept IPv4 and IPv6 on one port, with bounded kernel buffers.

use std::io;
use std::net::{Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};
use tokio::net::TcpListener;

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
    pub(crate) fn backlog(&self) -> i32 {
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
        return bind(address, options);
    }
    let every = SocketAddr::from((Ipv6Addr::UNSPECIFIED, address.port()));
    match bind(every, options) {
        Err(error) if address.is_ipv4() && lacks_ipv6(&error) => bind(address, options),
        outcome => outcome,
    }
}

/// True if the error shows that the kernel lacks or disables IPv6.
fn lacks_ipv6(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(code) if [AFNOSUPPORT, ADDRNOTAVAIL].contains(&code))
}

const AFNOSUPPORT: i32 = rustix::io::Errno::AFNOSUPPORT.raw_os_error();
const ADDRNOTAVAIL: i32 = rustix::io::Errno::ADDRNOTAVAIL.raw_os_error();

fn bind(address: SocketAddr, options: &ListenOptions) -> io::Result<TcpListener> {
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
