use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Response;
use http_body_util::{BodyExt, Full};
use launcher_process::serve::{Body, ServeLimits, serve_http};
use launcher_process::stop::Stop;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::{DEADLINE, exchange, hold_the_clock, in_time, listener};

fn hello() -> Response<Body> {
    Response::new(Full::from("hello").map_err(Into::into).boxed_unsync())
}

async fn start(stop: &Stop) -> TcpStream {
    let listener = listener().await;
    let addr = listener.local_addr().unwrap();
    tokio::spawn(serve_http(listener, stop.clone(), ServeLimits::service(), |_, _| async { hello() }));
    TcpStream::connect(addr).await.unwrap()
}

/// Waits until the server has read all bytes sent so far. It has read them once it answers a request on a later
/// connection.
async fn settle(addr: SocketAddr) {
    let mut later = TcpStream::connect(addr).await.unwrap();
    exchange(&mut later, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
}

/// True if the server has neither sent a byte nor closed the connection.
async fn is_quiet(stream: &TcpStream) -> bool {
    settle(stream.peer_addr().unwrap()).await;
    stream.try_read(&mut [0; 1]).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

async fn pass(seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
}

#[tokio::test]
async fn server_answers_request() {
    let mut stream = start(&Stop::new()).await;
    let answer = exchange(&mut stream, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("hello"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn connection_with_incomplete_head_is_closed_after_30_seconds() {
    let (held, begun) = (hold_the_clock(), Instant::now());
    let mut stream = start(&Stop::new()).await;
    stream.write_all(b"GET / HT").await.unwrap();
    assert!(is_quiet(&stream).await);
    pass(29).await;
    assert!(is_quiet(&stream).await, "closed too early");
    pass(2).await;
    drop(held);
    exchange(&mut stream, b"").await;
    assert_eq!(begun.elapsed().as_secs(), 31);
}

const KEPT: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// Sends a request and reads its answer. The connection stays open.
async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(KEPT).await.unwrap();
    let (mut answer, mut part) = (String::new(), [0; 1024]);
    while !answer.ends_with("hello") {
        let length = stream.read(&mut part).await.unwrap();
        assert!(length > 0, "closed after {answer:?}");
        answer.push_str(std::str::from_utf8(&part[..length]).unwrap());
    }
    answer
}

#[tokio::test(start_paused = true)]
async fn idle_connection_is_closed_after_120_seconds() {
    let held = hold_the_clock();
    let mut stream = start(&Stop::new()).await;
    for _ in 0..3 {
        ask(&mut stream).await;
        pass(100).await;
    }
    ask(&mut stream).await;
    let idle = Instant::now();
    pass(119).await;
    assert!(is_quiet(&stream).await, "closed too early");
    pass(2).await;
    drop(held);
    assert_eq!(stream.read(&mut [0; 16]).await.unwrap(), 0);
    assert_eq!(idle.elapsed().as_secs(), 121);
}

#[tokio::test(start_paused = true)]
async fn reused_connection_with_slow_head_is_closed_after_30_seconds() {
    let held = hold_the_clock();
    let mut stream = start(&Stop::new()).await;
    ask(&mut stream).await;
    pass(100).await;
    let begun = Instant::now();
    for (byte, seconds) in KEPT.iter().zip([10, 10, 9]) {
        stream.write_all(&[*byte]).await.unwrap();
        assert!(is_quiet(&stream).await);
        pass(seconds).await;
    }
    assert!(is_quiet(&stream).await, "closed too early");
    pass(2).await;
    drop(held);
    exchange(&mut stream, b"").await;
    assert_eq!(begun.elapsed().as_secs(), 31);
}

#[tokio::test]
async fn head_with_too_many_lines_or_bytes_gets_431() {
    let lines = "X: y\r\n".repeat(101);
    let mut stream = start(&Stop::new()).await;
    let answer = exchange(&mut stream, format!("GET / HTTP/1.1\r\n{lines}\r\n").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");

    let line = format!("X: {}\r\n", "y".repeat(500_000));
    let mut stream = start(&Stop::new()).await;
    let answer = exchange(&mut stream, format!("GET / HTTP/1.1\r\n{line}\r\n").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[tokio::test]
async fn stopping_server_completes_in_flight_request_and_refuses_connections() {
    let (stop, arrived, go_on) = (Stop::new(), std::sync::Arc::new(Notify::new()), std::sync::Arc::new(Notify::new()));
    let listener = listener().await;
    let addr = listener.local_addr().unwrap();
    let (told, gate) = (arrived.clone(), go_on.clone());
    let server = tokio::spawn(serve_http(listener, stop.clone(), ServeLimits::service(), move |_, _| {
        let (told, gate) = (told.clone(), gate.clone());
        async move {
            told.notify_one();
            gate.notified().await;
            hello()
        }
    }));
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    arrived.notified().await;
    stop.request();
    server.await.unwrap();
    TcpStream::connect(addr).await.unwrap_err();
    go_on.notify_one();
    let mut answer = String::new();
    in_time(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.ends_with("hello"), "{answer}");
    assert!(stop.finish(DEADLINE).await);
}

#[tokio::test(start_paused = true)]
async fn draining_server_answers_requests_and_closes_their_connections() {
    let held = hold_the_clock();
    let stop = Stop::new().with_drain(Duration::from_secs(5));
    let listener = listener().await;
    let addr = listener.local_addr().unwrap();
    let server = tokio::spawn(serve_http(listener, stop.clone(), ServeLimits::service(), |_, _| async { hello() }));
    let mut kept = TcpStream::connect(addr).await.unwrap();
    assert!(!ask(&mut kept).await.contains("connection: close"));
    stop.request();
    pass(4).await;
    let mut new = TcpStream::connect(addr).await.unwrap();
    for stream in [&mut kept, &mut new] {
        let answer = ask(stream).await;
        assert!(answer.contains("connection: close\r\n"), "{answer}");
        assert_eq!(stream.read(&mut [0; 16]).await.unwrap(), 0, "it closes as it said");
    }
    // All answers are read, so the clock may advance automatically again.
    drop(held);
    server.await.unwrap();
    TcpStream::connect(addr).await.unwrap_err();
    assert!(stop.finish(Duration::from_secs(10)).await);
}

/// Sends a request on a new connection. `None` if the server refuses the connection.
fn ask_once(addr: SocketAddr) -> Option<io::Result<String>> {
    let mut stream = std::net::TcpStream::connect(addr).ok()?;
    let mut answer = String::new();
    let exchanged = stream
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .and_then(|()| stream.read_to_string(&mut answer));
    Some(exchanged.map(|_| answer))
}

/// Every established connection must get an answer, even if the drain time is zero.
#[tokio::test(flavor = "multi_thread")]
async fn stop_under_load_resets_no_connection() {
    for drain in [Duration::ZERO, Duration::from_millis(200)] {
        let stop = Stop::new().with_drain(drain);
        let listener = listener().await;
        let addr = listener.local_addr().unwrap();
        let server = tokio::spawn(serve_http(listener, stop.clone(), ServeLimits::service(), |_, _| async {
            tokio::time::sleep(Duration::from_millis(2)).await; // pacing: requests are in flight when the server stops
            hello()
        }));
        let answered = Arc::new(AtomicUsize::new(0));
        let clients: Vec<_> = (0..64)
            .map(|_| {
                let answered = answered.clone();
                std::thread::spawn(move || {
                    while let Some(answer) = ask_once(addr) {
                        let answer = answer.unwrap_or_else(|error| format!("{error}"));
                        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("hello"), "{answer:?}");
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        while answered.load(Ordering::Relaxed) < 500 {
            tokio::task::yield_now().await;
        }
        stop.request();
        server.await.unwrap();
        assert!(stop.finish(DEADLINE).await, "requests in flight are done soon");
        let failed = clients.into_iter().filter_map(|client| client.join().err()).count();
        assert_eq!(failed, 0, "of 64 clients, with a drain of {drain:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn request_on_connection_opened_before_stop_is_answered() {
    let held = hold_the_clock();
    let (stop, listener) = (Stop::new(), listener().await);
    let addr = listener.local_addr().unwrap();
    let mut streams = [TcpStream::connect(addr).await.unwrap(), TcpStream::connect(addr).await.unwrap()];
    let server = tokio::spawn(serve_http(listener, stop.clone(), ServeLimits::service(), |_, _| async { hello() }));
    let mut begun = TcpStream::connect(addr).await.unwrap();
    begun.write_all(&KEPT[..5]).await.unwrap();
    stop.request();
    // Wait until the server has closed its listener.
    while !server.is_finished() {
        tokio::time::advance(Duration::from_millis(10)).await;
    }
    server.await.unwrap();
    tokio::time::advance(Duration::from_millis(500)).await;
    begun.write_all(&KEPT[5..]).await.unwrap();
    let mut rest = String::new();
    begun.read_to_string(&mut rest).await.unwrap();
    assert!(rest.ends_with("hello"), "{rest}");
    assert!(ask(&mut streams[0]).await.contains("connection: close"));
    // Let the clock advance: one second after the stop, the server closes the connection that sent no request.
    drop(held);
    assert_eq!(streams[1].read(&mut [0; 16]).await.unwrap(), 0);
    assert!(stop.finish(Duration::from_secs(2)).await);
}
