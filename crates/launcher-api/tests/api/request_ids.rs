//! Request ids.

use http::Method;
use launcher_testkit::{Client, Reply, TestApp, Users};

async fn with_id(person: &Client, id: &str) -> Reply {
    Reply::of(person.request(Method::GET, &person.api("/me")).header("X-Request-Id", id)).await
}

#[tokio::test]
async fn valid_request_id_is_kept_and_invalid_is_replaced() {
    let Users { app, unauthenticated, alice, .. } = TestApp::start().await;
    let longest = "a".repeat(64);
    for id in ["7", "abc-DEF_0.9", &longest] {
        assert_eq!(with_id(&alice, id).await.expect(200).header("x-request-id"), id);
    }
    let too_long = "a".repeat(65);
    for id in ["", "a b", "a\u{e9}", "<script>", &too_long] {
        let reply = with_id(&alice, id).await.expect(200);
        let own = reply.header("x-request-id");
        assert!(own.len() == 24 && own.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id:?}: {own}");
    }
    let problem = with_id(&unauthenticated, "mine").await.expect(401);
    assert_eq!(problem.json()["request_id"], "mine");
    app.finish().await;
}

#[tokio::test]
async fn every_response_has_unique_request_id() {
    let Users { app, unauthenticated, alice, .. } = TestApp::start().await;
    let mut ids = Vec::new();
    for reply in [
        alice.get("/me").await,
        alice.get("/instances/nothing").await,
        alice.page("/").await,
        alice.page("/nothing").await,
        unauthenticated.get("/me").await,
        unauthenticated.page("/").await,
        alice.delete("/me").await,
    ] {
        ids.push(reply.header("x-request-id").to_owned());
    }
    assert!(ids.iter().all(|id| id.len() == 24), "{ids:?}");
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
    app.finish().await;
}
