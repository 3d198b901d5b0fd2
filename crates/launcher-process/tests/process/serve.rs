use std::time::Duration;

use http::Response;
use http_body_util::{BodyExt, Full};
use launcher_process::serve::{Body, serve_http};
use launcher_process::stop::Stop;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::{exchange, listener};

fn hello() -> Response<Body> {
    Response::new(Full::from("hello").map_err(Into::into).boxed_unsync())
}

async fn start(stop: &Stop) -> TcpStream {
    let listener = listener().await;
    let addr = listener.local_addr().unwrap();
    tokio::spawn(serve_http(listener, stop.clone(), |_, _| async { hello() }));
    TcpStream::connect(addr).await.unwrap()
}

#[tokio::test]
async fn answers() {
    let mut stream = start(&Stop::new()).await;
    let answer = exchange(&mut stream, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("hello"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let mut stream = start(&Stop::new()).await;
    let started = Instant::now();
    exchange(&mut stream, b"GET / HT").await;
    assert!(started.elapsed() <= Duration::from_secs(31), "closed after {:?}", started.elapsed());
}

#[tokio::test]
async fn too_many_header_lines_and_too_large_a_head_are_refused() {
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
async fn a_stop_lets_a_request_in_flight_finish_and_takes_no_other() {
    let (stop, arrived, go_on) = (Stop::new(), std::sync::Arc::new(Notify::new()), std::sync::Arc::new(Notify::new()));
    let listener = listener().await;
    let addr = listener.local_addr().unwrap();
    let (told, gate) = (arrived.clone(), go_on.clone());
    let server = tokio::spawn(serve_http(listener, stop.clone(), move |_, _| {
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
    timeout(Duration::from_secs(10), stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.ends_with("hello"), "{answer}");
    assert!(stop.finish(Duration::from_secs(10)).await);
}
