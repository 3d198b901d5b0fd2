//! Compression of responses.

use std::io::Read;

use flate2::read::GzDecoder;
use http::Method;
use launcher_testkit::{Client, Reply, TestApp, Users};
use serde_json::{Value, json};

/// Sends `GET` to an absolute path with this `Accept-Encoding`.
async fn get(person: &Client, path: &str, accepted: &str) -> Reply {
    Reply::of(person.request(Method::GET, path).header("accept-encoding", accepted)).await
}

fn unpacked(reply: &Reply) -> Vec<u8> {
    assert_eq!(reply.header("content-encoding"), "gzip");
    assert!(reply.header("vary").contains("Accept-Encoding"), "{}", reply.header("vary"));
    assert_eq!(reply.header("content-length"), reply.body.len().to_string());
    let mut plain = Vec::new();
    GzDecoder::new(&*reply.body).read_to_end(&mut plain).unwrap();
    assert!(reply.body.len() < plain.len(), "{} of {} bytes", reply.body.len(), plain.len());
    plain
}

#[tokio::test]
async fn texts_of_api_documents_and_pages_are_compressed() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let mut one = String::new();
    for _ in 0..3 {
        one = app.template(&admin).await;
    }
    for path in [
        "/api/v1/templates/".to_owned(),
        format!("/api/v1/templates/{one}"),
        "/api/v1/openapi.json".to_owned(),
        "/api/v1/problems".to_owned(),
        "/api/v1/docs/swagger-ui.css".to_owned(),
        "/api/v1/docs/swagger-ui-bundle.js".to_owned(),
        "/".to_owned(),
        format!("/launch/{one}"),
        "/no-such-page".to_owned(),
    ] {
        let plain = get(&alice, &path, "br, gzip;q=0").await;
        assert_eq!(plain.header("content-encoding"), "", "{path}");
        assert!(plain.header("vary").contains("Accept-Encoding"), "{path}: {}", plain.header("vary"));
        let packed = get(&alice, &path, "br, GZIP").await;
        assert_eq!((packed.status, packed.header("etag")), (plain.status, plain.header("etag")), "{path}");
        assert_eq!(packed.header("content-type"), plain.header("content-type"), "{path}");
        // A page contains the keys of its forms, or the id of its request.
        if path.starts_with("/api/") {
            assert!(unpacked(&packed) == plain.body, "{path}");
        } else {
            assert_eq!(unpacked(&packed).len(), plain.body.len(), "{path}");
        }
    }
    app.finish().await;
}

#[tokio::test]
async fn large_list_and_problem_are_compressed() {
    let Users { app, admin, .. } = TestApp::start().await;
    let body = json!({ "name": "T", "app_type": "notebook", "image": "i", "env": { "A": "x".repeat(30_000) } });
    for _ in 0..5 {
        admin.post_json("/templates/", &body).await.expect(201);
    }
    let list = get(&admin, "/api/v1/templates/", "gzip").await.expect(200);
    let templates: Value = serde_json::from_slice(&unpacked(&list)).unwrap();
    assert_eq!(templates.as_array().unwrap().len(), 5);

    let tags: Vec<&str> = vec![""; 8];
    let wrong = json!({ "name": "", "app_type": "custom", "image": "", "tags": tags });
    let request = admin.request(Method::POST, "/api/v1/templates/").header("accept-encoding", "gzip").json(&wrong);
    let problem = Reply::of(request).await.expect(422);
    assert_eq!(problem.header("content-type"), "application/problem+json");
    let document: Value = serde_json::from_slice(&unpacked(&problem)).unwrap();
    assert_eq!(document["errors"].as_array().unwrap().len(), 11);
    app.finish().await;
}

#[tokio::test]
async fn small_texts_and_event_streams_are_not_compressed() {
    let Users { app, alice, .. } = TestApp::start().await;
    let me = get(&alice, "/api/v1/me", "gzip").await.expect(200);
    assert_eq!(me.header("content-encoding"), "");
    let request = alice.request(Method::GET, "/api/v1/events").header("accept-encoding", "gzip");
    let stream = request.send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    assert!(stream.headers().get("content-encoding").is_none());
    drop(stream);
    app.finish().await;
}
