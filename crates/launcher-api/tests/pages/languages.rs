//! The language of the pages.

use http::{Method, StatusCode};
use launcher_testkit::{ADMIN, ALICE};

use crate::support::{Answer, App, Browser};

/// Returns the codes of all languages.
fn all() -> Vec<String> {
    let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/locales")).unwrap();
    folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect()
}

async fn read(browser: &Browser, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request = browser.request(Method::GET, path);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    Answer::of(request).await
}

/// Returns the language in which the page is written.
async fn language(browser: &Browser, headers: &[(&str, &str)]) -> String {
    let page = read(browser, "/", headers).await.body;
    page.split("<html lang=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned()
}

#[tokio::test]
async fn page_has_the_language_that_the_browser_prefers_and_the_service_has() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let expected = [
        ("", "en"),
        ("de", "de"),
        ("de-AT,de;q=0.9", "de"),
        ("fr;q=0.5,es;q=0.9", "es"),
        ("tlh,vo;q=0.9,fr;q=0.1", "fr"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("ar-EG", "ar"),
        ("tlh", "en"),
        ("*", "en"),
        ("de;q=x,,;;", "en"),
        ("de;q=0,fr;q=0.001", "fr"),
    ];
    for (accepted, code) in expected {
        let found = language(&alice, &[("accept-language", accepted)]).await;
        assert_eq!(found, code, "{accepted}");
    }
    // Weights that are no numbers have no order.
    let weights = ["nan", "0.5", "inf", "-1", "1"].iter().cycle().take(60);
    let hostile: Vec<String> = weights.enumerate().map(|(index, q)| format!("x{index};q={q}")).collect();
    assert_eq!(language(&alice, &[("accept-language", &hostile.join(","))]).await, "en");
    let page = read(&alice, "/", &[("accept-language", "ar")]).await;
    assert!(page.body.contains("<html lang=\"ar\" dir=\"rtl\">") && page.body.contains("ورشاتي"), "{}", page.body);
    assert_eq!(page.header("vary"), "HX-Request, Accept-Encoding, Accept-Language, Cookie");
    app.finish().await;
}

#[tokio::test]
async fn chosen_language_is_remembered_and_wins_over_the_browser() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let page = alice.get("/history").await.body;
    assert!(page.contains("name=\"language\" value=\"de\" lang=\"de\" dir=\"ltr\">Deutsch</button>"), "{page}");
    assert!(page.contains("value=\"en\" lang=\"en\" dir=\"ltr\" aria-current=\"true\">English</button>"), "{page}");

    let request = alice.request(Method::POST, "/language").header("sec-fetch-site", "same-origin");
    let request = request.header("referer", "http://launcher.test/history?after=x").form(&[("language", "de")]);
    let chosen = Answer::of(request).await;
    assert_eq!(chosen.location(), "/history?after=x", "back on the page where the reader chose");
    let cookie = chosen.header("set-cookie");
    assert!(cookie.starts_with("language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"), "{cookie}");

    let remembered = [("cookie", "theme=x; language=de"), ("accept-language", "fr")];
    assert_eq!(language(&alice, &remembered).await, "de");
    let unknown = [("cookie", "language=xx"), ("accept-language", "fr")];
    assert_eq!(language(&alice, &unknown).await, "fr");

    let refused = alice.post("/language", &[("language", "../en")]).await;
    assert_eq!((refused.status, refused.header("set-cookie")), (StatusCode::SEE_OTHER, ""));
    app.finish().await;
}

#[tokio::test]
async fn links_to_a_workshop_pass_on_the_chosen_language_only() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&template).await;
    alice.get_until(&format!("/instances/{name}"), "state-running").await;
    let frame = format!("http://{name}.workshops.test/_launcher/frame");
    for (header, value, expected) in
        [("cookie", "language=fr", format!("{frame}?lang=fr")), ("accept-language", "fr", frame.clone())]
    {
        let request = alice.request(Method::GET, &format!("/instances/{name}/open")).header(header, value);
        assert_eq!(Answer::of(request).await.location(), expected, "{header}");
    }
    app.finish().await;
}

#[tokio::test]
async fn each_page_renders_in_each_language() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let admin = app.browser(ADMIN);
    let name = admin.launch(&template).await;
    let running = format!("/instances/{name}");
    admin.get_until(&running, "state-running").await;
    let edit = format!("/admin/templates/{template}/edit");
    let class = format!("/admin/templates/{template}/workshops");
    let (launch, end) = (format!("/launch/{template}"), format!("{running}/end"));
    let pages = [
        "/",
        "/history",
        &launch,
        &running,
        &end,
        "/guide/students",
        "/guide/teachers",
        "/admin",
        "/admin/activity",
        "/admin/instances",
        "/admin/templates",
        "/admin/templates/new",
        &edit,
        &class,
    ];
    for code in all() {
        let guide = read(&admin, "/guide/teachers", &[("accept-language", &code)]).await.body;
        let labels = guide.split("<strong>").skip(1).map(|part| part.split("</strong>").next().unwrap());
        let is_key = |label: &&str| label.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert_eq!(labels.filter(is_key).collect::<Vec<_>>(), [""; 0], "a key without a text in {code}");
        for path in pages {
            let page = read(&admin, path, &[("accept-language", &code)]).await;
            assert_eq!(page.status, StatusCode::OK, "{path} in {code}");
            assert!(page.body.contains(&format!("<html lang=\"{code}\"")), "{path} in {code}");
            assert!(page.body.contains("</html>") && !page.body.contains('\u{e000}'), "{path} in {code}");
        }
    }
    app.finish().await;
}

#[tokio::test]
async fn errors_and_failures_are_in_the_readers_language() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let german = [("accept-language", "de")];
    let missing = read(&alice, "/instances/unknown", &german).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    assert!(missing.body.contains("Seite nicht gefunden"), "{}", missing.body);
    let unauthenticated = read(&app.anonymous(), "/", &german).await;
    assert_eq!(unauthenticated.status, StatusCode::UNAUTHORIZED);
    assert!(unauthenticated.body.contains("<html lang=\"de\""), "{}", unauthenticated.body);
    app.finish().await;
}
