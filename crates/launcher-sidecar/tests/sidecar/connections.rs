//! Reuse of connections to the app, and close of client connections.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::Barrier;

use super::support::{ALICE, App, Setup, eventually, policy};

/// Number of connections that a busy ingress controller keeps to one sidecar.
const MANY: usize = 200;

#[tokio::test]
async fn second_requests_of_many_clients_reuse_app_connections() {
    let all_here = Arc::new(Barrier::new(MANY));
    let app = App::start(move |mut stream| {
        let all_here = all_here.clone();
        async move {
            while stream.read_head().await.is_some() {
                all_here.wait().await;
                stream.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
            }
        }
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut clients = Vec::new();
    for _ in 0..MANY {
        clients.push(setup.client().await);
    }
    for _ in 0..2 {
        for client in &mut clients {
            client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
        }
        for client in &mut clients {
            assert_eq!(client.read_response().await.status, 200);
        }
        assert_eq!(setup.app.connections(), MANY);
    }
}

#[tokio::test]
async fn app_connection_with_the_buffers_of_a_bulk_transfer_is_not_reused() {
    const LARGE: usize = 1 << 20;
    let app = App::start(|mut stream| async move {
        while let Some(head) = stream.read_head().await {
            if head.starts_with("PUT ") {
                stream.read_exact(LARGE).await;
            }
            let body = "x".repeat(if head.contains("/large ") { LARGE } else { 2 });
            stream.write(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())).await;
        }
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let upload = format!("Content-Length: {LARGE}\r\n\r\n{}", "x".repeat(LARGE));
    for (start, rest, connections) in [
        ("GET /large", "\r\n", 1),
        ("GET /", "\r\n", 2),
        ("PUT /", upload.as_str(), 2),
        ("GET /", "\r\n", 3),
        ("GET /", "\r\n", 3),
    ] {
        assert_eq!(setup.status(format!("{start} HTTP/1.1\r\nHost: w\r\n{ALICE}{rest}")).await, 200, "{start}");
        assert_eq!(setup.app.connections(), connections, "{start}");
    }
}

#[tokio::test]
async fn request_with_connection_close_gets_whole_response_before_close() {
    let body = "x".repeat(1 << 20);
    let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let setup = Setup::answering(response.leak()).await;
    for version in ["HTTP/1.1", "HTTP/1.0"] {
        let answer = setup.send(format!("GET / {version}\r\nHost: w\r\n{ALICE}Connection: close\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with(&body), "{} bytes", answer.len());
    }
    // The sidecar ignores the second request, because the first request closes the connection. The client must still
    // receive the whole first response.
    let behind = format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}Connection: close\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
    assert!(setup.send(behind).await.ends_with(&body));
    assert!(!setup.app.seen().contains("/2"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn client_connections_have_tcp_keepalive() {
    let setup = Setup::new().await;
    let mut client = setup.client().await;
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    assert_eq!(client.read_response().await.status, 200);
    let near = client.io.local_addr().unwrap();
    eventually("/proc/net/tcp to show the keepalive timer, 02", || timer_of(setup.addr, near).starts_with("02:")).await;
}

/// Returns the kernel's timer of the connection from `near` to `far`, as `/proc/net/tcp` shows it: type and remaining
/// time.
#[cfg(target_os = "linux")]
fn timer_of(near: SocketAddr, far: SocketAddr) -> String {
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let (near, far) = (format!(":{:04X}", near.port()), format!(":{:04X}", far.port()));
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let found = lines.find(|words| words[1].ends_with(&near) && words[2].ends_with(&far)).unwrap();
    found[5].to_owned()
}
