//! Limits on the size of heads, and timeouts of slow heads and idle connections.

use std::time::Duration;

use launcher_process::stop::Stop;
use launcher_sidecar::Sidecar;
use launcher_sidecar::frame::Frame;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::support::{ALICE, Client, Setup, policy, soon};

#[tokio::test]
async fn head_with_more_than_100_lines_gets_431() {
    let setup = Setup::new().await;
    let lines = |count: usize| format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}{}\r\n", "A: b\r\n".repeat(count - 2));
    for count in [101, 5000] {
        let answer = setup.send(lines(count)).await;
        assert!(answer.starts_with("HTTP/1.1 431 ") && answer.contains("\r\nConnection: close\r\n"), "{answer}");
    }
    setup.assert_app_untouched().await;
    assert_eq!(setup.status(lines(100)).await, 200);
}

#[tokio::test]
async fn head_over_64_kib_gets_431() {
    let setup = Setup::new().await;
    let sized = |size: usize| {
        let start = format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}A: ");
        format!("{start}{}\r\n\r\n", "b".repeat(size - start.len() - 4))
    };
    for size in [64 * 1024 + 1, 500_000] {
        assert_eq!(setup.status(sized(size)).await, 431, "{size}");
    }
    let long_target = format!("GET /{} HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n", "a".repeat(70_000));
    assert_eq!(setup.status(long_target).await, 431);
    setup.assert_app_untouched().await;
    assert_eq!(setup.status(sized(64 * 1024)).await, 200);
}

/// Connects a client to a sidecar through an in-process pipe, because sockets ignore the paused clock. The sidecar has
/// no app.
pub(crate) fn serve() -> (Client<DuplexStream>, JoinHandle<()>, Stop) {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let sidecar = Sidecar::new(policy(), "127.0.0.1:9".parse().unwrap(), Frame::default());
    let stop = Stop::new();
    let served = stop.clone();
    let task = tokio::spawn(async move { sidecar.serve_connection(far, None, served).await });
    (Client::over(near), task, stop)
}

#[tokio::test(start_paused = true)]
async fn slow_first_head_on_connection_gets_408_after_30_seconds() {
    let (client, task, _stop) = serve();
    let begun = Instant::now();
    let (mut reader, mut writer) = tokio::io::split(client.io);
    let dripping = tokio::spawn(async move {
        for byte in "GET / HTTP/1.1\r\n".bytes() {
            if writer.write_all(&[byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_secs(9)).await; // simulated time
        }
    });
    let mut status = [0; 13];
    reader.read_exact(&mut status).await.unwrap();
    assert_eq!((&status, begun.elapsed().as_secs()), (b"HTTP/1.1 408 ", 30));
    // The client keeps sending after the response. The sidecar must end the connection nevertheless.
    soon(task).await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 32);
    reader.read_to_end(&mut Vec::new()).await.unwrap();
    dripping.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn silent_new_connection_is_closed_after_30_seconds() {
    let (_client, task, _stop) = serve();
    let begun = Instant::now();
    task.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn idle_connection_is_closed_after_120_seconds() {
    let (mut client, task, _stop) = serve();
    client.send("GET / HTTP/1.1\r\nHost: w\r\n\r\n").await;
    assert_eq!(client.read_response().await.status, 403);
    let answered = Instant::now();
    // An empty line does not begin a request, so it must not restart the idle timeout.
    tokio::time::sleep(Duration::from_secs(10)).await; // simulated time
    client.send("\r\n").await;
    task.await.unwrap();
    assert_eq!(answered.elapsed().as_secs(), 120);
}

#[tokio::test(start_paused = true)]
async fn one_empty_line_before_request_is_skipped_and_second_is_refused() {
    let (mut client, _task, _stop) = serve();
    client.send("\r\nGET / HTTP/1.1\r\nHost: w\r\n\r\n").await;
    assert_eq!(client.read_response().await.status, 403);
    client.send("\r\n\r\n").await;
    assert_eq!(client.read_response().await.status, 400);
}

#[tokio::test(start_paused = true)]
async fn slow_second_head_on_connection_gets_408_after_30_seconds() {
    let (mut client, task, _stop) = serve();
    client.send("GET / HTTP/1.1\r\nHost: w\r\n\r\nGET /").await;
    assert_eq!(client.read_response().await.status, 403);
    let answered = Instant::now();
    assert_eq!(client.read_response().await.status, 408);
    assert_eq!(answered.elapsed().as_secs(), 30);
    soon(task).await.unwrap();
    assert!(client.is_closed().await);
}

#[tokio::test(start_paused = true)]
async fn stop_closes_idle_connection_immediately() {
    let (_client, task, stop) = serve();
    tokio::time::sleep(Duration::from_secs(1)).await; // simulated time
    let begun = Instant::now();
    stop.request();
    task.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 0);
}

#[tokio::test]
async fn client_that_sends_body_of_refused_request_gets_response() {
    let setup = Setup::new().await;
    let mut client = setup.client().await;
    let body = "b".repeat(1_000_000);
    client.send(format!("POST / HTTP/1.1\r\nHost: w\r\nContent-Length: 1000000\r\n\r\n{body}")).await;
    assert!(client.read_to_end().await.starts_with("HTTP/1.1 403 "));
    setup.assert_app_untouched().await;
}
