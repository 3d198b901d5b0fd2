//! The name, the accent colour and the logo of an installation.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::StatusCode;
use launcher_testkit::Options;
use sha2::{Digest, Sha256};

use crate::support::{ALICE, App};

const LOGO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/icon.svg");
const NAME: &str = "R&D <Lab>";
const ESCAPED: [&str; 2] = ["R&#38;D &#60;Lab&#62;", "R&amp;D &lt;Lab&gt;"];

/// Returns the first file of a page whose address begins with this text.
fn file<'p>(page: &'p str, beginning: &str) -> &'p str {
    page.split('"').find(|part| part.starts_with(beginning)).unwrap()
}

#[tokio::test]
async fn pages_show_name_and_color_of_the_installation() {
    let app = App::with(Options::with_settings(&["--brand-name", NAME, "--brand-color=#7a1fa2"])).await;
    let alice = app.browser(ALICE);
    for path in ["/", "/history", "/no-such-page", "/signed-out", "/api/v1/docs"] {
        let client = if path == "/signed-out" { app.anonymous() } else { app.browser(ALICE) };
        let page = client.get(path).await;
        let title = page.body.split("</title>").next().unwrap().rsplit("<title>").next().unwrap();
        assert!(ESCAPED.iter().any(|name| title.ends_with(name)), "{path}: {title}");
        assert!(!page.body.contains(NAME), "{path}: the name is not escaped");
        let header = page.body.split("class=\"brand\"").nth(1).unwrap().split("main").next().unwrap();
        assert!(ESCAPED.iter().any(|name| header.contains(name)), "{path}: {header}");
    }
    let page = alice.get("/").await;
    let style = alice.get(file(&page.body, "/assets/app.")).await;
    assert_eq!((style.status, style.header("content-type")), (StatusCode::OK, "text/css; charset=utf-8"));
    assert!(style.body.rfind("--accent: #7a1fa2;") > style.body.find("--accent: #0b6e63;"), "{}", style.body);
    app.finish().await;
}

#[tokio::test]
async fn color_is_part_of_the_page_for_unauthenticated_users() {
    let app = App::with(Options::with_settings(&["--brand-color=#7a1fa2"])).await;
    let page = app.anonymous().get("/signed-out").await;
    let style = page.body.split(['<', '>']).skip_while(|part| *part != "style").nth(1).unwrap();
    assert!(style.contains("light-dark(#7a1fa2, "), "{style}");
    let hash = BASE64_STANDARD.encode(Sha256::digest(style));
    let policy = page.header("content-security-policy");
    assert!(policy.contains(&format!("style-src 'sha256-{hash}';")), "{policy}");
    app.finish().await;
}

#[tokio::test]
async fn logo_is_served_without_the_permission_to_run_or_load_anything() {
    let app = App::with(Options::with_settings(&["--brand-logo", LOGO])).await;
    let page = app.browser(ALICE).get("/").await;
    let logo = file(&page.body, "/assets/logo.");
    assert!(page.body.contains(&format!("<img src=\"{logo}\" alt=\"\">")), "{}", page.body);
    assert!(
        page.body.contains(&format!("<link rel=\"icon\" type=\"image/svg+xml\" href=\"{logo}\">")),
        "{}",
        page.body
    );
    let answer = app.browser(ALICE).request(http::Method::GET, logo).send().await.unwrap();
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!((answer.status(), header("content-type")), (StatusCode::OK, "image/svg+xml".to_owned()));
    assert_eq!(header("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(answer.bytes().await.unwrap(), std::fs::read(LOGO).unwrap());
    app.finish().await;
}
