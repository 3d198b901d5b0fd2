//! More clients than connection slots: the owner is served, and other connections are displaced.

use std::net::SocketAddr;

use launcher_process::serve::raise_open_file_limit;
use tokio::net::TcpStream;

use super::support::{ALICE, App, Client, Setup, eventually, policy, soon};
use super::websocket::{SWITCH, upgrade};

/// Number of clients. It exceeds the sidecar's 264 connection slots.
const CROWD: usize = 400;
const GET: &str = "GET / HTTP/1.1\r\nHost: w\r\nX-Auth-Request-Email: alice@example.org\r\n\r\n";

/// Starts an app that answers GET at once, accepts WebSockets, and reads the bodies of PUT requests without an answer.
async fn app() -> App {
    App::start(|mut stream| async move {
        while let Some(head) = stream.read_head().await {
            if head.contains("Upgrade: websocket") {
                stream.write(SWITCH).await;
                stream.read_end().await;
            } else if head.starts_with("PUT") {
                drop(tokio::io::copy(&mut stream.stream, &mut tokio::io::sink()).await);
            } else {
                stream.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
            }
        }
    })
    .await
}

/// Connects `CROWD` clients one after the other. Each client sends only `bytes`.
async fn crowd(addr: SocketAddr, bytes: &str) -> Vec<Client<TcpStream>> {
    let mut clients = Vec::new();
    for _ in 0..CROWD {
        let mut client = Client::connect(addr).await;
        // Ignore the error: the sidecar may already have closed this connection to free its slot.
        drop(tokio::io::AsyncWriteExt::write_all(&mut client.io, bytes.as_bytes()).await);
        clients.push(client);
    }
    clients
}

async fn assert_served_beside(bytes: &str) {
    raise_open_file_limit();
    let setup = Setup::with(policy(), app().await).await;
    let mut crowd = crowd(setup.addr, bytes).await;
    for _ in 0..20 {
        assert_eq!(setup.status(GET).await, 200, "beside {CROWD} clients that sent {bytes:?}");
    }
    assert!(setup.sidecar.activity().open_connections <= 264);
    // The sidecar displaces the oldest client first, so this connection must have ended.
    crowd[0].read_to_end().await;
}

#[tokio::test]
async fn owner_is_served_while_silent_clients_exceed_slots() {
    assert_served_beside("").await;
}

#[tokio::test]
async fn owner_is_served_while_clients_with_unfinished_heads_exceed_slots() {
    assert_served_beside("GET / HTTP/1.1\r\nHost: w\r\nA:").await;
}

#[tokio::test]
async fn owner_is_served_while_stalled_uploads_of_owner_exceed_slots() {
    assert_served_beside(&format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 9\r\n\r\n")).await;
}

#[tokio::test]
async fn owner_is_served_while_idle_connections_of_owner_exceed_slots() {
    assert_served_beside(GET).await;
}

#[tokio::test]
async fn owner_connections_stay_open_when_other_clients_fill_all_slots() {
    raise_open_file_limit();
    let setup = Setup::with(policy(), app().await).await;
    let (mut kept, mut socket, mut upload) = (setup.client().await, setup.client().await, setup.client().await);
    kept.send(GET).await;
    assert_eq!(kept.read_response().await.status, 200);
    socket.send(upgrade(ALICE)).await;
    assert_eq!(socket.read_head().await.status, 101);
    upload.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 9\r\n\r\nab")).await;
    eventually("the upload has begun", || setup.app.seen().contains("PUT / ")).await;
    for bytes in ["", "GET / HTTP/1.1\r\nHost: w\r\n\r\n"] {
        drop(crowd(setup.addr, bytes).await);
    }
    kept.send(GET).await;
    assert_eq!(kept.read_response().await.status, 200);
    for client in [&mut socket, &mut upload] {
        let read = client.io.try_read(&mut [0; 1]);
        assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "the connection is closed");
    }
    let mut registry = prometheus_client::registry::Registry::default();
    setup.sidecar.register_metrics(&mut registry);
    let mut metrics = String::new();
    prometheus_client::encoding::text::encode(&mut metrics, &registry).unwrap();
    let displaced = metrics.lines().find_map(|line| line.strip_prefix("sidecar_displaced_connections_total "));
    assert!(displaced.unwrap().parse::<usize>().unwrap() > 200, "{metrics}");
}

#[tokio::test]
async fn displaced_connection_with_unread_response_is_reset() {
    let body = "x".repeat(1 << 19);
    let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let setup = Setup::answering(response.leak()).await;
    let small = tokio::net::TcpSocket::new_v4().unwrap();
    small.set_recv_buffer_size(4096).unwrap();
    let mut client = Client::over(small.connect(setup.addr).await.unwrap());
    client.send(GET).await;
    client.read_head().await;
    let mut crowd = Vec::new();
    while setup.sidecar.activity().open_connections < 258 {
        let mut other = setup.client().await;
        other.send(GET).await;
        other.read_response().await;
        crowd.push(other);
    }
    crowd.push(setup.client().await);
    // The connection must be reset, so that the kernel frees the unread bytes. After a normal close, the kernel would
    // keep these bytes for minutes.
    let left = soon(tokio::io::AsyncReadExt::read_to_end(&mut client.io, &mut Vec::new())).await;
    assert_eq!(left.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}
