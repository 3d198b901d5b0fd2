use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use launcher_process::listener::Address;
use launcher_process::listener::ListenOptions;
use launcher_process::listener::{Listener, Stream};
use socket2::SockRef;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Returns a folder, and the path of a socket in it. The folder is removed when it is dropped.
fn socket() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("http.sock");
    (folder, path)
}

fn bind(path: &Path) -> std::io::Result<Listener> {
    Listener::bind(&Address::Unix(path.to_owned()), &ListenOptions::default())
}

#[tokio::test]
async fn only_its_user_can_connect_to_a_unix_socket() {
    let (_folder, path) = socket();
    let _listener = bind(&path).unwrap();
    let file = std::fs::symlink_metadata(&path).unwrap();
    assert!(file.file_type().is_socket());
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn unix_socket_carries_bytes_in_both_directions() {
    let (_folder, path) = socket();
    let listener = bind(&path).unwrap();
    let mut client = tokio::net::UnixStream::connect(&path).await.unwrap();
    let (mut accepted, peer) = listener.accept().await.unwrap();
    assert_eq!(peer, None);
    client.write_all(b"ping").await.unwrap();
    client.shutdown().await.unwrap();
    let mut received = String::new();
    accepted.read_to_string(&mut received).await.unwrap();
    accepted.write_all(b"pong").await.unwrap();
    accepted.shutdown().await.unwrap();
    client.read_to_string(&mut received).await.unwrap();
    assert_eq!(received, "pingpong");
}

#[tokio::test]
async fn connections_of_a_unix_socket_have_the_send_buffer_of_the_listener() {
    let (_folder, path) = socket();
    let options = ListenOptions { send_buffer: Some(32 * 1024), ..ListenOptions::default() };
    let listener = Listener::bind(&Address::Unix(path.clone()), &options).unwrap();
    let _client = UnixStream::connect(&path).unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    // Linux doubles the requested size to have room for its bookkeeping.
    assert_eq!(SockRef::from(&accepted).send_buffer_size().unwrap(), 64 * 1024);
}

#[tokio::test]
async fn stale_socket_file_is_replaced() {
    let (_folder, path) = socket();
    // Closing a Unix socket does not remove its file.
    drop(UnixListener::bind(&path).unwrap());
    assert_eq!(UnixStream::connect(&path).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    let listener = bind(&path).unwrap();
    let _client = UnixStream::connect(&path).unwrap();
    assert!(matches!(listener.accept().await.unwrap(), (Stream::Unix(_), None)));
}

#[tokio::test]
async fn socket_of_a_listening_process_is_not_taken() {
    let (_folder, path) = socket();
    let listener = bind(&path).unwrap();
    assert_eq!(bind(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
    let _client = UnixStream::connect(&path).unwrap();
    listener.accept().await.unwrap();
}

#[tokio::test]
async fn file_that_is_not_a_socket_is_kept() {
    let (folder, path) = socket();
    std::fs::write(&path, "notes").unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for path in [&path, &link] {
        let error = bind(path).unwrap_err();
        assert!(error.to_string().contains("not a socket; remove it"), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "notes");
}

#[tokio::test]
async fn socket_in_a_missing_folder_is_an_error() {
    let (folder, path) = socket();
    drop(folder);
    assert_eq!(bind(&path).unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn tcp_listener_reports_the_address_of_its_peers() {
    for unspecified in [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)] {
        let address = SocketAddr::new(unspecified, 0).into();
        let Ok(listener) = Listener::bind(&address, &ListenOptions::default()) else {
            assert!(unspecified.is_ipv6(), "only IPv6 may be missing");
            continue;
        };
        let Listener::Tcp(bound) = &listener else { unreachable!("the address is a TCP port") };
        let port = bound.local_addr().unwrap().port();
        let _client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        assert_eq!(listener.accept().await.unwrap().1, Some(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    }
}
