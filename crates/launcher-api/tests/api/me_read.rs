//! `GET /me`.

use http::Method;
use launcher_testkit::{Reply, TestApp};
use serde_json::json;

#[tokio::test]
async fn me_returns_identity_of_caller() {
    let (app, _, alice, _, admin) = TestApp::start().await;
    let alice_says = alice.get("/me").await.expect(200).json();
    assert_eq!(alice_says, json!({ "email": "alice@example.org", "user": null, "is_admin": false }));
    let request = admin.request(Method::GET, &admin.api("/me")).header("X-Auth-Request-User", "root");
    let admin_says = Reply::of(request).await.expect(200).json();
    assert_eq!(admin_says, json!({ "email": "admin@example.org", "user": "root", "is_admin": true }));
    app.finish().await;
}
