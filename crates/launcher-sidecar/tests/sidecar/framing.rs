//! The sidecar refuses requests that two parsers could read differently, and closes their connection.

use super::support::{ALICE, App, Setup, policy};

/// A request hidden in the bytes after another request. Neither the sidecar nor the app may read it as a request.
const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: w\r\nX-Auth-Request-Email: alice@example.org\r\n\r\n";

async fn assert_refused(status: u16, requests: &[String]) {
    let setup = Setup::new().await;
    for request in requests {
        let answer = setup.send(request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?} got {answer}");
        assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{request:?} got {answer}");
    }
    setup.assert_app_untouched().await;
}

fn post(version: &str, lines: &str, body: &str) -> String {
    format!("POST / HTTP/{version}\r\nHost: w\r\n{ALICE}{lines}\r\n{body}{HIDDEN}")
}

#[tokio::test]
async fn content_length_with_transfer_encoding_is_refused() {
    let (length, encoding) = ("Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n");
    let body = "0\r\n\r\n";
    assert_refused(
        400,
        &[
            post("1.1", &format!("{length}{encoding}"), body),
            post("1.1", &format!("{encoding}{length}"), body),
            post("1.1", &format!("{encoding}Content-Length: 0\r\n"), body),
            post("1.1", &format!("{encoding}content-length:\r\n"), body),
        ],
    )
    .await;
}

#[tokio::test]
async fn invalid_transfer_encoding_is_refused() {
    let mut requests = Vec::new();
    for encoding in [
        "xchunked",
        "chunkedx",
        "chunked, chunked",
        "chunked,",
        ",chunked",
        "gzip, chunked",
        "identity",
        "\"chunked\"",
        "chunked;q=1",
        "\x0bchunked",
        "",
    ] {
        requests.push(post("1.1", &format!("Transfer-Encoding: {encoding}\r\n"), "0\r\n\r\n"));
    }
    requests.push(post("1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"));
    requests.push(post("1.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"));
    requests.push(post("1.0", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n"));
    requests.push(post("1.1", "Transfer_Encoding: chunked\r\n", "0\r\n\r\n"));
    assert_refused(400, &requests).await;
}

#[tokio::test]
async fn invalid_content_length_is_refused() {
    let mut requests = Vec::new();
    for length in ["+5", "-5", "5, 5", "5,5", "0x5", "5 5", "", "5.0", "five", "18446744073709551616", "\u{665}"] {
        requests.push(post("1.1", &format!("Content-Length: {length}\r\n"), "hello"));
    }
    requests.push(post("1.1", "Content-Length: 5\r\nContent-Length: 6\r\n", "hello"));
    requests.push(post("1.1", "Content-Length: 5\r\nContent-Length: 5\r\n", "hello"));
    requests.push(post("1.1", "Content_Length: 5\r\n", "hello"));
    assert_refused(400, &requests).await;
}

#[tokio::test]
async fn request_with_ambiguous_head_line_is_refused() {
    let mut requests: Vec<String> = [
        format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}A: b\r\n c\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length : 5\r\n\r\nhello"),
        format!("GET / HTTP/1.1\r\n Host: w\r\n{ALICE}\r\n"),
        format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}A: b\nC: d\r\n\r\n"),
        format!("GET / HTTP/1.1\nHost: w\n{}\n", ALICE.replace('\r', "")),
        format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}A: b\rC: d\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}A: b\0c\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}A: b\x01c\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}: b\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}A\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}A(b): c\r\n\r\n"),
        format!("GET  / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n"),
        format!("GET / HTTP/1.1 \r\nHost: w\r\n{ALICE}\r\n"),
        format!("GET /a b HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n"),
        format!("GET /a#b HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n"),
        format!("GET /\x7f HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n"),
        format!("GET\t/ HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n"),
        format!("G(T / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n"),
        format!("GET / http/1.1\r\nHost: w\r\n{ALICE}\r\n"),
        "\x16\x03\x01\x02\x00\x01\x00\x01".to_owned(),
    ]
    .into();
    requests.push(format!("GET lab HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n"));
    assert_refused(400, &requests).await;
}

#[tokio::test]
async fn invalid_host_or_target_is_refused() {
    assert_refused(
        400,
        &[
            format!("GET / HTTP/1.1\r\n{ALICE}\r\n"),
            format!("GET / HTTP/1.1\r\nHost: w\r\nHost: w\r\n{ALICE}\r\n"),
            format!("GET / HTTP/1.0\r\nHost: w\r\nHost: v\r\n{ALICE}\r\n"),
            format!("GET / HTTP/1.1\r\nHost:\r\n{ALICE}\r\n"),
            format!("GET / HTTP/1.1\r\nHost: w, v\r\n{ALICE}\r\n"),
            format!("GET / HTTP/1.1\r\nHost: w/v\r\n{ALICE}\r\n"),
            format!("GET / HTTP/1.1\r\nHost: u@w\r\n{ALICE}\r\n"),
            format!("GET http://other/ HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n"),
            format!("GET ftp://w/ HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n"),
            format!("GET * HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n"),
        ],
    )
    .await;
}

#[tokio::test]
async fn unsupported_http_version_gets_505() {
    assert_refused(
        505,
        &[format!("GET / HTTP/2.0\r\nHost: w\r\n{ALICE}\r\n"), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()],
    )
    .await;
}

#[tokio::test]
async fn connect_trace_and_track_methods_get_405() {
    let setup = Setup::new().await;
    for (method, target) in [("CONNECT", "w:80"), ("CONNECT", "/"), ("connect", "/"), ("TRACE", "/"), ("TRACK", "/")] {
        let mut client = setup.client().await;
        client.send(format!("{method} {target} HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
        let answer = client.read_response().await;
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.header("Allow"), Some("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"));
    }
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn request_with_invalid_first_chunk_is_refused() {
    let chunked = |body: &str| format!("POST / HTTP/1.1\r\nHost: w\r\n{ALICE}Transfer-Encoding: chunked\r\n\r\n{body}");
    assert_refused(
        400,
        &[
            chunked("x\r\n"),
            chunked("3\nabc\r\n0\r\n\r\n"),
            chunked("3\r\nabcd\r\n0\r\n\r\n"),
            chunked("+3\r\nabc\r\n0\r\n\r\n"),
            chunked("3 \r\nabc\r\n0\r\n\r\n"),
            chunked("fffffffffffffffff\r\nabc"),
            chunked("3\r\nabc\r\n0\r\nfolded\n\r\n"),
            chunked("3\r\nabc\r\n0\r\nno-colon\r\n\r\n"),
            chunked("3\r\nabc\r\n0\r\nGET /hidden HTTP/1.1\r\n\r\n"),
            chunked("3\r\nabc\r\n0\r\nT: v\r\n folded\r\n\r\n"),
        ],
    )
    .await;
}

#[tokio::test]
async fn invalid_chunk_after_forwarded_chunk_leaves_body_incomplete_for_app() {
    let setup = Setup::new().await;
    let mut client = setup.client().await;
    client.send(format!("POST / HTTP/1.1\r\nHost: w\r\n{ALICE}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")).await;
    super::support::eventually("the first chunk is there", || setup.app.seen().ends_with("3\r\nabc\r\n")).await;
    client.send("zzz\r\n").await;
    assert!(client.read_to_end().await.starts_with("HTTP/1.1 400 "));
    assert!(setup.app.seen().ends_with("3\r\nabc\r\n"));
}

#[tokio::test]
async fn invalid_chunk_after_begin_of_response_ends_connection_without_second_response() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n").await;
        stream.read_end().await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(format!("POST / HTTP/1.1\r\nHost: w\r\n{ALICE}Transfer-Encoding: chunked\r\n\r\n")).await;
    client.read_until(b"2\r\nok\r\n").await;
    client.send("zzz\r\n").await;
    assert_eq!(client.read_to_end().await, "");
}

#[tokio::test]
async fn trailer_line_without_colon_after_forwarded_chunk_ends_both_connections() {
    let setup = Setup::new().await;
    let mut client = setup.client().await;
    client.send(format!("POST / HTTP/1.1\r\nHost: w\r\n{ALICE}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")).await;
    super::support::eventually("the first chunk is there", || setup.app.seen().ends_with("3\r\nabc\r\n")).await;
    client.send(format!("0\r\nno-colon\r\n\r\n{HIDDEN}")).await;
    assert!(client.read_to_end().await.starts_with("HTTP/1.1 400 "));
    assert!(setup.app.seen().ends_with("3\r\nabc\r\n"), "the app never sees the end of the body");
}

#[tokio::test]
async fn pipelined_bodies_with_chunks_and_lengths_reach_the_app_complete() {
    let setup = Setup::new().await;
    let mut client = setup.client().await;
    let pieces = [
        format!("POST /a HTTP/1.1\r\nHost: w\r\n{ALICE}Transfer-Encoding: chunked\r\n\r\n5;ext=\"1\"\r\nhel"),
        format!(
            "lo\r\n00A\r\n0123456789\r\n0\r\nT: v\r\n\r\nPUT /b HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 007\r\n\r\nsev"
        ),
        format!("en!!\r\nPOST /c HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 0\r\n\r\n"),
    ];
    for (piece, responses) in pieces.into_iter().zip([0, 1, 2]) {
        client.send(piece).await;
        for _ in 0..responses {
            assert_eq!(client.read_response().await.status, 200);
        }
    }
    let seen = setup.app.seen();
    assert!(
        seen.contains("\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\na\r\n0123456789\r\n0\r\n\r\nPUT /b "),
        "{seen}"
    );
    assert!(seen.contains("\r\nContent-Length: 7\r\n\r\nseven!!POST /c "), "{seen}");
    assert!(seen.ends_with("\r\nContent-Length: 0\r\n\r\n"), "{seen}");
}
