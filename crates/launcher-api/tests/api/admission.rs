//! Admission: the body limit of each route, the in-flight requests of each caller, and the in-flight bytes of all
//! callers.

use launcher_testkit::{ADMIN, ALICE, Client, TestApp, Users, eventually, in_time};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MAX_IN_FLIGHT: usize = 64;

/// Opens a new connection and sends one request as raw text.
async fn begin(app: &TestApp, identity: &str, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(app.addr).await.unwrap();
    let (line, rest) = request.split_once("\r\n").unwrap_or((request, ""));
    let head = format!("{line} HTTP/1.1\r\nHost: localhost\r\nX-Auth-Request-Email: {identity}\r\n{rest}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Sends a request that announces a body of this many bytes, but sends only the first byte of the body.
async fn hold_body(app: &TestApp, identity: &str, line: &str, bytes: usize) -> TcpStream {
    let mut stream =
        begin(app, identity, &format!("{line}\r\nContent-Type: application/json\r\nContent-Length: {bytes}\r\n")).await;
    stream.write_all(b"{").await.unwrap();
    stream
}

async fn status(stream: &mut TcpStream) -> String {
    let mut status = [0; 12];
    in_time(stream.read_exact(&mut status)).await.unwrap();
    String::from_utf8_lossy(&status[9..]).into_owned()
}

fn template(env_bytes: usize) -> Value {
    let values = (0..env_bytes.div_ceil(30_000)).map(|number| (format!("A{number}"), Value::from("x".repeat(30_000))));
    let env: serde_json::Map<String, Value> = values.collect();
    json!({ "name": "T", "app_type": "notebook", "image": "i", "env": env })
}

async fn is_admitted(person: &Client) -> Option<()> {
    (person.get("/me").await.status == 200).then_some(())
}

#[tokio::test]
async fn body_above_limit_of_route_is_refused() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let id = app.template(&admin).await;
    let name = app.launched(&alice, &id, "running").await;
    let padded = |bytes: usize| Value::from("x".repeat(bytes));
    for (path, kib) in [(format!("/templates/{id}/launch"), 160), (format!("/instances/{name}/extend"), 1)] {
        let reply = alice.post_json(&path, &padded(kib * 1024 - 1)).await.expect(413);
        assert_eq!(reply.code(), "body-too-large", "{path}: one byte too many with the quotation marks");
        assert!(reply.text().contains(&format!("{kib} KiB")), "{}", reply.text());
        alice.post_json(&path, &padded(kib * 1024 - 2)).await.expect(422);
    }
    let end = format!("/instances/{name}/end");
    for (path, limit) in [
        (&*format!("/launch/{id}"), 160 * 1024),
        (&format!("/instances/{name}/extend"), 1024),
        (&end, 8 * 1024),
        ("/language", 8 * 1024),
    ] {
        alice.post_form(path, &[("return_to", &"x".repeat(limit - 9))]).await.expect(413);
    }
    admin.post_json("/templates/", &template(200_000)).await.expect(201);
    admin.put_json(&format!("/templates/{id}"), &template(200_000)).await.expect(200);
    admin.post_json("/templates/", &padded(256 * 1024)).await.expect(413);
    let ticked: Vec<_> = (0..400).map(|_| ("ticked", "statistics-101-a7k3m9qz2x 2026-03-02T08:00:00.000Z")).collect();
    admin.post_form("/admin/instances/bulk", &[&[("action", "extend")], &ticked[..]].concat()).await.expect(200);
    app.finish().await;
}

#[tokio::test]
async fn in_flight_limit_is_per_caller() {
    let Users { app, unauthenticated, alice, bob, admin } = TestApp::start().await;
    let launch = format!("POST /api/v1/templates/{}/launch", app.template(&admin).await);
    let mut held = Vec::new();
    for _ in 0..MAX_IN_FLIGHT {
        held.push(hold_body(&app, ALICE, &launch, 100).await);
    }
    eventually(async || (alice.get("/me").await.status == 429).then_some(())).await;
    let refused = alice.get("/me").await.expect(429);
    assert_eq!((refused.code().as_str(), refused.header("retry-after")), ("too-many-requests", "2"));
    alice.page("/").await.expect(429);
    bob.get("/me").await.expect(200);
    unauthenticated.get("/me").await.expect(401);
    drop(held);
    eventually(async || is_admitted(&alice).await).await;
    app.finish().await;
}

#[tokio::test]
async fn request_is_in_flight_until_response_is_read() {
    let Users { app, alice, bob, .. } = TestApp::start().await;
    let mut stalled = Vec::new();
    for _ in 0..MAX_IN_FLIGHT {
        stalled.push(begin(&app, ALICE, "GET /api/v1/docs/swagger-ui-bundle.js\r\nConnection: close\r\n").await);
    }
    eventually(async || (alice.get("/me").await.status == 429).then_some(())).await;
    bob.get("/me").await.expect(200);
    let mut answer = Vec::new();
    stalled.pop().unwrap().read_to_end(&mut answer).await.unwrap();
    assert!(answer.len() > 1_000_000, "{}", answer.len());
    eventually(async || is_admitted(&alice).await).await;
    drop(stalled);
    app.finish().await;
}

#[tokio::test]
async fn event_stream_does_not_count_as_request_in_flight() {
    let Users { app, alice, .. } = TestApp::start().await;
    let mut streams = Vec::new();
    for _ in 0..32 {
        streams.push(alice.events(None).await);
    }
    let requests = (0..MAX_IN_FLIGHT - 1).map(|_| hold_body(&app, ALICE, "POST /api/v1/templates/x/launch", 100));
    for request in requests {
        drop(request.await);
        is_admitted(&alice).await.expect("streams do not count");
    }
    app.finish().await;
}

#[tokio::test]
async fn bodies_beyond_global_budget_are_refused() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let launch = format!("/templates/{}/launch", app.template(&admin).await);
    let mut held = Vec::new();
    // 32 bodies of 256 KiB use the whole budget of 8 MiB.
    for _ in 0..32 {
        held.push(hold_body(&app, ADMIN, "POST /api/v1/templates/", 256 * 1024).await);
    }
    let mut refused = eventually(async || {
        let mut stream = hold_body(&app, ADMIN, "POST /api/v1/templates/", 256 * 1024).await;
        (status(&mut stream).await == "503").then_some(stream)
    })
    .await;
    let mut rest = String::new();
    in_time(refused.read_to_string(&mut rest)).await.ok();
    alice.post(&launch).await.expect(201);
    alice.post_json(&launch, &json!({})).await.expect(503);
    drop(held);
    eventually(async || (alice.post_json(&launch, &json!({})).await.status == 201).then_some(())).await;
    app.finish().await;
}

#[tokio::test]
async fn large_responses_beyond_global_budget_are_refused() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    for _ in 0..60 {
        admin.post_json("/templates/", &template(230_000)).await.expect(201);
    }
    // The response takes more than half of the budget, because the client does not read it.
    let mut stalled = begin(&app, ADMIN, "GET /api/v1/templates/\r\nConnection: close\r\n").await;
    assert_eq!(status(&mut stalled).await, "200");
    let refused = admin.get("/templates/").await.expect(503);
    assert_eq!((refused.code().as_str(), refused.header("retry-after")), ("overloaded", "5"));
    alice.get("/templates/").await.expect(200);
    let mut answer = Vec::new();
    stalled.read_to_end(&mut answer).await.unwrap();
    assert!(answer.len() > 12 << 20, "{}", answer.len());
    admin.get("/templates/").await.expect(200);
    app.finish().await;
}

#[tokio::test]
async fn body_of_unauthenticated_request_is_not_buffered() {
    let Users { app, .. } = TestApp::start().await;
    let mut held = Vec::new();
    for _ in 0..100 {
        let line = "POST /api/v1/templates/x/launch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 262144\r\n\r\n{";
        let mut stream = TcpStream::connect(app.addr).await.unwrap();
        stream.write_all(line.as_bytes()).await.unwrap();
        assert_eq!(status(&mut stream).await, "401");
        held.push(stream);
    }
    app.finish().await;
}
