//! Conditional requests for templates.

use http::Method;
use launcher_testkit::{Client, Reply, TestApp, Users};
use serde_json::{Value, json};

fn body(name: &str) -> Value {
    json!({ "name": name, "app_type": "notebook", "image": "i" })
}

async fn put(admin: &Client, path: &str, if_match: &[&str], name: &str) -> Reply {
    let request = admin.request(Method::PUT, &admin.api(path)).json(&body(name));
    Reply::of(if_match.iter().fold(request, |request, line| request.header("If-Match", *line))).await
}

#[tokio::test]
async fn template_update_with_stale_etag_is_refused() {
    let Users { app, admin, .. } = TestApp::start().await;
    let path = format!("/templates/{}", app.template(&admin).await);
    put(&admin, &path, &["\"1\""], "second").await.expect(200);
    for stale in [&["\"1\""][..], &["\"3\""], &["W/\"2\""], &["2"], &["\"1\", \"3\""], &[""]] {
        assert_eq!(put(&admin, &path, stale, "lost").await.expect(412).code(), "version-mismatch", "{stale:?}");
    }
    assert_eq!(admin.get(&path).await.json()["name"], "second");
    for (index, current) in [&["\"2\""][..], &["\"9\", \"3\""], &["\"9\"", "\"4\""], &["*"]].into_iter().enumerate() {
        let replaced = put(&admin, &path, current, &format!("name {index}")).await.expect(200);
        assert_eq!(replaced.header("etag"), format!("\"{}\"", index + 3), "{current:?}");
    }
    let unknown = "/templates/01890000-0000-7000-8000-000000000000";
    assert_eq!(put(&admin, unknown, &["\"1\""], "x").await.expect(404).code(), "not-found");
    app.finish().await;
}

#[tokio::test]
async fn template_archive_with_stale_etag_is_refused() {
    let Users { app, admin, .. } = TestApp::start().await;
    let path = format!("/templates/{}", app.template(&admin).await);
    let archive = async |if_match: &str| {
        Reply::of(admin.request(Method::DELETE, &admin.api(&path)).header("If-Match", if_match)).await
    };
    put(&admin, &path, &[], "second").await.expect(200);
    for stale in ["\"1\"", "W/\"2\"", "2"] {
        assert_eq!(archive(stale).await.expect(412).code(), "version-mismatch", "{stale}");
    }
    assert_eq!(admin.get(&path).await.json()["active"], true);
    archive("\"1\", \"2\"").await.expect(204);
    assert_eq!(admin.get(&path).await.json()["active"], false);
    archive("*").await.expect(204);
    app.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_concurrent_template_updates_is_refused() {
    let Users { app, admin, .. } = TestApp::start().await;
    let path = format!("/templates/{}", app.template(&admin).await);
    let tag = ["\"1\""];
    let (one, two) = tokio::join!(put(&admin, &path, &tag, "one"), put(&admin, &path, &tag, "two"));
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);
    assert_eq!(admin.get(&path).await.json()["version"], 2);
    app.finish().await;
}

#[tokio::test]
async fn template_read_with_matching_if_none_match_is_304_without_body() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let path = format!("/templates/{}", app.template(&admin).await);
    for (known, status) in [("\"1\"", 304), ("W/\"1\"", 304), ("\"7\", \"1\"", 304), ("*", 304), ("\"2\"", 200)] {
        let request = alice.request(Method::GET, &alice.api(&path)).header("If-None-Match", known);
        let reply = Reply::of(request).await.expect(status);
        assert_eq!(reply.header("etag"), "\"1\"", "{known}");
        assert_eq!(reply.body.is_empty(), status == 304, "{known}");
    }
    app.finish().await;
}
