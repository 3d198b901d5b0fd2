//! Responses of the app, as the client receives them.

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::support::{ALICE, App, Setup, policy};

fn get(lines: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}{lines}\r\n")
}

#[tokio::test]
async fn response_with_each_framing_arrives_complete() {
    for (response, seen) in [
        (
            "HTTP/1.1 201 Made It\r\nX-A:  b \r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: 5\r\n\
             Content-Length: 3\r\n\r\nabc",
            "HTTP/1.1 201 Made It\r\nX-A: b\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n3;x\r\nabc\r\n0\r\nT: v\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        ),
        (
            "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
        ),
        (
            "HTTP/1.1 304 Not Modified\r\nETag: e\r\nContent-Length: 9\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nETag: e\r\nContent-Length: 9\r\nConnection: close\r\n\r\n",
        ),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: l\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nLink: l\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        ),
    ] {
        let setup = Setup::answering(response).await;
        assert_eq!(setup.send(get("Connection: close\r\n")).await, seen);
    }
}

#[tokio::test]
async fn response_without_length_ends_when_app_closes_connection() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write("HTTP/1.0 200 OK\r\n\r\nabc").await;
        stream.write("def").await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let answer = setup.send(get("Connection: close\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"), "{answer}");
    assert!(answer.ends_with("0\r\n\r\n") && answer.contains("abc"), "{answer}");
    let answer = setup.send(format!("GET / HTTP/1.0\r\n{ALICE}\r\n")).await;
    assert_eq!(answer, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabcdef");
}

#[tokio::test]
async fn head_response_has_no_body_and_connection_is_reused() {
    let setup = Setup::answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").await;
    let mut client = setup.client().await;
    for _ in 0..2 {
        client.send(format!("HEAD / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
        assert_eq!(client.read_head().await.header("Content-Length"), Some("5"));
    }
    assert_eq!(setup.app.connections(), 1);
}

#[tokio::test]
async fn malformed_app_response_gets_client_502_with_the_broken_rule() {
    let (length, folded) = ("Content-Length", "a header line is folded");
    for (response, rule) in [
        ("garbage\r\n\r\n", "the first line is not a status line"),
        ("\r\n\r\n", "the first line is not a status line"),
        ("HTTP/1.1 200 OK\nContent-Length: 0\n\n", "line feed alone"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "has both"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "more than one Content-Length"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc", length),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc", "Transfer-Encoding is not chunked"),
        ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding is not chunked"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "the length of a chunk"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno-colon\r\n\r\n", "after the last chunk"),
        ("HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n", folded),
        ("HTTP/1.1 200 OK\r\nA : b\r\nContent-Length: 0\r\n\r\n", folded),
        ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "switches"),
        ("HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", "its status"),
        (format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(300)).leak(), "more than 200 lines"),
    ] {
        let setup = Setup::answering(response).await;
        let mut client = setup.client().await;
        client.send(get("Accept: text/html\r\n")).await;
        let answer = client.read_response().await;
        assert_eq!(answer.status, 502, "{response}");
        assert!(answer.body.contains("<h1>") && answer.body.contains(rule), "{rule}: {}", answer.body);
    }
}

#[tokio::test]
async fn incomplete_app_response_head_gets_client_502_and_keeps_connection() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write("HTTP/1.1 200").await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    for _ in 0..2 {
        client.send(get("")).await;
        assert_eq!(client.read_response().await.status, 502);
    }
}

#[tokio::test]
async fn truncated_app_response_body_stays_incomplete_for_client() {
    for (start, seen) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "abc"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "3\r\nabc\r\n"),
    ] {
        let app = App::start(move |mut stream| async move {
            stream.read_head().await;
            stream.write(start).await;
        })
        .await;
        let setup = Setup::with(policy(), app).await;
        let answer = setup.send(get("")).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with(seen), "{answer}");
    }
}

#[tokio::test]
async fn response_trailer_line_without_colon_aborts_the_response() {
    let has_read = Arc::new(Notify::new());
    let app = App::start({
        let has_read = has_read.clone();
        move |mut stream| {
            let has_read = has_read.clone();
            async move {
                stream.read_head().await;
                stream.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n").await;
                has_read.notified().await;
                stream.write("0\r\nno-colon\r\n\r\n").await;
                stream.read_end().await;
            }
        }
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(get("")).await;
    client.read_until(b"3\r\nabc\r\n").await;
    has_read.notify_one();
    assert!(client.is_closed().await, "the body has no end");
}

#[tokio::test]
async fn extra_bytes_after_app_response_are_discarded() {
    let setup = Setup::answering(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    )
    .await;
    let mut client = setup.client().await;
    for _ in 0..3 {
        client.send(get("")).await;
        assert_eq!(client.read_response().await.body, "ok");
    }
    assert_eq!(setup.app.connections(), 3);
}

#[tokio::test]
async fn response_before_end_of_upload_is_forwarded_and_closes_connection() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno").await;
        assert!(stream.read_end().await);
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(format!("POST / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 1000000\r\n\r\n")).await;
    let answer = client.read_response().await;
    assert_eq!((answer.status, answer.header("Connection")), (413, Some("close")));
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn error_response_before_end_of_body_closes_connection() {
    let closing = App::start(|mut stream| async move {
        stream.read_head().await;
    })
    .await;
    let invalid = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write("garbage\r\n\r\n").await;
        stream.read_end().await;
    })
    .await;
    let mut absent = App::answering("").await;
    absent.addr = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for (app, status) in [(closing, 502), (invalid, 502), (absent, 503)] {
        let setup = Setup::with(policy(), app).await;
        let mut client = setup.client().await;
        client.send(format!("POST / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 1000\r\n\r\na")).await;
        let answer = client.read_response().await;
        assert_eq!((answer.status, answer.header("Connection")), (status, Some("close")));
        // The rest of the body must not be read as the next request.
        client.send(get("")).await;
        assert!(client.is_closed().await, "{status}");
    }
}

#[tokio::test]
async fn request_to_app_that_does_not_listen_gets_503_with_reloading_page() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let mut app = App::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    app.addr = port;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(get("Accept: text/html\r\n")).await;
    let page = client.read_response().await;
    assert_eq!((page.status, page.header("Retry-After")), (503, Some("2")));
    assert!(page.body.contains("http-equiv=\"refresh\""), "{}", page.body);
    client.send(get("Accept: application/json\r\n")).await;
    let line = client.read_response().await;
    assert_eq!((line.status, line.header("Content-Type")), (503, Some("text/plain; charset=utf-8")));
    assert!(setup.sidecar.check_app().await.is_err());
    // Once the app listens, the next request must succeed.
    let listener = TcpListener::bind(port).await.unwrap();
    client.send(get("")).await;
    let (mut stream, _) = super::support::soon(listener.accept()).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    assert_eq!(client.read_response().await.status, 204);
}

#[tokio::test]
async fn location_at_the_app_or_at_own_host_without_tls_stays_on_the_workshop() {
    let app = App::start(|mut stream| async move {
        while let Some(head) = stream.read_head().await {
            let (status, location) = head.split(' ').nth(1).unwrap().trim_start_matches('/').split_once('?').unwrap();
            stream.write(format!("HTTP/1.1 {status} X\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")).await;
        }
    })
    .await;
    let port = app.addr.port();
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    for (proto, location, expected) in [
        ("https", format!("http://127.0.0.1:{port}/login"), "/login"),
        ("http", format!("http://localhost:{port}/login"), "/login"),
        ("https", "http://w/login".to_owned(), "/login"),
        ("http", "http://w/login".to_owned(), "http://w/login"),
        ("https", "http://example.org/login".to_owned(), "http://example.org/login"),
    ] {
        // Redirects, and the address of what a request has created.
        for status in [201, 302, 308] {
            let lines = format!("Host: w\r\nX-Forwarded-Proto: {proto}\r\n{ALICE}\r\n");
            client.send(format!("GET /{status}?{location} HTTP/1.1\r\n{lines}")).await;
            let answer = client.read_response().await;
            assert_eq!((answer.status, answer.header("Location")), (status, Some(expected)));
        }
    }
}
