//! Bodies longer than 4 GiB, whose length exceeds 32 bits.

use super::support::{ALICE, App, Setup, eventually, policy};

/// Body length that overflows 32 bits: a 32-bit counter would end the body after five bytes.
const HUGE: u64 = (1 << 32) + 5;

#[tokio::test]
async fn request_body_over_4_gib_does_not_end_early() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.read_until(b"/hidden").await;
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        stream.read_end().await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: {HUGE}\r\n\r\nhello")).await;
    eventually("the body's start is there", || setup.app.seen().ends_with("\r\n\r\nhello")).await;
    let hidden = format!("GET /hidden HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n");
    client.send(&hidden).await;
    assert_eq!(client.read_response().await.body, "ok");
    let seen = setup.app.seen();
    assert!(seen.contains(&format!("\r\nContent-Length: {HUGE}\r\n")), "{seen}");
    assert!(seen.ends_with(&format!("\r\n\r\nhello{hidden}")), "the hidden request is part of the body: {seen}");
    assert_eq!(setup.app.connections(), 1);
}

#[tokio::test]
async fn response_body_over_4_gib_does_not_end_early() {
    let (sender, receiver) = tokio::sync::watch::channel(());
    let app = App::start(move |mut stream| {
        let mut told = receiver.clone();
        async move {
            stream.read_head().await;
            stream.write(format!("HTTP/1.1 200 OK\r\nContent-Length: {HUGE}\r\n\r\nhello")).await;
            told.changed().await.unwrap();
            stream.write(" world").await;
            stream.read_end().await;
        }
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    let head = client.read_head().await;
    assert_eq!(head.header("Content-Length"), Some(HUGE.to_string().as_str()));
    assert_eq!(client.read_exact(5).await, b"hello");
    // This request must not reach the app: the response of the first request is still incomplete.
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    sender.send(()).unwrap();
    assert_eq!(client.read_exact(6).await, b" world");
    assert_eq!(setup.app.seen().matches("GET / ").count(), 1);
}
