//! Limits of a listener: the number of connections, the time of stalled readers, and the memory of large heads.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use http::Response;
use http_body_util::{BodyExt, Full};
use launcher_process::listener::listen;
use launcher_process::serve::{Body, Buffers, ServeLimits, serve_http};
use launcher_process::stop::Stop;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::yield_now;
use tokio::time::advance;

use crate::{exchange, hold_the_clock, in_time};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// Starts a server whose answers have `answer` bytes. The server ends with the test's runtime.
fn start(limits: ServeLimits, answer: usize) -> SocketAddr {
    start_at("127.0.0.1:0", limits, answer)
}

fn start_at(address: &str, limits: ServeLimits, answer: usize) -> SocketAddr {
    let listener = listen(address.parse().unwrap(), &limits.listen_options()).unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(serve_http(listener, Stop::new(), limits, move |request, peer: SocketAddr| async move {
        // Keep the unread body until the test's runtime ends, as if a handler were reading it.
        tokio::spawn(async move {
            let _unread = request;
            std::future::pending::<()>().await;
        });
        let body = if answer == 0 { peer.to_string() } else { "x".repeat(answer) };
        let response: Response<Body> = Response::new(Full::from(body).map_err(Into::into).boxed_unsync());
        response
    }));
    addr
}

async fn ask(addr: SocketAddr) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    in_time(exchange(&mut stream, REQUEST)).await
}

/// Connects to the server, and sends the first `bytes` bytes of an incomplete head.
async fn begin(addr: SocketAddr, bytes: usize) -> TcpStream {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let start = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
    stream.write_all(format!("{start}{}", "y".repeat(bytes - start.len())).as_bytes()).await.unwrap();
    stream
}

/// Reads until the server closes the connection, and returns the number of bytes. A reset counts as a close.
async fn drain(stream: &mut TcpStream) -> usize {
    let (mut total, mut part) = (0, vec![0; 64 * 1024]);
    while let Ok(length @ 1..) = in_time(stream.read(&mut part)).await {
        total += length;
    }
    total
}

#[tokio::test]
async fn stalled_connection_is_closed_at_the_connection_limit() {
    let addr = start(ServeLimits { connections: 2, ..ServeLimits::service() }, 5);
    let mut slow = [begin(addr, 100).await, begin(addr, 100).await];
    assert!(ask(addr).await.ends_with("xxxxx"));
    assert_eq!(drain(&mut slow[0]).await, 0, "the one that had waited for longest");
    slow[1].write_all(b"\r\nConnection: close\r\n\r\n").await.unwrap();
    assert!(exchange(&mut slow[1], b"").await.starts_with("HTTP/1.1 200 "), "the other one goes on");
}

#[tokio::test]
async fn connection_with_unfinished_body_is_closed_at_the_connection_limit() {
    let addr = start(ServeLimits { connections: 1, ..ServeLimits::service() }, 5);
    let mut slow = TcpStream::connect(addr).await.unwrap();
    slow.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1").await.unwrap();
    assert!(ask(addr).await.ends_with("xxxxx"));
    assert!(drain(&mut slow).await > 0, "its answer was sent before");
}

#[tokio::test]
async fn stalled_reader_is_closed_and_frees_its_slot() {
    let limits = ServeLimits { connections: 1, write_stall: Duration::from_secs(5), ..ServeLimits::service() };
    let addr = start(limits, 8 << 20);
    let mut stalled = TcpStream::connect(addr).await.unwrap();
    stalled.write_all(REQUEST).await.unwrap();
    assert!(ask(addr).await.len() > 8 << 20);
    assert!(drain(&mut stalled).await < 8 << 20, "its answer was cut off");
}

#[tokio::test(start_paused = true)]
async fn slow_reader_that_makes_progress_is_kept() {
    let _held = hold_the_clock();
    let addr = start(ServeLimits { write_stall: Duration::from_secs(2), ..ServeLimits::service() }, 8 << 20);
    // With a small buffer, the server makes progress after every few reads.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 * 1024).unwrap();
    let mut slow = socket.connect(addr).await.unwrap();
    slow.write_all(REQUEST).await.unwrap();
    let (mut total, mut part) = (0, vec![0; 64 * 1024]);
    while let Ok(length @ 1..) = slow.read(&mut part).await {
        total += length;
        // The server writes what the kernel accepts.
        for _ in 0..4 {
            yield_now().await;
        }
        advance(Duration::from_millis(50)).await;
    }
    assert!(total > 8 << 20, "{total}");
}

#[tokio::test]
async fn large_head_waits_while_memory_budget_is_used_up() {
    let addr = start(ServeLimits { large_heads: 16 * 1024, ..ServeLimits::service() }, 5);
    let large = begin(addr, 10_000).await;
    // Once this small request is answered, the server has read the large head and reserved its memory.
    assert!(ask(addr).await.ends_with("xxxxx"));
    let mut next = begin(addr, 10_000).await;
    next.write_all(b"\r\nConnection: close\r\n\r\n").await.unwrap();
    for _ in 0..4 {
        assert!(ask(addr).await.ends_with("xxxxx"), "small heads need none of it");
        let answered = next.try_read(&mut [0; 1]);
        assert!(answered.is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "it waits for the memory");
    }
    drop(large);
    assert!(in_time(exchange(&mut next, b"")).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn connection_with_very_large_head_is_closed_after_its_answer() {
    let addr = start(ServeLimits::service(), 5);
    let mut stream = begin(addr, 40_000).await;
    let answer = in_time(exchange(&mut stream, b"\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("connection: close\r\n"), "{answer}");
}

#[tokio::test]
async fn ipv4_peer_of_dual_stack_listener_has_ipv4_address() {
    let port = start_at("0.0.0.0:0", ServeLimits::service(), 0).port();
    let answer = ask(SocketAddr::from(([127, 0, 0, 1], port))).await;
    assert!(answer.contains("\r\n\r\n127.0.0.1:"), "{answer}");
}

#[test]
fn worst_case_memory_counts_kernel_buffers_twice() {
    let limits = ServeLimits {
        connections: 10,
        backlog: 5,
        buffers: Buffers { receive: 1000, send: 2000 },
        large_heads: 7,
        large_answers: 6,
        write_stall: Duration::ZERO,
    };
    assert_eq!(limits.worst_case_bytes(), (10 + 32) * (6000 + 44 * 1024) + 5 * 2000 + 7 + 6);
}
