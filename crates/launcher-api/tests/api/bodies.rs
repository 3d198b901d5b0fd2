//! Request bodies that arrive late or not at all.

use std::time::Duration;

use launcher_testkit::{TestApp, Users, in_time};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

const JSON: (&str, &str) = ("/api/v1/templates/01890000-0000-7000-8000-000000000000/launch", "application/json");
const FORM: (&str, &str) = ("/launch/01890000-0000-7000-8000-000000000000", "application/x-www-form-urlencoded");

/// Sends a head that announces a body of 100 bytes, and the first bytes of the body.
async fn begin(app: &TestApp, (path, content_type): (&str, &str), identity: &str) -> TcpStream {
    let mut stream = TcpStream::connect(app.addr).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{identity}Content-Type: {content_type}\r\n\
         Content-Length: 100\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Reads the response until its head is complete.
async fn head(stream: &mut TcpStream) -> String {
    let (mut answer, mut part) = (String::new(), [0; 4096]);
    while !answer.contains("\r\n\r\n") {
        let length = stream.read(&mut part).await.unwrap();
        assert!(length > 0, "closed after {answer:?}");
        answer.push_str(&String::from_utf8_lossy(&part[..length]));
    }
    answer
}

#[tokio::test]
async fn request_without_announced_body_is_400_after_30_seconds() {
    let Users { app, .. } = TestApp::start().await;
    for route in [JSON, FORM] {
        let mut stream = begin(&app, route, "X-Auth-Request-Email: alice@example.org\r\n").await;
        // Tokio's paused clock advances only when all tasks wait, so the timeout passes at once.
        tokio::time::pause();
        let begun = Instant::now();
        let answer = head(&mut stream).await;
        let waited = begun.elapsed();
        tokio::time::resume();
        assert!(answer.starts_with("HTTP/1.1 400 "), "{route:?}: {answer}");
        assert!((Duration::from_secs(29)..Duration::from_secs(32)).contains(&waited), "{route:?}: after {waited:?}");
    }
    app.finish().await;
}

#[tokio::test]
async fn refusal_is_sent_before_request_body_arrives() {
    let Users { app, .. } = TestApp::start().await;
    for (identity, status) in
        [("", 401), ("X-Auth-Request-Email: alice@example.org\r\nOrigin: https://evil.example\r\n", 403)]
    {
        for route in [JSON, FORM] {
            let mut stream = begin(&app, route, identity).await;
            let answer = in_time(head(&mut stream)).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        }
    }
    app.finish().await;
}
