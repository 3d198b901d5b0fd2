//! Pages of the app that a browser opens in a tab of its own: the sidecar leads them to the frame page.

use launcher_domain::local_path::LocalPath;
use launcher_sidecar::frame::Frame;

use super::frame::{framed_by, get};
use super::support::program::Program;
use super::support::{ALICE, App, Client, Setup};

/// Header lines of a browser that opens a page in a tab, except `Sec-Fetch-Site`.
const TAB: &str = "Sec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\nAccept: text/html,*/*;q=0.8\r\n";

fn tab(site: &str) -> String {
    format!("{ALICE}{TAB}Sec-Fetch-Site: {site}\r\n")
}

async fn setup(plain_tabs: bool) -> Setup {
    let start_path = LocalPath::parse("/lab?reset").unwrap();
    framed_by(Frame { start_path, plain_tabs, ..Frame::default() }).await
}

#[tokio::test]
async fn page_in_a_tab_is_led_to_the_frame_page_with_its_path() {
    let setup = setup(false).await;
    let used = setup.sidecar.activity().last_used;
    for (site, target, location, source) in [
        ("same-origin", "/notebooks/a%20b.ipynb?x=1&y", "?path=/notebooks/a%2520b.ipynb%3Fx%3D1%26y", "?x=1&amp;y"),
        ("same-origin", "/a+b;c\"'", "?path=/a%2Bb%3Bc%22%27", "src=\"/a+b;c&quot;'\""),
        ("none", "/", "?path=/", "src=\"/\""),
        ("none", "/lab?reset", "", "src=\"/lab?reset\""),
        ("cross-site", "/lab?reset", "", "src=\"/lab?reset\""),
    ] {
        let answer = get(&setup, target, &tab(site)).await;
        let expected = format!("/_launcher/frame{location}");
        assert_eq!((answer.status, answer.header("Location")), (303, Some(&*expected)), "{site} {target}");
        assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{target}");
        let page = get(&setup, &expected, &tab(site)).await;
        assert!(page.status == 200 && page.body.contains(source), "{target}: {}", page.body);
    }
    assert_eq!(setup.sidecar.activity().last_used, used, "a redirect is no use of the app");
    setup.assert_app_untouched().await;
}

#[tokio::test]
async fn every_other_request_gets_the_app_itself() {
    let setup = setup(false).await;
    let own = tab("same-origin");
    for (target, lines) in [
        ("/", ALICE.to_owned()),
        ("/", format!("{ALICE}Accept: text/html\r\n")),
        ("/", own.replace("document", "iframe")),
        ("/", own.replace("document", "empty")),
        ("/", own.replace("navigate", "cors")),
        ("/", own.replace("text/html", "image/png")),
        ("/files", tab("cross-site")),
        ("/files", tab("same-site")),
        ("/_launcher", own.clone() + "Cookie: a=b; launcher_plain=%2F_launcher\r\n"),
        ("/a?b=%20", own.clone() + "Cookie: launcher_plain=%2Fa%3Fb%3D%2520\r\n"),
        ("//evil.example/", own.clone()),
    ] {
        let answer = get(&setup, target, &lines).await;
        assert_eq!((answer.status, &*answer.body), (200, "ok"), "{target} {lines}");
    }
    let post = format!("POST / HTTP/1.1\r\nHost: w\r\n{own}Content-Length: 2\r\n\r\nok");
    assert_eq!(setup.status(&post).await, 200);
    let body = format!("GET / HTTP/1.1\r\nHost: w\r\n{own}Content-Length: 2\r\n\r\nok");
    assert_eq!(setup.status(&body).await, 200);
    let cookie = own + "Cookie: launcher_plain=%2Fother\r\n";
    assert_eq!(get(&setup, "/a", &cookie).await.status, 303, "the cookie names one page");
}

#[tokio::test]
async fn template_with_plain_tabs_has_no_bar_there() {
    let setup = setup(true).await;
    for target in ["/", "/lab?reset", "/other"] {
        let answer = get(&setup, target, &tab("same-origin")).await;
        assert_eq!((answer.status, &*answer.body), (200, "ok"), "{target}");
    }
}

#[tokio::test]
async fn setting_of_the_program_keeps_tabs_plain() {
    let app = App::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    for (value, status) in [("false", 303), ("true", 200)] {
        let program = Program::start(app.addr, &[("SERVICE_PLAIN_TABS", value)]).await;
        let mut client = Client::connect(program.addr).await;
        client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{}\r\n", tab("none"))).await;
        assert_eq!(client.read_response().await.status, status, "{value}");
    }
}

#[tokio::test]
async fn setting_of_the_program_gives_the_bar_the_hand() {
    let app = App::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let page = ("SERVICE_WORKSHOP_PAGE_URL", "https://launcher.example.org/instances/intro-a");
    for value in ["false", "true"] {
        let program = Program::start(app.addr, &[("SERVICE_IN_CLASS", value), page]).await;
        let mut client = Client::connect(program.addr).await;
        client.send(format!("GET /_launcher/frame HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
        let body = client.read_response().await.body;
        assert_eq!(body.contains("id=\"hand\""), value == "true", "{body}");
    }
}

#[tokio::test]
async fn caller_other_than_owner_gets_403_in_a_tab() {
    let setup = setup(false).await;
    let lines = tab("none").replace("alice", "bob");
    assert_eq!(get(&setup, "/", &lines).await.status, 403);
    setup.assert_app_untouched().await;
}
