//! Requests of the client, as the app receives them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use super::support::{ALICE, App, Setup, eventually, policy, soon};

#[tokio::test]
async fn path_reaches_the_app_byte_for_byte() {
    let setup = Setup::new().await;
    for target in ["/api/contents/a%2Fb;c//d?x=%00", "//d", "/a/../b/./c", "/?", "/%", "/a\\b|c", "/%zz?a=b&c=d;e"] {
        assert_eq!(setup.status(format!("GET {target} HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await, 200);
        let seen = setup.app.seen();
        assert!(seen.contains(&format!("GET {target} HTTP/1.1\r\n")), "{target} in {seen}");
    }
}

#[tokio::test]
async fn absolute_target_is_forwarded_to_the_app_as_path() {
    let setup = Setup::new().await;
    let request = format!("GET http://elsewhere.example:81/a?b HTTP/1.1\r\nHost: elsewhere.example:81\r\n{ALICE}\r\n");
    assert_eq!(setup.status(request).await, 200);
    let seen = setup.app.seen();
    assert!(seen.starts_with("GET /a?b HTTP/1.1\r\nHost: elsewhere.example:81\r\n"), "{seen}");
}

#[tokio::test]
async fn end_to_end_headers_are_kept_and_hop_by_hop_headers_removed() {
    let setup = Setup::new().await;
    let request = format!(
        "PATCH / HTTP/1.1\r\nHost: W.example:8\r\n{ALICE}Origin: HTTPS://w.example\r\nReferer: r\r\nX-Odd:  a  b \r\n\
         Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nTE: trailers\r\n\
         Proxy-Authorization: p\r\nAuthorization: token t\r\nUpgrade: h2c\r\nHTTP2-Settings: s\r\n\r\n"
    );
    assert_eq!(setup.status(request).await, 200);
    assert_eq!(
        setup.app.seen(),
        "PATCH / HTTP/1.1\r\nHost: W.example:8\r\nOrigin: HTTPS://w.example\r\nReferer: r\r\nX-Odd: a  b\r\n\
         Authorization: token t\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\n\
         X-Forwarded-Host: W.example:8\r\n\r\n"
    );
}

#[tokio::test]
async fn x_forwarded_headers_of_the_client_are_kept() {
    let setup = Setup::new().await;
    let forwarded = "X-Forwarded-For: 192.0.2.1\r\nx-forwarded-for: 192.0.2.2\r\nX-Forwarded-Proto: https\r\n\
                     X-Forwarded-Host: w.example\r\n";
    assert_eq!(setup.status(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}{forwarded}\r\n")).await, 200);
    let seen = setup.app.seen();
    assert!(seen.contains("\r\nX-Forwarded-For: 192.0.2.1, 192.0.2.2, 127.0.0.1\r\n"), "{seen}");
    assert!(seen.contains("\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: w.example\r\n"), "{seen}");
    assert_eq!(seen.to_ascii_lowercase().matches("x-forwarded").count(), 3, "{seen}");
}

#[tokio::test]
async fn http_1_0_client_gets_plain_body_and_close() {
    let setup =
        Setup::answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1\r\n!\r\n0\r\n\r\n").await;
    let answer = setup.send(format!("GET / HTTP/1.0\r\n{ALICE}Connection: keep-alive\r\n\r\n")).await;
    assert_eq!(answer, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok!");
    assert!(setup.app.seen().starts_with(&format!("GET / HTTP/1.1\r\nHost: {}\r\n", setup.app.addr)));
}

#[tokio::test]
async fn http_1_0_client_gets_no_interim_response() {
    let setup = Setup::answering("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let answer = setup.send(format!("GET / HTTP/1.0\r\n{ALICE}Expect: 100-continue\r\n\r\n")).await;
    assert_eq!(answer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    assert!(!setup.app.seen().contains("Expect"), "{}", setup.app.seen());
}

#[tokio::test]
async fn target_naming_other_local_listener_reaches_only_the_app() {
    let setup = Setup::new().await;
    let decoy = App::answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ndecoy").await;
    let name = decoy.addr;
    let mut client = setup.client().await;
    for (target, count) in [(format!("http://{name}/x"), 1), (format!("https://{name}"), 2), ("/x".to_owned(), 3)] {
        let forwarded = format!("X-Forwarded-Host: {name}\r\nForwarded: host=\"{name}\"\r\n");
        client.send(format!("GET {target} HTTP/1.1\r\nHost: {name}\r\n{ALICE}{forwarded}\r\n")).await;
        assert_eq!(client.read_response().await.body, "ok", "{target}");
        assert_eq!(setup.app.seen().matches("\r\n\r\n").count(), count, "{target}");
    }
    let elsewhere = format!("GET http://{name}/ HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n");
    assert_eq!(setup.status(elsewhere).await, 400);
    assert_eq!((decoy.connections(), decoy.seen()), (0, String::new()));
}

#[tokio::test]
async fn app_at_another_host_is_replaced_by_the_one_on_this_host() {
    let mut app = App::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    app.addr.set_ip([198, 51, 100, 1].into());
    let setup = Setup::with(policy(), app).await;
    assert_eq!(setup.status(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await, 200);
}

#[tokio::test]
async fn sequential_requests_reuse_one_app_connection() {
    let setup = Setup::new().await;
    for _ in 0..5 {
        assert_eq!(setup.status(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await, 200);
    }
    assert_eq!(setup.app.connections(), 1);
}

#[tokio::test]
async fn closed_app_connection_is_replaced_without_client_error() {
    // The app answers one request per connection, and then closes the connection without announcing it.
    let app = App::start(|mut stream| async move {
        if stream.read_head().await.is_some() {
            stream.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        }
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    for (method, count) in [("GET", 1..=10), ("POST", 11..=20), ("GET", 21..=25)] {
        for number in count {
            client.send(format!("{method} / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
            assert_eq!(client.read_response().await.status, 200, "{method} {number}");
            assert_eq!(setup.app.connections(), number);
        }
    }
}

#[tokio::test]
async fn only_request_that_changes_nothing_is_sent_again() {
    // The app answers the first request of each connection, and closes the connection after the second one.
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        stream.read_head().await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    for (method, status, count) in [("POST", 502, 2), ("DELETE", 502, 2), ("GET", 200, 3)] {
        for expected in [200, status] {
            client.send(format!("{method} / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
            assert_eq!(client.read_response().await.status, expected, "{method}");
        }
        assert_eq!(setup.app.seen().matches(&format!("{method} / ")).count(), count, "{method}");
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let app = App::start(|mut stream| async move {
        while let Some(head) = stream.read_head().await {
            let path = head.split(' ').nth(1).unwrap();
            stream.write(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{path}", path.len())).await;
        }
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    let requests: Vec<String> =
        (0..200).map(|number| format!("GET /{number} HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).collect();
    client.send(requests.concat()).await;
    for number in 0..200 {
        assert_eq!(client.read_response().await.body, format!("/{number}"));
    }
}

#[tokio::test]
async fn client_that_closes_its_sending_side_gets_its_response() {
    let setup = Setup::new().await;
    let mut client = setup.client().await;
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    tokio::io::AsyncWriteExt::shutdown(&mut client.io).await.unwrap();
    assert_eq!(client.read_response().await.body, "ok");
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn client_disconnect_during_body_aborts_app_request() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.read_exact(3).await;
        assert!(stream.read_end().await);
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 10\r\n\r\nabc")).await;
    eventually("the body's start is there", || setup.app.seen().ends_with("abc")).await;
    drop(client);
    eventually("the connection is over", || setup.sidecar.activity().open_connections == 0).await;
}

#[tokio::test]
async fn expect_100_continue_is_answered_by_the_app() {
    let app = App::start(|mut stream| async move {
        let head = stream.read_head().await.unwrap();
        assert!(head.contains("\r\nExpect: 100-continue\r\n"));
        stream.write("HTTP/1.1 100 Continue\r\n\r\n").await;
        stream.read_exact(3).await;
        stream.write("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n").await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")).await;
    assert_eq!(client.read_head().await.head, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("abc").await;
    assert_eq!(client.read_response().await.status, 201);
}

#[tokio::test]
async fn stop_closes_idle_connections_and_finishes_in_flight_requests() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.read_exact(3).await;
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone").await;
        stream.read_end().await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let (mut busy, mut idle) = (setup.client().await, setup.client().await);
    busy.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 3\r\n\r\na")).await;
    eventually("both are served", || setup.app.seen().ends_with('a') && setup.sidecar.activity().open_connections == 2)
        .await;
    setup.stop.request();
    assert!(idle.is_closed().await);
    busy.send("bc").await;
    let response = busy.read_response().await;
    assert_eq!((response.body.as_str(), response.header("Connection")), ("done", Some("close")));
    assert!(busy.is_closed().await);
    assert!(soon(setup.stop.finish(super::support::PATIENCE)).await);
}

#[tokio::test]
async fn request_part_of_its_body_and_end_of_response_are_uses_of_the_app() {
    /// Time between two uses: the last use is recorded in milliseconds.
    const PAUSE: Duration = Duration::from_millis(2);
    let may_end = Arc::new(Notify::new());
    let ending = may_end.clone();
    let app = App::start(move |mut stream| {
        let ending = ending.clone();
        async move {
            stream.read_head().await;
            stream.read_exact(2).await;
            stream.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no").await;
            ending.notified().await;
            stream.write("k").await;
            stream.read_end().await;
        }
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut last = setup.sidecar.activity().last_used;
    let mut is_used = || {
        let former = std::mem::replace(&mut last, setup.sidecar.activity().last_used);
        setup.sidecar.activity().last_used > former
    };
    sleep(PAUSE).await; // pacing: see above
    assert_eq!(setup.status("GET / HTTP/1.1\r\nHost: w\r\n\r\n").await, 403);
    assert!(!is_used(), "a refused request");
    let mut client = setup.client().await;
    for (part, seen) in [
        (format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 2\r\n\r\n"), "\r\n\r\n"),
        ("a".to_owned(), "\r\n\r\na"),
        ("b".to_owned(), "\r\n\r\nab"),
    ] {
        sleep(PAUSE).await; // pacing: see above
        client.send(&part).await;
        eventually("the app has this part", || setup.app.seen().ends_with(seen)).await;
        assert!(is_used(), "{part}");
    }
    client.read_until(b"\r\n\r\no").await;
    sleep(PAUSE).await; // pacing: see above
    may_end.notify_one();
    client.read_exact(1).await;
    assert!(is_used(), "the end of the response");
}
