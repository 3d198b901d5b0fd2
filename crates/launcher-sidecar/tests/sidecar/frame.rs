//! The frame page, its files and the status.

use std::path::Path;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use launcher_domain::Clock;
use launcher_domain::brand::{AccentColor, Brand, BrandName};
use launcher_domain::local_path::LocalPath;
use launcher_sidecar::frame::{Expiry, ExpiryFile, Frame, LastCrash, WorkshopPage};
use tempfile::TempDir;

use super::support::client::Response;
use super::support::program::Program;
use super::support::{ALICE, App, Client, Setup, policy};

#[derive(Debug)]
struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Returns a frame page of the course `Maps & "graphs"` that reads the expiry from this file.
pub(crate) fn frame(file: &Path) -> Frame {
    Frame {
        expiry: Expiry::File(ExpiryFile::new(file.to_owned())),
        last_crash: LastCrash::File(file.with_file_name("last-crash")),
        start_path: LocalPath::parse("/vnc.html?autoconnect=1&scale=1").unwrap(),
        workshop_page: Some(WorkshopPage::parse("https://launcher.example.org/instances/intro-a").unwrap()),
        course: Some("Maps & \"graphs\"".to_owned()),
        clock: Arc::new(At("2026-01-01T12:00:00Z".parse().unwrap())),
        ..Frame::default()
    }
}

/// Starts Alice's sidecar with this frame page.
pub(crate) async fn framed_by(frame: Frame) -> Setup {
    Setup::with_frame(policy(), App::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await, frame).await
}

async fn framed(file: &Path) -> Setup {
    framed_by(frame(file)).await
}

pub(crate) async fn get(setup: &Setup, target: &str, lines: &str) -> Response {
    let mut client = setup.client().await;
    client.send(format!("GET {target} HTTP/1.1\r\nHost: w\r\n{lines}\r\n")).await;
    client.read_response().await
}

#[tokio::test]
async fn caller_other_than_owner_gets_same_403_as_for_app() {
    let setup = Setup::new().await;
    for lines in ["", "X-Auth-Request-Email: bob@example.org\r\n"] {
        let lines = format!("{lines}Accept: text/html\r\n");
        let app = get(&setup, "/lab", &lines).await;
        assert_eq!(app.status, 403);
        for name in
            ["frame", "status", "events", "frame.css", "frame.js", "answer.js", "class.js", "worker.js", "unknown", ""]
        {
            assert_eq!(get(&setup, &format!("/_launcher/{name}"), &lines).await, app, "{name}");
        }
    }
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn frame_page_without_path_shows_the_start_path() {
    let folder = TempDir::new().unwrap();
    let setup = framed(&folder.path().join("expires-at")).await;
    let start = "/vnc.html?autoconnect=1&amp;scale=1";
    let another_site = format!("{ALICE}Sec-Fetch-Site: cross-site\r\n");
    for (target, lines, path) in [
        ("/_launcher/frame", ALICE, start),
        ("/_launcher/frame?path=/files", &another_site, start),
        ("/_launcher/frame?path=/files", ALICE, "/files"),
        ("/_launcher/frame?path=/", ALICE, "/"),
    ] {
        let page = get(&setup, target, lines).await.body;
        assert!(page.contains(&format!("src=\"{path}\"")), "{target}: {page}");
        assert!(page.contains(&format!("data-start=\"{start}\"")), "{target}: {page}");
    }
}

#[tokio::test]
async fn bar_repeats_the_trouble_of_the_course_material() {
    let folder = TempDir::new().unwrap();
    let setup = framed(&folder.path().join("expires-at")).await;
    for (query, text) in [
        ("?lang=en&material=failed", "The course files did not load completely."),
        ("?material=conflicts", "You and the course changed the same files."),
        ("", ""),
        ("?material=<b>", ""),
    ] {
        let page = get(&setup, &format!("/_launcher/frame{query}"), ALICE).await.body;
        assert!(page.contains(&format!("<p id=\"material\">{text}")), "{query}: {page}");
    }
}

#[tokio::test]
async fn bar_has_name_and_color_of_the_installation() {
    let brand = Brand {
        name: Some(BrandName::parse("R&D <Lab>").unwrap()),
        color: Some(AccentColor::parse("#7a1fa2").unwrap()),
    };
    let workshop_page = Some(WorkshopPage::parse("https://launcher.example.org/instances/intro-a").unwrap());
    let app = App::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let setup = Setup::with_frame(policy(), app, Frame { brand, workshop_page, ..Frame::default() }).await;
    let page = get(&setup, "/_launcher/frame", ALICE).await.body;
    assert!(page.contains("/instances/intro-a\">R&amp;D &lt;Lab&gt;</a>"), "{page}");
    let style = page.split('"').find(|part| part.starts_with("/_launcher/frame.css?")).unwrap();
    let sent = get(&setup, style, ALICE).await;
    assert!(sent.body.contains("solid light-dark(#7a1fa2, "), "{}", sent.body);
    let plain = get(&Setup::new().await, "/_launcher/frame", ALICE).await.body;
    assert!(!plain.contains(style), "the address of the style sheet has a hash of its content: {plain}");
}

#[tokio::test]
async fn frame_page_shows_the_app_and_links_to_the_launcher() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("expires-at");
    std::fs::write(&file, "2026-01-01T13:00:00Z\n").unwrap();
    let setup = framed(&file).await;
    let page = get(&setup, "/_launcher/frame?path=/lab/tree/a%22b", &format!("{ALICE}Accept-Language: de\r\n")).await;
    assert_eq!((page.status, page.header("Cache-Control")), (200, Some("no-store")));
    assert_eq!(page.header("Content-Type"), Some("text/html; charset=utf-8"));
    let policy = page.header("Content-Security-Policy").unwrap();
    for directive in
        ["default-src 'none'", "script-src 'self';", "frame-src 'self'", "worker-src 'self'", "frame-ancestors 'none'"]
    {
        assert!(policy.contains(directive), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    for part in [
        "<html lang=\"de\" dir=\"ltr\">",
        "src=\"/lab/tree/a&quot;b\"",
        "href=\"https://launcher.example.org/instances/intro-a\"",
        "href=\"https://launcher.example.org/instances/intro-a/extend\" target=\"_blank\">",
        "data-launcher=\"https://launcher.example.org\"",
        "role=\"alert\"",
        "<title>Maps &amp; &quot;graphs&quot;</title>",
        "<p id=\"course\" dir=\"auto\">Maps &amp; &quot;graphs&quot;</p>",
        "<noscript><p>Ende: <time datetime=\"2026-01-01T13:00:00Z\" dir=\"ltr\">2026-01-01 13:00 UTC</time></p></noscript>",
    ] {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }
    assert!(!page.body.contains("style=") && !page.body.contains("<script>"), "{}", page.body);
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn only_workshop_of_a_class_has_its_hand() {
    for in_class in [true, false] {
        let setup = framed_by(Frame { in_class, ..frame(Path::new("/missing")) }).await;
        let page = get(&setup, "/_launcher/frame?lang=fr", ALICE).await;
        let button = "<button id=\"hand\" type=\"button\">Lever la main</button>";
        for part in ["data-path=\"/_launcher/class/intro-a/\"", button, "/_launcher/class.js?"] {
            assert_eq!(page.body.contains(part), in_class, "{part} in {}", page.body);
        }
        let policy = page.header("Content-Security-Policy").unwrap();
        assert!(policy.contains("connect-src 'self';") && policy.contains("frame-src 'self';"), "{policy}");
        // The launcher answers these paths. If the proxy in front does not lead them there, the app does not get them.
        assert_eq!(get(&setup, "/_launcher/class/intro-a/news", ALICE).await.status, 404);
        setup.assert_app_untouched().await;
    }
    let bare = framed_by(Frame { in_class: true, ..Frame::default() }).await;
    let page = get(&bare, "/_launcher/frame", ALICE).await.body;
    assert!(!page.contains("id=\"hand\""), "without the page of the workshop: {page}");
}

#[tokio::test]
async fn chosen_language_is_remembered_below_the_prefix_only() {
    let setup = framed(Path::new("/missing")).await;
    let german = format!("{ALICE}Accept-Language: de\r\n");
    let page = get(&setup, "/_launcher/frame?lang=fr", &german).await;
    assert!(page.body.contains("<html lang=\"fr\""), "{}", page.body);
    let cookie = page.header("Set-Cookie").unwrap();
    assert_eq!(cookie, "language=fr; Path=/_launcher/; Max-Age=31536000; HttpOnly; SameSite=Lax");
    for (target, cookie, expected) in [
        ("/_launcher/frame", "a=b; language=fr", "fr"),
        ("/_launcher/frame?lang=es", "language=fr", "es"),
        ("/_launcher/frame?lang=tlh", "language=fr", "fr"),
        ("/_launcher/frame", "language=tlh", "de"),
    ] {
        let page = get(&setup, target, &format!("{german}Cookie: {cookie}\r\n")).await;
        assert!(page.body.contains(&format!("<html lang=\"{expected}\"")), "{target} {cookie}: {}", page.body);
        assert_eq!(page.header("Set-Cookie").is_some(), target.ends_with("es"), "{target}");
    }
}

#[tokio::test]
async fn link_to_extend_is_hidden_while_expiry_is_unknown() {
    let folder = TempDir::new().unwrap();
    let setup = framed(&folder.path().join("missing")).await;
    let page = get(&setup, "/_launcher/frame", ALICE).await;
    assert!(page.body.contains("/instances/intro-a/extend\" target=\"_blank\" hidden>"), "{}", page.body);
    assert!(!page.body.contains("<noscript>"), "{}", page.body);
    let bare = get(&Setup::new().await, "/_launcher/frame", ALICE).await;
    assert!(bare.body.contains("<iframe id=\"app\" title=\"App\" src=\"/\""), "{}", bare.body);
    assert!(!bare.body.contains("<nav") && !bare.body.contains("extend"), "{}", bare.body);
}

#[tokio::test]
async fn status_follows_the_file_and_is_no_use_of_the_app() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("expires-at");
    let setup = framed(&file).await;
    let used = setup.sidecar.activity().last_used;
    for (content, expected) in [
        (None, "null"),
        (Some(""), "null"),
        (Some("soon"), "null"),
        (Some("2026-01-01T13:00:00Z\n"), "\"2026-01-01T13:00:00Z\""),
        (Some("2026-01-01T14:00:00Z"), "\"2026-01-01T14:00:00Z\""),
    ] {
        if let Some(content) = content {
            std::fs::write(&file, content).unwrap();
        }
        let status = get(&setup, "/_launcher/status", ALICE).await;
        let expected =
            format!("{{\"expires_at\":{expected},\"crash\":null,\"app\":\"up\",\"now\":\"2026-01-01T12:00:00Z\"}}\n");
        assert_eq!(status.body, expected);
        assert_eq!(status.header("Cache-Control"), Some("no-store"));
        assert_eq!(status.header("Content-Type"), Some("application/json; charset=utf-8"));
    }
    assert_eq!(setup.sidecar.activity().last_used, used);
    assert_eq!(setup.app.seen(), "");
}

#[tokio::test]
async fn status_has_the_last_crash_of_the_app() {
    let folder = TempDir::new().unwrap();
    let setup = framed(&folder.path().join("expires-at")).await;
    for (content, expected) in [
        ("", None),
        ("crashed", None),
        ("2026-01-01T11:59:00Z crashed\n", Some([false, false])),
        ("2026-01-01T11:59:00Z code-of-a-newer-fleet", Some([false, false])),
        ("2026-01-01T11:59:00Z out-of-memory", Some([true, false])),
        ("2026-01-01T11:59:00Z out-of-memory files-lost", Some([true, true])),
    ] {
        std::fs::write(folder.path().join("last-crash"), content).unwrap();
        let status = get(&setup, "/_launcher/status", ALICE).await.body;
        let crash = expected.map_or("null".to_owned(), |[memory, files]| {
            format!("{{\"at\":\"2026-01-01T11:59:00Z\",\"out_of_memory\":{memory},\"files_lost\":{files}}}")
        });
        assert!(status.contains(&format!(",\"crash\":{crash},")), "{content}: {status}");
    }
}

#[tokio::test]
async fn relative_expiry_counts_from_the_first_connection_of_the_app() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("expires-at");
    std::fs::write(&file, "+5400").unwrap();
    let setup = framed(&file).await;
    let shows = async |expected: &str| {
        let status = get(&setup, "/_launcher/status", ALICE).await;
        assert!(status.body.starts_with(&format!("{{\"expires_at\":{expected},")), "{}", status.body);
    };
    shows("null").await;
    setup.sidecar.check_app().await.unwrap();
    shows("\"2026-01-01T13:30:00Z\"").await;
    for (content, expected) in [("2026-01-01T14:00:00Z", "\"2026-01-01T14:00:00Z\""), ("+-5", "null")] {
        std::fs::write(&file, content).unwrap();
        shows(expected).await;
    }
}

/// A clock that a test sets.
#[derive(Debug)]
struct Settable(Mutex<Timestamp>);

impl Clock for Settable {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

#[tokio::test]
async fn relative_expiry_stays_the_same_at_later_connections_of_the_app() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("expires-at");
    std::fs::write(&file, "+5400").unwrap();
    let clock = Arc::new(Settable(Mutex::new(Timestamp::UNIX_EPOCH)));
    let setup = framed_by(Frame { clock: clock.clone(), ..frame(&file) }).await;
    for now in ["2026-01-01T12:00:00Z", "2026-01-01T12:30:00Z"] {
        *clock.0.lock().unwrap() = now.parse().unwrap();
        setup.sidecar.check_app().await.unwrap();
        let status = get(&setup, "/_launcher/status", ALICE).await.body;
        assert!(status.starts_with("{\"expires_at\":\"2026-01-01T13:30:00Z\","), "{now}: {status}");
    }
}

#[tokio::test]
async fn settings_of_the_program_reach_the_frame_page() {
    let folder = TempDir::new().unwrap();
    let (expiry, crash) = (folder.path().join("expires-at"), folder.path().join("last-crash"));
    std::fs::write(&expiry, "2026-01-01T13:00:00Z").unwrap();
    std::fs::write(&crash, "2026-01-01T11:59:00Z out-of-memory").unwrap();
    let app = App::answering("").await;
    let settings = [
        ("SERVICE_EXPIRY_FILE", expiry.to_str().unwrap()),
        ("SERVICE_LAST_CRASH_FILE", crash.to_str().unwrap()),
        ("SERVICE_START_PATH", "/vnc.html?autoconnect=1"),
        ("SERVICE_COURSE", "Maps"),
        ("SERVICE_BRAND_NAME", "R&D Lab"),
        ("SERVICE_BRAND_COLOR", "#7a1fa2"),
        ("SERVICE_WORKSHOP_PAGE_URL", "https://launcher.example.org/instances/intro-a"),
    ];
    let program = Program::start(app.addr, &settings).await;
    let mut client = Client::connect(program.addr).await;
    let status = ["\"expires_at\":\"2026-01-01T13:00:00Z\"", "\"out_of_memory\":true"];
    let page = ["src=\"/vnc.html?autoconnect=1\"", "<title>Maps</title>", "/instances/intro-a\">R&amp;D Lab</a>"];
    for (name, parts) in [("status", &status[..]), ("frame", &page[..]), ("frame.css", &["light-dark(#7a1fa2, "][..])] {
        client.send(format!("GET /_launcher/{name} HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
        let body = client.read_response().await.body;
        assert!(parts.iter().all(|part| body.contains(part)), "{parts:?} in {body}");
    }
}

#[tokio::test]
async fn files_of_frame_page_are_cached_for_ever() {
    let setup = framed_by(Frame { in_class: true, ..frame(Path::new("/missing")) }).await;
    let page = get(&setup, "/_launcher/frame", ALICE).await;
    let (script, style) = ("text/javascript; charset=utf-8", "text/css; charset=utf-8");
    for (name, media) in [("frame.css", style), ("frame.js", script), ("answer.js", script), ("class.js", script)] {
        let start = page.body.find(&format!("\"/_launcher/{name}?")).unwrap() + 1;
        let url = page.body[start..].split('"').next().unwrap();
        let file = get(&setup, url, ALICE).await;
        assert_eq!((file.status, file.header("Content-Type")), (200, Some(media)), "{url}");
        assert_eq!(file.header("Cache-Control"), Some("private, max-age=31536000, immutable"));
        assert_eq!(file.header("X-Content-Type-Options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn worker_of_the_frame_page_has_a_constant_address_and_no_larger_scope() {
    let setup = Setup::new().await;
    let worker = get(&setup, "/_launcher/worker.js", &format!("{ALICE}Service-Worker: script\r\n")).await;
    let media = worker.header("Content-Type");
    assert_eq!((worker.status, media), (200, Some("text/javascript; charset=utf-8")));
    assert_eq!((worker.header("Cache-Control"), worker.header("Service-Worker-Allowed")), (Some("no-store"), None));
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn reserved_paths_never_reach_the_app() {
    let setup = Setup::new().await;
    let line = format!("Host: w\r\n{ALICE}");
    for (request, status) in [
        (format!("GET /_launcher/ HTTP/1.1\r\n{line}\r\n"), 404),
        (format!("GET /_launcher/frame/ HTTP/1.1\r\n{line}\r\n"), 404),
        (format!("GET http://w/_launcher/other HTTP/1.1\r\n{line}\r\n"), 404),
        (format!("DELETE /_launcher/frame HTTP/1.1\r\n{line}\r\n"), 405),
        (format!("POST /_launcher/status HTTP/1.1\r\n{line}Content-Length: 2\r\n\r\nok"), 405),
        (format!("GET /_launcher/frame HTTP/1.1\r\n{line}Content-Length: 2\r\n\r\nok"), 405),
    ] {
        assert_eq!(setup.status(&request).await, status, "{request}");
    }
    setup.assert_app_untouched().await;
    assert_eq!(get(&setup, "/_launcher", ALICE).await.body, "ok", "only the prefix with its slash is reserved");
}

#[tokio::test]
async fn connection_stays_open_after_a_page_of_the_sidecar() {
    let setup = Setup::new().await;
    let mut client = setup.client().await;
    for (target, status) in
        [("/_launcher/frame", 200), ("/", 200), ("/_launcher/none", 404), ("/_launcher/status", 200)]
    {
        client.send(format!("GET {target} HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
        assert_eq!(client.read_response().await.status, status, "{target}");
    }
    client.send(format!("HEAD /_launcher/frame HTTP/1.1\r\nHost: w\r\n{ALICE}Connection: close\r\n\r\n")).await;
    assert!(client.read_to_end().await.ends_with("Connection: close\r\n\r\n"));
}

#[tokio::test]
async fn refusal_has_the_language_of_the_browser_and_leads_to_the_launcher() {
    let setup = framed(Path::new("/missing")).await;
    let lines = "X-Auth-Request-Email: bob@example.org\r\nAccept: text/html\r\nAccept-Language: ar,en;q=0.5\r\n";
    let page = get(&setup, "/", lines).await;
    assert_eq!(page.status, 403);
    for part in ["<html lang=\"ar\" dir=\"rtl\">", "href=\"https://launcher.example.org/\" target=\"_top\""] {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }
}

#[test]
fn documentation_has_each_setting_that_the_bar_names() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = std::fs::read_to_string(folder.join("assets/answer.js")).unwrap();
    let documentation = std::fs::read_to_string(folder.join("../../docs/apps.md")).unwrap();
    let lines: Vec<&str> = script.split("line: `").skip(1).filter_map(|rest| rest.split('`').next()).collect();
    assert!(lines.len() > 5, "{lines:?}");
    for line in lines {
        assert!(documentation.contains(line), "{line} is not in docs/apps.md");
    }
}
