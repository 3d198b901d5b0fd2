//! Identification of the caller: exactly one readable identity is accepted.

use http::Method;
use launcher_api::ApiProcess;
use launcher_domain::ProxySecret;
use launcher_testkit::{ADMIN, Client, Options, Reply, TestApp, Users};

async fn me(unauthenticated: &Client, lines: &[(&str, &str)]) -> Reply {
    let request = unauthenticated.request(Method::GET, &unauthenticated.api("/me"));
    Reply::of(lines.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

#[tokio::test]
async fn identity_requires_exactly_one_readable_header() {
    let Users { app, unauthenticated, .. } = TestApp::start().await;
    let header = "X-Auth-Request-Email";
    let alice = (header, "alice@example.org");
    for missing in [
        &[][..],
        &[(header, "")],
        &[(header, "  ")],
        &[("X_Auth_Request_Email", "alice@example.org")],
        &[("X-Forwarded-Email", "alice@example.org")],
        &[("X-Auth-Request-User", "alice")],
        // An unreadable identity counts as absent.
        &[(header, "alice@example.org,bob@example.org")],
        &[(header, "alice@example.org@evil.com")],
        &[(header, "alice")],
    ] {
        let reply = me(&unauthenticated, missing).await.expect(401);
        assert_eq!(reply.code(), "authentication-required", "{missing:?}");
        assert_eq!(reply.json()["login_url"], "/oauth2/start");
    }
    for wrong in [
        &[alice, alice][..],
        &[alice, (header, "bob@example.org")],
        &[alice, (header, "")],
        &[alice, ("X_Auth_Request_Email", "alice@example.org")],
        &[("x_auth_request_email", "bob@example.org"), alice],
        &[alice, ("X.Auth.Request.Email", "alice@example.org")],
    ] {
        assert_eq!(me(&unauthenticated, wrong).await.expect(400).code(), "identity-invalid", "{wrong:?}");
    }
    app.finish().await;
}

#[tokio::test]
async fn identity_email_ignores_case_and_surrounding_spaces() {
    let Users { app, unauthenticated, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let loud = unauthenticated.as_identity(Some("  ALICE@Example.Org "));
    assert_eq!(loud.get("/me").await.expect(200).json()["email"], "alice@example.org");
    loud.get(&format!("/instances/{name}")).await.expect(200);
    app.finish().await;
}

#[tokio::test]
async fn listed_admin_emails_match_in_any_case() {
    let options = Options::with_settings(&["--admin-emails= Admin@Example.ORG , ,second@example.org"]);
    let Users { app, unauthenticated, alice, admin, .. } = TestApp::start_with(options).await;
    for (person, is_admin) in [
        (&admin, true),
        (&unauthenticated.as_identity(Some("ADMIN@EXAMPLE.ORG")), true),
        (&unauthenticated.as_identity(Some("second@example.org")), true),
        (&alice, false),
        (&unauthenticated.as_identity(Some("xadmin@example.org")), false),
    ] {
        assert_eq!(person.get("/me").await.expect(200).json()["is_admin"], is_admin, "{person:?}");
    }
    app.finish().await;
}

#[tokio::test]
async fn custom_trusted_header_replaces_default() {
    let options = Options::with_settings(&["--trusted-auth-header=X-Forwarded-Email"]);
    let Users { app, unauthenticated, alice, .. } = TestApp::start_with(options).await;
    alice.get("/me").await.expect(401);
    let lines = [("X-Forwarded-Email", "carol@example.org"), ("X-Auth-Request-User", "forged")];
    let carol = me(&unauthenticated, &lines).await.expect(200).json();
    assert_eq!(carol["email"], "carol@example.org");
    assert_eq!(
        carol["user"],
        serde_json::Value::Null,
        "X-Auth-Request-User is ignored, because a proxy may not remove it from requests"
    );
    app.finish().await;
}

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "fedcba9876543210fedcba9876543210";

fn proven() -> Options {
    let proxy_secret = Some(ProxySecret::parse(&format!("{SECRET}\n{OTHER}")).unwrap());
    Options { process: ApiProcess { proxy_secret, ..ApiProcess::default() }, ..Options::default() }
}

#[tokio::test]
async fn identity_without_the_proxy_secret_is_refused() {
    let Users { app, unauthenticated, .. } = TestApp::start_with(proven()).await;
    let admin = ("X-Auth-Request-Email", ADMIN);
    let proof = |secret| ("X-Auth-Request-Proof", secret);
    for lines in [
        &[admin][..],
        &[admin, proof("")],
        &[admin, proof(&SECRET[1..])],
        &[admin, proof(SECRET), proof(SECRET)],
        &[admin, ("X_Auth_Request_Proof", SECRET)],
    ] {
        let reply = me(&unauthenticated, lines).await.expect(401);
        assert_eq!(reply.code(), "identity-unproven", "{lines:?}");
        assert_eq!(reply.json().get("login_url"), None, "a login would lead here again");
        assert!(!reply.text().contains(&SECRET[1..]) && !reply.text().contains(ADMIN), "{}", reply.text());
    }
    for secret in [SECRET, OTHER] {
        assert_eq!(me(&unauthenticated, &[admin, proof(secret)]).await.expect(200).json()["email"], ADMIN);
    }
    assert_eq!(me(&unauthenticated, &[proof(SECRET)]).await.expect(401).code(), "authentication-required");
    app.finish().await;
}

#[tokio::test]
async fn error_page_for_unproven_identity_has_no_link() {
    let Users { app, alice, .. } = TestApp::start_with(proven()).await;
    let page = alice.page("/").await.expect(401).text();
    assert!(page.contains("This address skips the sign-in") && !page.contains("<a "), "{page}");
    app.finish().await;
}

#[tokio::test]
async fn development_bypass_needs_no_proxy_secret() {
    let bypass = Options::with_settings(&["--require-authentication=false", "--dev-identity=dev@example.org"]);
    let options = Options { process: proven().process, ..bypass };
    let Users { app, unauthenticated, .. } = TestApp::start_with(options).await;
    unauthenticated.get("/me").await.expect(200);
    app.finish().await;
}
