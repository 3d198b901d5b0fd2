use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use launcher_process::listener::{ListenOptions, listen};
use socket2::{Domain, SockRef, Socket, TcpKeepalive, Type};
use tokio::io::AsyncReadExt;

use crate::DEADLINE;

fn has_ipv6() -> bool {
    TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}

/// Opens a listener with SO_REUSEPORT, as another program could do to share the port.
fn foreign(address: SocketAddr, only_v6: bool) -> std::io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() {
        socket.set_only_v6(only_v6)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&address.into())?;
    socket.listen(1)?;
    Ok(socket)
}

#[tokio::test]
async fn listener_on_unspecified_address_blocks_port_for_ipv4_and_ipv6() {
    for unspecified in [SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)), SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))] {
        let listener = listen(unspecified, &ListenOptions::default()).unwrap();
        let port = listener.local_addr().unwrap().port();
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let mut others = vec![(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)), false)];
        if has_ipv6() {
            TcpStream::connect((Ipv6Addr::LOCALHOST, port)).unwrap();
            others.extend([true, false].map(|only_v6| (SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)), only_v6)));
            others.push((SocketAddr::from((Ipv6Addr::LOCALHOST, port)), true));
        }
        others.push((SocketAddr::from((Ipv4Addr::LOCALHOST, port)), false));
        for (address, only_v6) in others {
            assert!(foreign(address, only_v6).is_err(), "another process can listen on {address}");
        }
    }
}

#[tokio::test]
async fn accepted_connection_inherits_buffer_sizes_and_nodelay() {
    let options = ListenOptions {
        receive_buffer: Some(32 * 1024),
        send_buffer: Some(64 * 1024),
        nodelay: true,
        ..ListenOptions::default()
    };
    let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), &options).unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    let socket = SockRef::from(&accepted);
    // Linux doubles the requested sizes to have room for its bookkeeping.
    assert_eq!(socket.recv_buffer_size().unwrap(), 64 * 1024);
    assert_eq!(socket.send_buffer_size().unwrap(), 128 * 1024);
    assert!(accepted.nodelay().unwrap());
}

fn loopback() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

#[tokio::test]
async fn accepted_connections_inherit_the_keepalive() {
    let time = Duration::from_secs(90);
    let keepalive = TcpKeepalive::new().with_time(time).with_interval(time / 3);
    let options = ListenOptions { keepalive: Some(keepalive), ..ListenOptions::default() };
    let listener = listen(loopback(), &options).unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    let socket = SockRef::from(&accepted);
    assert!(socket.keepalive().unwrap());
    assert_eq!((socket.tcp_keepalive_time().unwrap(), socket.tcp_keepalive_interval().unwrap()), (time, time / 3));
}

#[tokio::test]
async fn omitted_options_keep_kernel_defaults() {
    let listener = listen(loopback(), &ListenOptions::default()).unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    assert!(!accepted.nodelay().unwrap());
    assert!(!SockRef::from(&accepted).keepalive().unwrap());
}

#[tokio::test]
async fn listener_on_specific_address_accepts_no_other_address() {
    let listener = listen(loopback(), &ListenOptions::default()).unwrap();
    let addr = listener.local_addr().unwrap();
    assert_eq!(addr.ip(), Ipv4Addr::LOCALHOST);
    let other = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2), addr.port()));
    assert_eq!(TcpStream::connect(other).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    if has_ipv6() {
        let listener = listen(SocketAddr::from((Ipv6Addr::LOCALHOST, 0)), &ListenOptions::default()).unwrap();
        assert_eq!(listener.local_addr().unwrap().ip(), Ipv6Addr::LOCALHOST);
    }
}

#[tokio::test]
async fn listening_on_occupied_or_foreign_address_fails() {
    let taken = listen(loopback(), &ListenOptions::default()).unwrap();
    for (address, expected) in [
        (taken.local_addr().unwrap(), ErrorKind::AddrInUse),
        (SocketAddr::from(([192, 0, 2, 1], 0)), ErrorKind::AddrNotAvailable),
    ] {
        assert_eq!(listen(address, &ListenOptions::default()).unwrap_err().kind(), expected, "{address}");
    }
}

#[tokio::test]
async fn port_with_connection_in_time_wait_can_be_bound_again() {
    let listener = listen(loopback(), &ListenOptions::default()).unwrap();
    let addr = listener.local_addr().unwrap();
    let mut client = tokio::net::TcpStream::connect(addr).await.unwrap();
    // Close the server's side first: the side that closes first keeps the port in TIME_WAIT.
    drop(listener.accept().await.unwrap());
    assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
    drop((client, listener));
    assert_eq!(listen(addr, &ListenOptions::default()).unwrap().local_addr().unwrap(), addr);
}

#[tokio::test]
async fn connections_beyond_the_backlog_wait() {
    let connected = |backlog| {
        let listener = listen(loopback(), &ListenOptions { backlog, ..ListenOptions::default() }).unwrap();
        let addr = listener.local_addr().unwrap();
        // An attempt beyond the backlog gets no answer.
        let limit = |number| if backlog.is_some() && number > 0 { Duration::from_millis(300) } else { DEADLINE };
        let clients: Vec<_> =
            (0..8).map_while(|number| TcpStream::connect_timeout(&addr, limit(number)).ok()).collect();
        clients.len()
    };
    assert_eq!(connected(None), 8);
    let waiting = connected(Some(1));
    assert!((1..=3).contains(&waiting), "{waiting}");
}
