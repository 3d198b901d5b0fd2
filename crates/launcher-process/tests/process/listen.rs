use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};

use launcher_process::listen::{ListenOptions, listen};
use socket2::{Domain, SockRef, Socket, Type};

fn has_ipv6() -> bool {
    TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}

/// A listener with SO_REUSEPORT, as another program could open it.
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
async fn unspecified_address_takes_the_port_in_both_families() {
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
async fn accepted_connections_inherit_buffers_and_options() {
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
    // Linux doubles the requested size, for its own bookkeeping.
    assert_eq!(socket.recv_buffer_size().unwrap(), 64 * 1024);
    assert_eq!(socket.send_buffer_size().unwrap(), 128 * 1024);
    assert!(accepted.nodelay().unwrap());
}
