//! The mode `notice`: at an address without a workshop, every caller gets the answer of another user's sidecar.

use std::process::Output;

use launcher_sidecar::texts::Language;

use super::support::program::{Program, command};
use super::support::{ALICE, App, Client};

const BOB: &str = "X-Auth-Request-Email: bob@example.org\r\n";
const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Starts Alice's sidecar, with the page of a workshop.
async fn sidecar(app: &App, settings: &[(&str, &str)]) -> Program {
    let mut command = command(settings);
    command.env("SERVICE_WORKSHOP_PAGE_URL", "https://launcher.example.org/instances/intro-abcdefghij");
    Program::start_by(command, app.addr).await
}

/// Starts the program for addresses without a workshop, with the same launcher.
async fn notice(app: &App, settings: &[(&str, &str)]) -> Program {
    let mut command = command(settings);
    command.arg("notice").env("SERVICE_PUBLIC_URL", "https://launcher.example.org");
    Program::start_by(command, app.addr).await
}

/// Sends these bytes on a new connection. Returns all bytes received until the program closes the connection.
async fn answer(program: &Program, request: &str) -> String {
    let mut client = Client::connect(program.addr).await;
    client.send(request).await;
    client.read_to_end().await
}

fn request(start: &str, lines: &str) -> String {
    request_to("intro-abcdefghij.workshops.example.net", start, lines)
}

fn request_to(host: &str, start: &str, lines: &str) -> String {
    format!("{start} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{lines}\r\n")
}

#[tokio::test]
async fn address_without_workshop_gives_same_bytes_as_workshop_of_other_user() {
    let app = App::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let brand = [("SERVICE_BRAND_NAME", "R&D Lab"), ("SERVICE_BRAND_COLOR", "#7a1fa2")];
    let (sidecar, notice) = (sidecar(&app, &brand).await, notice(&app, &[]).await);
    let html = format!("{BOB}Accept: text/html\r\n");
    let languages = Language::all().map(|language| language.texts().code).chain(["tlh"]);
    let mut requests: Vec<String> =
        languages.map(|language| request("GET /lab", &format!("{html}Accept-Language: {language}\r\n"))).collect();
    let upgrade = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n";
    requests.extend([
        request("GET /", BOB),
        request("HEAD /", &html),
        request("GET /_launcher/frame", &html),
        request("GET /_launcher/status", BOB),
        request("GET /healthz", BOB),
        request("TRACE /", BOB),
        request("GET //other?x=%00", &html),
        request("GET /api/kernels", &format!("{BOB}{upgrade}")),
        request("POST /", &format!("{html}Content-Length: 3\r\n")) + "abc",
        request("GET /", ""),
        request("GET /", &format!("{BOB}{BOB}")),
        request("GET /", "X_Auth_Request_Email: bob@example.org\r\n"),
        request("GET /", &format!("{html}Host: intro-abcdefghij.workshops.example.net\r\n")),
        request_to("INTRO-abcdefghij.workshops.example.net:443", "GET /", &html),
        request_to("intro-abcdefghij", "GET /", "Accept: text/html\r\n"),
        "no request\r\n\r\n".to_owned(),
    ]);
    for request in requests {
        let expected = answer(&sidecar, &request).await;
        assert!(!expected.is_empty(), "{request}");
        assert_eq!(answer(&notice, &request).await, expected, "{request}");
    }
    assert_eq!(app.connections(), 0);
}

#[tokio::test]
async fn notice_is_translated_page_with_link_to_launcher() {
    let app = App::answering("").await;
    let notice = notice(&app, &[]).await;
    let page =
        answer(&notice, &request("GET /", &format!("{ALICE}Accept: text/html\r\nAccept-Language: de\r\n"))).await;
    assert!(page.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{page}");
    for part in [
        "Content-Type: text/html; charset=utf-8\r\n",
        "Cache-Control: no-store\r\n",
        "<html lang=\"de\" dir=\"ltr\">",
        "<style>",
        "<a href=\"https://launcher.example.org/\" target=\"_top\">",
        "<a href=\"https://launcher.example.org/instances/intro-abcdefghij\" target=\"_top\">",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    for host in
        ["\"><script>.workshops.example.net", "a%22-b.workshops.example.net", "-a.workshops.example.net", "[::1]"]
    {
        let page = answer(&notice, &request_to(host, "GET /", &format!("{BOB}Accept: text/html\r\n"))).await;
        assert!(page.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{page}");
        assert!(!page.contains("/instances/") && !page.contains("<script"), "{host}: {page}");
    }
    let bob = answer(&notice, &request("GET /", &format!("{BOB}Accept: text/html\r\nAccept-Language: de\r\n"))).await;
    assert_eq!(page, bob, "no user is the owner");
    assert!(notice.ask("/healthz").await.starts_with("HTTP/1.1 200 "));
    assert_eq!(app.connections(), 0);
}

#[tokio::test]
async fn link_leads_to_name_without_suffix_of_hosts() {
    let app = App::answering("").await;
    let (sidecar, notice) = (sidecar(&app, &[]).await, notice(&app, &[("SERVICE_WORKSHOP_NAME_SUFFIX", "-ws")]).await);
    let lines = format!("{BOB}Accept: text/html\r\n");
    let page = answer(&notice, &request_to("intro-abcdefghij-ws.example.net", "GET /", &lines)).await;
    assert!(page.contains("href=\"https://launcher.example.org/instances/intro-abcdefghij\""), "{page}");
    assert_eq!(answer(&sidecar, &request_to("intro-abcdefghij-ws.example.net", "GET /", &lines)).await, page);
    let page = answer(&notice, &request_to("login.example.net", "GET /", &lines)).await;
    assert!(!page.contains("/instances/"), "{page}");
}

#[tokio::test]
async fn proven_and_unproven_identity_get_same_bytes_as_from_sidecar_with_proxy_secret() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets");
    std::fs::write(&file, SECRET).unwrap();
    let app = App::answering("").await;
    let sidecar = sidecar(&app, &[("SERVICE_PROXY_SECRET_FILE", file.to_str().unwrap())]).await;
    let notice = notice(&app, &[]).await;
    let proof = format!("X-Auth-Request-Proof: {SECRET}\r\n");
    for lines in
        ["", BOB, &proof, &format!("{BOB}{proof}"), &format!("{BOB}{proof}{proof}"), &format!("{BOB}{BOB}{proof}")]
    {
        let request = request("GET /", lines);
        let expected = answer(&sidecar, &request).await;
        assert!(expected.starts_with("HTTP/1.1 403 "), "{expected}");
        assert_eq!(answer(&notice, &request).await, expected, "{lines}");
    }
}

#[tokio::test]
async fn identity_in_another_trusted_header_gets_same_bytes_as_from_sidecar() {
    let app = App::answering("").await;
    let header = [("SERVICE_TRUSTED_AUTH_HEADER", "Remote-Email")];
    let (sidecar, notice) = (sidecar(&app, &header).await, notice(&app, &header).await);
    for lines in [BOB, "Remote-Email: bob@example.org\r\n"] {
        let request = request("GET /", lines);
        let expected = answer(&sidecar, &request).await;
        assert!(expected.starts_with("HTTP/1.1 403 "), "{expected}");
        assert_eq!(answer(&notice, &request).await, expected, "{lines}");
    }
}

#[test]
fn notice_without_valid_launcher_url_fails_start_with_one_line_error() {
    for (settings, said) in [
        (vec![], "SERVICE_PUBLIC_URL (--public-url) is not set"),
        (vec![("SERVICE_PUBLIC_URL", "launcher.example.org")], "write the URL of the launcher"),
    ] {
        let Output { status, stderr, .. } = command(&settings).arg("notice").output().unwrap();
        let error = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(2), "{error}");
        assert!(error.contains(said) && error.lines().count() == 1, "{error}");
    }
}
