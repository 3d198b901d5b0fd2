//! Identity check: a request must have exactly one identity header, in its exact spelling, with the owner's address.

use super::support::{ALICE, App, Setup, policy};

fn get(lines: &str) -> String {
    format!("GET /lab HTTP/1.1\r\nHost: w\r\n{lines}\r\n")
}

#[tokio::test]
async fn request_with_owner_identity_reaches_the_app() {
    let setup = Setup::new().await;
    for lines in [
        ALICE,
        "x-auth-request-email:alice@example.org\r\n",
        "X-AUTH-REQUEST-EMAIL: ALICE@example.org \r\n",
        "X-Auth-Request-User: bob\r\nX-Auth-Request-Email: alice@example.org\r\n",
    ] {
        assert_eq!(setup.status(get(lines)).await, 200, "{lines}");
    }
}

#[tokio::test]
async fn request_without_owner_identity_is_refused() {
    let setup = Setup::new().await;
    for lines in [
        "",
        "X-Auth-Request-Email:\r\n",
        "X-Auth-Request-Email: bob@example.org\r\n",
        "X-Auth-Request-Email: alice@example.org,bob@example.org\r\n",
        "X-Auth-Request-Email: alice@example.org@evil.com\r\n",
        "X-Auth-Request-Email: alice@example.org.evil.com\r\n",
        "X-Auth-Request-Email: xalice@example.org\r\n",
        "X-Auth-Request-Email: alice @example.org\r\n",
        "X-Auth-Request-Email: \"alice@example.org\"\r\n",
        "X-Auth-Request-Email: al\u{131}ce@example.org\r\n",
        "X-Forwarded-Email: alice@example.org\r\n",
        "X_Auth_Request_Email: alice@example.org\r\n",
        "x.auth.request.email: alice@example.org\r\n",
    ] {
        assert_eq!(setup.status(get(lines)).await, 403, "{lines}");
    }
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn request_with_second_identity_header_in_any_spelling_is_refused() {
    let setup = Setup::new().await;
    for other in [
        "X-Auth-Request-Email: alice@example.org\r\n",
        "X-Auth-Request-Email: bob@example.org\r\n",
        "x-auth-request-email: alice@example.org\r\n",
        "X-Auth-Request-Email:\r\n",
        "X_Auth_Request_Email: alice@example.org\r\n",
        "x.auth.request.email: bob@example.org\r\n",
        "X-Auth_Request-Email: bob@example.org\r\n",
        "XAuthRequestEmail: bob@example.org\r\n",
    ] {
        assert_eq!(setup.status(get(&format!("{ALICE}{other}"))).await, 403, "{other}");
        assert_eq!(setup.status(get(&format!("{other}{ALICE}"))).await, 403, "{other}");
    }
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn request_without_identity_is_refused_on_every_path() {
    let setup = Setup::new().await;
    for target in ["/healthz", "/healthz/../lab", "/healthz?/lab", "/readyz", "/metrics", "/favicon.ico", "*"] {
        for method in ["GET", "OPTIONS", "POST"] {
            let status = setup.status(format!("{method} {target} HTTP/1.1\r\nHost: w\r\n\r\n")).await;
            assert_eq!(status, 403, "{method} {target}");
        }
    }
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn request_with_identity_only_in_trailer_is_refused() {
    let setup = Setup::new().await;
    let body = format!("3\r\nabc\r\n0\r\n{ALICE}\r\n");
    let head = "POST / HTTP/1.1\r\nHost: w\r\nTransfer-Encoding: chunked\r\nTrailer: X-Auth-Request-Email\r\n\r\n";
    assert_eq!(setup.status(format!("{head}{body}")).await, 403);
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn trailer_of_chunked_request_does_not_reach_the_app() {
    let setup = Setup::new().await;
    let head = format!("POST / HTTP/1.1\r\nHost: w\r\n{ALICE}Transfer-Encoding: chunked\r\n\r\n");
    let body = "3;x=y\r\nabc\r\n0\r\nX-Auth-Request-Email: bob@example.org\r\n\r\n";
    assert_eq!(setup.status(format!("{head}{body}")).await, 200);
    assert!(setup.app.seen().ends_with("\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), "{}", setup.app.seen());
}

#[tokio::test]
async fn each_request_of_a_connection_is_authorized_separately() {
    let setup = Setup::new().await;
    let mut client = setup.client().await;
    let bob = "X-Auth-Request-Email: bob@example.org\r\n";
    client.send(format!("{}{}{}", get(ALICE), get(bob), get(ALICE))).await;
    for status in [200, 403, 200] {
        assert_eq!(client.read_response().await.status, status);
    }
    assert_eq!(setup.app.seen().matches("GET /lab").count(), 2);
}

#[tokio::test]
async fn connection_header_cannot_expose_identity_or_remove_host() {
    let setup = Setup::new().await;
    for nominated in ["x-auth-request-email", "X-Auth-Request-Email, host, content-length, cookie, origin"] {
        let lines = format!(
            "{ALICE}Connection: close, {nominated}\r\nX-Auth-Request-User: a\r\nX_Auth_Request_Groups: g\r\n\
             X-Forwarded-Email: e\r\nX-Forwarded-User: u\r\nCookie: a=b\r\nOrigin: o\r\nContent-Length: 3\r\n"
        );
        assert!(setup.send(format!("{}abc", get(&lines))).await.starts_with("HTTP/1.1 200"));
        let seen = setup.app.seen().to_ascii_lowercase();
        for gone in ["auth", "alice", "forwarded-email", "forwarded-user", "connection"] {
            assert!(!seen.contains(gone), "{gone} in {seen}");
        }
        for kept in ["\r\nhost: w\r\n", "\r\ncookie: a=b\r\n", "\r\norigin: o\r\n", "\r\ncontent-length: 3\r\n"] {
            assert!(seen.contains(kept), "{kept} not in {seen}");
        }
    }
}

#[tokio::test]
async fn only_configured_identity_header_is_accepted() {
    let mut policy = policy();
    policy.trusted_header = launcher_domain::identity::TrustedHeader::parse("Remote-Email").unwrap();
    let setup = Setup::with(policy, App::answering("HTTP/1.1 204 No Content\r\n\r\n").await).await;
    assert_eq!(setup.status(get(ALICE)).await, 403);
    assert_eq!(setup.app.seen(), "");
    assert_eq!(setup.status(get("Remote-Email: alice@example.org\r\n")).await, 204);
    assert_eq!(setup.status(get("Remote-Email: alice@example.org\r\nremote_email: x\r\n")).await, 403);
    assert!(!setup.app.seen().to_ascii_lowercase().contains("remote"));
}

#[tokio::test]
async fn identity_headers_never_reach_the_app_if_authentication_is_off() {
    let mut policy = policy();
    policy.require_authentication = false;
    let setup = Setup::with(policy, App::answering("HTTP/1.1 204 No Content\r\n\r\n").await).await;
    for lines in ["", "X-Auth-Request-Email: bob@example.org\r\n", "x_auth_request_email: carol@example.org\r\n"] {
        assert_eq!(setup.status(get(lines)).await, 204, "{lines}");
    }
    let seen = setup.app.seen().to_ascii_lowercase();
    assert_eq!(seen.matches("get /lab").count(), 3);
    assert!(!seen.contains("auth") && !seen.contains("example"), "{seen}");
}

#[tokio::test]
async fn refused_browser_gets_html_and_other_client_gets_text() {
    let setup = Setup::new().await;
    let mut client = setup.client().await;
    client.send(get("X-Auth-Request-Email: <b>@example.org\r\nAccept: text/html,*/*\r\n")).await;
    let page = client.read_response().await;
    assert_eq!(page.header("Content-Type"), Some("text/html; charset=utf-8"));
    let title = "<h1>No workshop of yours here now</h1>";
    assert!(page.body.contains(title) && !page.body.contains("<b>"), "{}", page.body);
    client.send(get("Accept: */*\r\n")).await;
    let line = client.read_response().await;
    assert_eq!(line.header("Content-Type"), Some("text/plain; charset=utf-8"));
    for response in [page, line] {
        assert_eq!(response.header("Cache-Control"), Some("no-store"));
        assert_eq!(response.header("X-Content-Type-Options"), Some("nosniff"));
        assert!(response.header("Content-Security-Policy").unwrap().contains("default-src 'none'"));
    }
    client.send("HEAD / HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n").await;
    assert!(client.read_to_end().await.ends_with("\r\n\r\n"));
}
