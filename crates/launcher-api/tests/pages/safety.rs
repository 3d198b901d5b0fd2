//! Forbidden outcomes: scripts in data, pages for the wrong users, files with the wrong content.

use std::io::Read;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use http::{Method, StatusCode};
use launcher_domain::FailureCode;
use launcher_testkit::Options;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::support::{ADMIN, ALICE, Answer, App};

const EVIL: &str = "<img src=x onerror=alert(1)>";

/// Returns every page that shows text written by users.
async fn pages(app: &App) -> Vec<(String, Answer)> {
    let template = app
        .template(EVIL, |template| {
            template["description"] = json!(format!(
                "{EVIL}<script>alert(1)</script> [go](javascript:alert(1)) <a href=\"https://example.org\" onclick=\"alert(1)\" \
                 style=\"color:red\">x</a> <style>body{{}}</style> **bold**"
            ));
        })
        .await;
    let ended = app.browser(ADMIN).launch(&template).await;
    app.test.launcher.terminate(&app.admin(), &ended).await.unwrap();
    app.browser(ADMIN).get_until("/history", &ended).await;
    let name = app.browser(ADMIN).launch(&template).await;
    app.browser(ADMIN).get_until("/", "Ready").await;
    app.test.fleet.fail(&name, FailureCode::Crashed, EVIL);
    app.browser(ADMIN).get_until("/", "Failed").await;
    let outdated = app.browser(ADMIN).launch(&template).await;
    app.browser(ADMIN).get_until("/", "Ready").await;
    app.test.fleet.outdate(&outdated);
    app.browser(ADMIN).get_until("/admin/instances/restart", &outdated).await;
    let paths = [
        "/".to_owned(),
        "/history".to_owned(),
        "/nowhere".to_owned(),
        "/fragments/workshops".to_owned(),
        "/admin".to_owned(),
        "/admin/instances?owner=%22%3E%3Cscript%3E&q=%22%3E%3Cscript%3E".to_owned(),
        "/admin/instances?state=all".to_owned(),
        "/admin/instances/restart".to_owned(),
        "/admin/activity?person=%22%3E%3Cscript%3E".to_owned(),
        "/admin/instances?sort=%22%3E%3Cscript%3E&state=failed&after=%22%3E".to_owned(),
        "/admin/templates".to_owned(),
        "/admin/templates/new".to_owned(),
        format!("/admin/templates/{template}/edit"),
        format!("/admin/templates/{template}/workshops"),
        format!("/launch/{template}"),
        format!("/instances/{name}"),
        format!("/instances/{name}/end?return_to=%22%3E%3Cscript%3E"),
    ];
    let mut pages = Vec::new();
    for path in paths {
        let page = app.browser(ADMIN).get(&path).await;
        pages.push((path, page));
    }
    pages
}

#[tokio::test]
async fn pages_have_no_inline_code_and_strict_csp() {
    let app = App::start().await;
    for (path, page) in pages(&app).await {
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(page.header("cache-control"), "no-store", "{path}");
        for tag in page.body.split('<').skip(1) {
            let tag = tag.split('>').next().unwrap_or_default();
            // The parts outside quotation marks are the names of the tag and of its attributes.
            let names: String = tag.split('"').step_by(2).collect();
            assert!(!tag.starts_with("style") && !names.contains(" style="), "{path}: <{tag}>");
            assert!(!tag.starts_with("script") || tag.contains(" src=\"/assets/"), "{path}: <{tag}>");
            assert!(!names.contains(" on") && !names.contains(" hx-on"), "{path}: <{tag}>");
            assert!(!tag.to_lowercase().contains("javascript:"), "{path}: <{tag}>");
            assert!(!tag.starts_with("img") || tag.contains("src=\"/assets/"), "{path}: <{tag}>");
        }
    }
    app.finish().await;
}

#[tokio::test]
async fn pages_escape_names_and_sanitize_descriptions() {
    let app = App::start().await;
    for (path, page) in pages(&app).await {
        assert!(!page.body.contains(EVIL), "{path}");
        // A page that does not show the name at all would also pass the assertion above, so the escaped name must be
        // there.
        let shown = page.body.contains("&#60;img src=x onerror=alert(1)&#62;");
        let is_about_it = !["/nowhere", "/admin/templates/new"].contains(&path.as_str());
        assert_eq!(shown, is_about_it, "{path}: {}", page.body);
        if path.starts_with("/launch/") {
            assert!(page.body.contains("<strong>bold</strong>"), "{}", page.body);
        }
    }
    app.finish().await;
}

#[tokio::test]
async fn page_without_identity_is_401_with_login_link() {
    let app = App::start().await;
    let page = app.anonymous().get("/history?after=x").await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(page.body.contains("href=\"/oauth2/start?rd=%2Fhistory%3Fafter%3Dx\""), "{}", page.body);
    app.finish().await;
}

#[tokio::test]
async fn signed_out_page_shows_next_steps_and_loads_no_assets() {
    let app = App::start().await;
    let page = app.anonymous().get("/signed-out").await;
    assert_eq!(page.status, StatusCode::UNAUTHORIZED);
    for words in ["You are signed out", "sign out there too", "href=\"/\">Sign in again"] {
        assert!(page.body.contains(words), "{}", page.body);
    }
    for tag in ["<link", "<script", "<img", " src="] {
        assert!(!page.body.contains(tag), "a page for unauthenticated users must load no assets: {}", page.body);
    }
    let style = page.body.split(['<', '>']).skip_while(|part| *part != "style").nth(1).unwrap();
    let hash = BASE64_STANDARD.encode(Sha256::digest(style));
    let policy = page.header("content-security-policy");
    assert!(policy.contains(&format!("style-src 'sha256-{hash}';")), "the style of the page counts: {policy}");
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");

    let page = app.browser(ALICE).get("/signed-out").await;
    assert_eq!((page.status, page.header("location")), (StatusCode::SEE_OTHER, "/"));
    app.finish().await;
}

/// Without a login proxy, the login URL leads back to the launcher.
#[tokio::test]
async fn login_url_without_login_proxy_shows_setup_help() {
    let app = App::start().await;
    for path in ["/oauth2/start", "/oauth2/start?rd=%2F"] {
        let page = app.anonymous().get(path).await;
        assert_eq!(page.status, StatusCode::UNAUTHORIZED);
        for words in ["There is no login proxy at this address", "SERVICE_DEV_IDENTITY", "make run", "docs/settings.md"]
        {
            assert!(page.body.contains(words), "{path}: {}", page.body);
        }
        assert!(!page.body.contains("rd="), "{path}: {}", page.body);
    }
    app.finish().await;
}

/// Identifiers have only one accepted spelling, as in the API.
#[tokio::test]
async fn page_with_noncanonical_template_id_is_404() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let (alice, admin) = (app.browser(ALICE), app.browser(ADMIN));
    let simple = template.replace('-', "");
    for other in [&simple, &format!("urn:uuid:{template}"), &format!("%7B{template}%7D")] {
        assert_eq!(alice.get(&format!("/launch/{other}")).await.status, StatusCode::NOT_FOUND, "{other}");
        assert_eq!(alice.post(&format!("/launch/{other}"), &[]).await.status, StatusCode::NOT_FOUND, "{other}");
        let edit = admin.get(&format!("/admin/templates/{other}/edit")).await;
        assert_eq!(edit.status, StatusCode::NOT_FOUND, "{other}");
    }
    app.finish().await;
}

#[tokio::test]
async fn admin_pages_are_403_for_users() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    for path in ["activity", "instances", "templates", "templates/new", &format!("templates/{template}/edit")] {
        let page = alice.get(&format!("/admin/{path}")).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{path}");
        assert!(page.body.contains("for administrators") && page.body.contains(ALICE), "{path}");
    }
    for path in ["", &format!("/{template}"), &format!("/{template}/archive"), &format!("/{template}/restore")] {
        let page = alice.post(&format!("/admin/templates{path}"), &[("unknown", "field")]).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert!(alice.get("/").await.body.contains("Penguins"));
    app.finish().await;
}

#[tokio::test]
async fn cross_site_form_is_refused() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    let request = alice
        .request(Method::POST, &format!("/launch/{template}"))
        .form(&[("return_to", "/")])
        .header("sec-fetch-site", "same-site");
    let page = Answer::of(request).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(page.body.contains("<html") && !alice.get("/").await.body.contains("id=\"workshop-penguins"));
    app.finish().await;
}

#[tokio::test]
async fn server_error_page_shows_request_id() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let mine = alice.get("/nowhere").await;
    assert!(!mine.body.contains(mine.header("x-request-id")), "an error of the user shows no request ID");
    app.test.close_database().await;
    for path in ["/", "/history"] {
        let page = alice.get(path).await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        let number = page.header("x-request-id");
        assert!(!number.is_empty() && page.body.contains(&format!("<code>{number}</code>")), "{}", page.body);
        assert!(page.body.contains("Please try again in a moment") && !page.body.contains("sqlite"), "{}", page.body);
    }
    app.finish().await;
}

#[tokio::test]
async fn asset_names_contain_content_hash() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let page = alice.get("/").await;
    let files: Vec<&str> = page.body.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let answer = alice.get(file).await;
        assert_eq!(answer.status, StatusCode::OK, "{file}");
        assert!(answer.header("cache-control").contains("immutable"), "{file}");
        let hash: String = Sha256::digest(&answer.body).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        assert!(file.contains(&hash), "{file} has the hash {hash}");
        let known = alice.request(Method::GET, file).header("if-none-match", answer.header("etag"));
        let again = Answer::of(known).await;
        assert_eq!((again.status, again.body.as_str()), (StatusCode::NOT_MODIFIED, ""));
    }
    assert_eq!(alice.get("/assets/app.0000000000000000.js").await.status, StatusCode::NOT_FOUND);
    app.finish().await;
}

#[tokio::test]
async fn assets_are_gzipped_when_accepted() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let page = alice.get("/").await;
    let script = page.body.split('"').find(|part| part.starts_with("/assets/") && part.ends_with(".js")).unwrap();
    let plain = alice.get(script).await;
    assert!(plain.headers.get("content-encoding").is_none() && plain.header("vary") == "Accept-Encoding");
    for (accepted, compressed) in [("br, gzip", true), ("GZIP;q=0.5", true), ("gzip;q=0, br", false), ("br", false)] {
        let asked = alice.request(Method::GET, script).header("accept-encoding", accepted);
        let answer = asked.send().await.unwrap();
        let encoding = answer.headers().get("content-encoding").cloned();
        assert_eq!(encoding.is_some_and(|name| name == "gzip"), compressed, "{accepted}");
        let etag = answer.headers()["etag"].clone();
        let bytes = answer.bytes().await.unwrap();
        if compressed {
            let mut text = String::new();
            GzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
            assert!(text == plain.body && bytes.len() * 2 < text.len(), "{} bytes", bytes.len());
            let known = alice.request(Method::GET, script).header("accept-encoding", accepted);
            assert_eq!(Answer::of(known.header("if-none-match", etag)).await.status, StatusCode::NOT_MODIFIED);
        } else {
            assert_eq!(bytes, plain.body.as_bytes(), "{accepted}");
        }
    }
    app.finish().await;
}

#[test]
fn vendored_files_match_recorded_hashes() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/vendor");
    let list: serde_json::Value =
        serde_json::from_slice(&std::fs::read(directory.join("vendored.json")).unwrap()).unwrap();
    let mut listed = vec!["vendored.json".to_owned()];
    for entry in list["files"].as_array().unwrap() {
        let file = entry["file"].as_str().unwrap();
        let bytes = std::fs::read(directory.join(file)).unwrap();
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(entry["sha256"], hash, "{file} is not the file of {} {}", list["package"], list["version"]);
        listed.push(file.to_owned());
    }
    let mut there: Vec<String> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    listed.sort();
    there.sort();
    assert_eq!(there, listed, "every vendored file has its hash");
}

#[tokio::test]
async fn footer_has_the_version_and_the_configured_help_link() {
    let app = App::with(Options::with_settings(&["--help-url=mailto:help@example.org"])).await;
    let page = app.browser(ALICE).get("/").await.body;
    for part in [
        "<a href=\"mailto:help@example.org\">Help</a>",
        "<a href=\"/guide/students\">Guide for students</a>",
        "<a href=\"/guide/teachers\">Guide for teachers</a>",
        "<a href=\"/api/v1/docs\">API documentation</a>",
        concat!("Workshop Launcher ", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    app.finish().await;
    let app = App::start().await;
    assert!(!app.browser(ALICE).get("/").await.body.contains(">Help</a>"));
    app.finish().await;
}
