//! `GET /me`.

use http::Method;
use launcher_testkit::{Reply, TestApp, Users};
use serde_json::json;

#[tokio::test]
async fn me_returns_identity_of_caller() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let alice_says = alice.get("/me").await.expect(200).json();
    assert_eq!(alice_says, json!({ "email": "alice@example.org", "user": null, "is_admin": false }));
    let request = admin.request(Method::GET, &admin.api("/me")).header("X-Auth-Request-User", "root");
    let admin_says = Reply::of(request).await.expect(200).json();
    assert_eq!(admin_says, json!({ "email": "admin@example.org", "user": "root", "is_admin": true }));
    app.finish().await;
}

#[tokio::test]
async fn user_header_that_is_repeated_empty_or_too_long_is_ignored() {
    let Users { app, alice, .. } = TestApp::start().await;
    let (longest, too_long) = ("u".repeat(254), "u".repeat(255));
    for (lines, user) in [
        (vec![" alice "], Some("alice")),
        (vec![longest.as_str()], Some(longest.as_str())),
        (vec![too_long.as_str()], None),
        (vec!["  "], None),
        (vec!["alice", "bob"], None),
    ] {
        let request = alice.request(Method::GET, &alice.api("/me"));
        let request = lines.iter().fold(request, |request, line| request.header("X-Auth-Request-User", *line));
        assert_eq!(Reply::of(request).await.expect(200).json()["user"], json!(user), "{lines:?}");
    }
    app.finish().await;
}
