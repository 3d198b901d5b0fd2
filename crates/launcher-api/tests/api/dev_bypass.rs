//! The development bypass: one identity for all callers.

use http::Method;
use launcher_testkit::{ALICE, Options, Reply, TestApp, Users};

fn bypass() -> Options {
    Options::with_settings(&["--require-authentication=false", "--dev-identity=Dev@Example.org"])
}

#[tokio::test]
async fn development_bypass_ignores_identity_headers() {
    let Users { app, unauthenticated, alice, admin, .. } = TestApp::start_with(bypass()).await;
    for person in [&unauthenticated, &alice, &admin] {
        let me = person.get("/me").await.expect(200).json();
        assert_eq!(me["email"], "dev@example.org");
        assert_eq!(me["is_admin"], false);
    }
    let twice = unauthenticated.request(Method::GET, &unauthenticated.api("/me"));
    let twice = twice.header("X-Auth-Request-Email", ALICE).header("X-Auth-Request-Email", ALICE);
    assert_eq!(Reply::of(twice).await.expect(200).json()["email"], "dev@example.org");
    app.finish().await;
}
