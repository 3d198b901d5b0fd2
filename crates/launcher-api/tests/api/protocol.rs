//! HTTP requirements for every route: methods, media types, sizes, headers.

use http::Method;
use launcher_testkit::{Client, Reply, TestApp, Users};
use serde_json::json;

fn methods(allow: &str) -> Vec<&str> {
    let mut methods: Vec<&str> = allow.split(',').map(str::trim).collect();
    methods.sort_unstable();
    methods
}

#[tokio::test]
async fn unsupported_method_is_405_with_allow_header() {
    let Users { app, admin, .. } = TestApp::start().await;
    for (method, path, allowed) in [
        (Method::PUT, "/instances/", vec!["GET", "HEAD"]),
        (Method::POST, "/instances/some-name", vec!["DELETE", "GET", "HEAD"]),
        (Method::GET, "/instances/some-name/extend", vec!["POST"]),
        (Method::DELETE, "/templates", vec!["GET", "HEAD", "POST"]),
        (Method::POST, "/templates/some-id", vec!["DELETE", "GET", "HEAD", "PATCH", "PUT"]),
        (Method::OPTIONS, "/me", vec!["GET", "HEAD"]),
        (Method::TRACE, "/me", vec!["GET", "HEAD"]),
        (Method::from_bytes(b"BREW").unwrap(), "/me/", vec!["GET", "HEAD"]),
    ] {
        let reply = Reply::of(admin.request(method.clone(), &admin.api(path))).await.expect(405);
        assert_eq!(methods(reply.header("allow")), allowed, "{method} {path}");
        assert_eq!(reply.code(), "method-not-allowed");
    }
    let page = Reply::of(admin.request(Method::DELETE, "/")).await.expect(405);
    assert_eq!(methods(page.header("allow")), ["GET", "HEAD"]);
    app.finish().await;
}

#[tokio::test]
async fn trailing_slash_is_accepted_without_redirect() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    for path in ["/me", "/instances", "/templates", "/openapi.json", "/docs", "/problems"] {
        let (bare, slashed) = (alice.get(path).await.expect(200), alice.get(&format!("{path}/")).await.expect(200));
        assert_eq!(bare.body, slashed.body, "{path}");
    }
    alice.get(&format!("/instances/{name}/")).await.expect(200);
    alice.get(&format!("/templates/{template}/")).await.expect(200);
    alice.post(&format!("/instances/{name}/extend/")).await.expect(200);
    alice.post(&format!("/templates/{template}/launch/")).await.expect(201);
    alice.delete(&format!("/instances/{name}/")).await.expect(202);
    alice.get("/instances//").await.expect(404);
    app.finish().await;
}

#[tokio::test]
async fn api_head_response_equals_get_response_without_body() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let template = format!("/templates/{template}");
    let instance = format!("/instances/{name}");
    for path in ["/me", "/instances/", "/templates/", &template, &instance, "/docs", "/instances/nothing", "/events"] {
        let head = Reply::of(alice.request(Method::HEAD, &alice.api(path))).await;
        assert!(head.body.is_empty(), "{path}");
        if path == "/events" {
            assert_eq!(head.header("content-type"), "text/event-stream");
            continue;
        }
        let get = alice.get(path).await;
        assert_eq!(head.status, get.status, "{path}");
        for name in ["content-type", "etag", "content-length"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
    }
    app.finish().await;
}

async fn send(person: &Client, path: &str, content_type: Option<&str>, body: impl Into<reqwest::Body>) -> Reply {
    let request = person.request(Method::POST, &person.api(path)).body(body);
    let request = match content_type {
        Some(content_type) => request.header("Content-Type", content_type),
        None => request,
    };
    Reply::of(request).await
}

/// Sends wrong types, bodies of 2 MiB, and JSON that is nested 10,000 levels deep.
#[tokio::test]
async fn body_with_wrong_type_size_or_depth_is_refused() {
    let Users { app, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let json = Some("application/json");
    for (path, most) in [("/templates/".to_owned(), 256 * 1024), (format!("/templates/{template}/launch"), 160 * 1024)]
    {
        for content_type in [Some("text/plain"), Some("application/xml"), Some("application/json+x"), None] {
            let reply = send(&admin, &path, content_type, "{}").await.expect(415);
            assert_eq!(reply.code(), "unsupported-media-type", "{path} {content_type:?}");
        }
        let large = format!("{{\"name\": \"{}\"}}", "a".repeat(2 * 1024 * 1024));
        assert_eq!(send(&admin, &path, json, large).await.expect(413).code(), "body-too-large");
        let edge = format!("{{\"name\": \"{}\"}}", "a".repeat(most - 11));
        assert_eq!(send(&admin, &path, json, edge).await.expect(413).code(), "body-too-large");
        let within = format!("{{\"name\": \"{}\"}}", "a".repeat(most - 12));
        send(&admin, &path, json, within).await.expect(422);
        let depth = most.min(20_000) / 2 - 10;
        let deep = "[".repeat(depth) + &"]".repeat(depth);
        let deep_inside = format!("{{\"x\": {deep}}}");
        for malformed in [
            &deep,
            &deep_inside,
            "{",
            "{]",
            "nul",
            "{\"a\": 1, \"a\": 1}",
            "{} {}",
            "{\"a\": \"\\ud800\"}",
            "\u{feff}{}",
        ] {
            let reply = send(&admin, &path, json, malformed.to_owned()).await.expect(400);
            assert_eq!(reply.code(), "malformed-body", "{path} {malformed:.20}");
        }
        let not_utf8 = send(&admin, &path, json, vec![b'"', 0xff, b'"']).await.expect(400);
        assert_eq!(not_utf8.code(), "malformed-body");
    }
    let nested_twice = r#"{"name": "T", "app_type": "notebook", "image": "i", "env": {"A": "1", "A": "2"}}"#;
    send(&admin, "/templates/", json, nested_twice).await.expect(400);
    let good = json!({ "name": "T", "app_type": "notebook", "image": "i" }).to_string();
    send(&admin, "/templates/", Some("Application/JSON; charset=utf-8"), good).await.expect(201);
    send(&admin, "/templates/", json, "").await.expect(400);
    app.finish().await;
}

#[tokio::test]
async fn every_response_has_security_headers() {
    let Users { app, unauthenticated, alice, .. } = TestApp::start().await;
    for reply in [
        alice.get("/me").await,
        alice.get("/nothing").await,
        unauthenticated.get("/me").await,
        alice.page("/").await,
        alice.page("/nothing").await,
        unauthenticated.page("/").await,
    ] {
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        assert_eq!(reply.header("x-frame-options"), "DENY");
        assert_eq!(reply.header("referrer-policy"), "same-origin");
        assert_eq!(reply.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(reply.header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(reply.header("cache-control"), "no-store");
        let policy = reply.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    }
    assert_eq!(alice.get("/me").await.header("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
    app.finish().await;
}

/// The client reads the response only after it has sent the whole request, as many clients do.
#[tokio::test]
async fn client_reads_refusal_after_sending_large_body() {
    let Users { app, unauthenticated, .. } = TestApp::start().await;
    let identity = "X-Auth-Request-Email: alice@example.org\r\n";
    let form = "X-Auth-Request-Email: alice@example.org\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    let size = 4 * 1024 * 1024;
    for (lines, path, status) in [
        ("", "/api/v1/templates/", 401),
        (identity, "/api/v1/templates/", 403),
        (identity, "/api/v1/nothing", 404),
        (identity, "/api/v1/me", 405),
        (form, "/launch/01890000-0000-7000-8000-000000000000", 413),
    ] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}Content-Length: {size}\r\n\r\n"
        );
        let answer = unauthenticated.raw(&[head.into_bytes(), vec![b'x'; size]].concat()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
    }
    app.finish().await;
}
