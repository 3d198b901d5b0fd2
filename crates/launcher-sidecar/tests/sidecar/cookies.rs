//! The login proxy's cookies do not reach the app, and the app cannot set them.

use super::support::program::Program;
use super::support::{ALICE, App, Client, Setup, policy};

async fn seen_by_the_app(lines: &str) -> String {
    let setup = Setup::new().await;
    let request = format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}{lines}\r\n");
    assert_eq!(setup.status(request).await, 200);
    setup.app.seen()
}

#[tokio::test]
async fn app_receives_cookies_except_login_cookies() {
    let seen = seen_by_the_app("Cookie: _oauth2_proxy=secret; _oauth2_proxy_0=secret; a=b\r\n").await;
    assert!(seen.contains("\r\nCookie: a=b\r\n") && !seen.contains("secret"), "{seen}");
    let seen = seen_by_the_app("cookie: a=\"b c\";  d=e\r\n").await;
    assert!(seen.contains("\r\ncookie: a=\"b c\";  d=e\r\n"), "untouched lines stay as they are: {seen}");
}

#[tokio::test]
async fn cookie_header_with_only_login_cookies_is_removed() {
    let seen =
        seen_by_the_app("Cookie: __Host-_oauth2_proxy=secret\r\nCookie: a=b;_oauth2_proxy_csrf=secret\r\n").await;
    assert_eq!(seen.matches("Cookie").count(), 1, "{seen}");
    assert!(seen.contains("\r\nCookie: a=b\r\n") && !seen.contains("secret"), "{seen}");
}

#[tokio::test]
async fn app_cannot_set_login_cookies() {
    let setup = Setup::answering(
        "HTTP/1.1 200 OK\r\nSet-Cookie: _oauth2_proxy=evil; Path=/\r\nset-cookie: a=b\r\n\
         Set-Cookie:   __Host-_oauth2_proxy_1=evil\r\nSet-Cookie: =_oauth2_proxy=evil\r\n\
         Set-Cookie: __Secure-_oauth2_proxy_workshops=evil; Domain=apps.example.edu; Path=/; Secure\r\n\
         Set-Cookie: c=_oauth2_proxy\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let answer = setup.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}Connection: close\r\n\r\n")).await;
    assert!(!answer.contains("evil"), "{answer}");
    assert!(
        answer.contains("\r\nset-cookie: a=b\r\n") && answer.contains("\r\nSet-Cookie: c=_oauth2_proxy\r\n"),
        "{answer}"
    );
}

#[tokio::test]
async fn cookies_with_configured_login_prefix_are_removed() {
    let mut policy = policy();
    policy.session_cookie_prefix = "__Host-gate".to_owned();
    let setup = Setup::with(policy, App::answering("HTTP/1.1 204 No Content\r\n\r\n").await).await;
    let cookies = "Cookie: __Host-gate=secret; gate_1=secret; _oauth2_proxy=mine\r\n";
    assert_eq!(setup.status(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}{cookies}\r\n")).await, 204);
    assert!(setup.app.seen().contains("\r\nCookie: _oauth2_proxy=mine\r\n"));
}

#[tokio::test]
async fn settings_of_the_program_name_the_login_cookies_and_the_identity_header() {
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let settings = [("SERVICE_SESSION_COOKIE_PREFIX", "_gate"), ("SERVICE_TRUSTED_AUTH_HEADER", "Remote-Email")];
    let program = Program::start(app.addr, &settings).await;
    let mut client = Client::connect(program.addr).await;
    for (identity, status) in [(ALICE, 403), ("Remote-Email: alice@example.org\r\n", 204)] {
        client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{identity}Cookie: _gate=secret; a=b\r\n\r\n")).await;
        assert_eq!(client.read_response().await.status, status, "{identity}");
    }
    let seen = app.seen();
    assert!(seen.contains("\r\nCookie: a=b\r\n") && !seen.contains("secret"), "{seen}");
}
