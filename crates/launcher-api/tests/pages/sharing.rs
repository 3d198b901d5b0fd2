//! The link to a template: its QR code, and a start without a click.

use http::{Method, StatusCode};
use launcher_testkit::{ADMIN, ALICE, BOB};

use crate::support::{Answer, App, Browser};

/// Headers of a browser that opens an address from its address bar.
const ADDRESS_BAR: [(&str, &str); 3] =
    [("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];

async fn open(browser: &Browser, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request =
        headers.iter().fold(browser.request(Method::GET, path), |request, (name, value)| request.header(*name, *value));
    Answer::of(request).await
}

/// Reads the QR code of a page, like the camera of a phone.
pub(crate) fn scanned(page: &str) -> String {
    const PIXELS: usize = 4;
    let (_, code) = page.split_once("<svg class=\"qr\"").unwrap();
    let size: usize = between(code, "viewBox=\"0 0 ", " ").parse().unwrap();
    let mut dark = vec![vec![false; size]; size];
    for run in between(code, "<path d=\"", "\"").split('M').skip(1) {
        let (x, rest) = run.split_once(' ').unwrap();
        let (y, rest) = rest.split_once('h').unwrap();
        let (length, _) = rest.split_once('v').unwrap();
        let [x, y, length]: [usize; 3] = [x, y, length].map(|number| number.parse().unwrap());
        dark[y][x..x + length].fill(true);
    }
    let gray = |x: usize, y: usize| if dark[y / PIXELS][x / PIXELS] { 0 } else { 255 };
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(size * PIXELS, size * PIXELS, gray);
    let [grid] = image.detect_grids().try_into().unwrap_or_else(|_| panic!("expected one QR code: {code}"));
    grid.decode().unwrap().1
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

#[tokio::test]
async fn template_page_has_its_link_and_a_qr_code() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let page = app.browser(ALICE).get(&format!("/launch/{template}")).await.body;
    let link = format!("http://localhost:{}/launch/{template}", app.test.addr.port());
    assert!(page.contains(&format!("data-copy=\"{link}\"")), "{page}");
    assert_eq!(scanned(&page), link);
    let list = app.browser(ADMIN).get("/admin/templates").await.body;
    assert!(list.contains(&format!("data-copy=\"{link}\"")), "{list}");
    assert!(list.contains(&format!("href=\"/launch/{template}#share\"")), "{list}");
    app.finish().await;
}

#[tokio::test]
async fn start_link_launches_once_and_then_opens_the_workshop() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let (alice, link) = (app.browser(ALICE), format!("/launch/{template}?start=1"));
    let first = open(&alice, &link, &ADDRESS_BAR).await;
    let page = first.location().strip_suffix("/wait").unwrap().to_owned();
    assert!(page.starts_with("/instances/penguins-"), "{page}");
    let again = open(&alice, &link, &ADDRESS_BAR).await;
    assert_eq!(again.location(), format!("{page}/open"));
    let from_elsewhere = open(&alice, &link, &[("sec-fetch-site", "cross-site")]).await;
    assert_eq!(from_elsewhere.location(), format!("{page}/open"), "it launches nothing");
    app.finish().await;
}

#[tokio::test]
async fn start_link_asks_for_a_click_unless_the_reader_opened_it() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let (bob, link) = (app.browser(BOB), format!("/launch/{template}?start=1"));
    let [site, mode, dest] = ADDRESS_BAR;
    for headers in [
        vec![],
        vec![("sec-fetch-site", "same-origin"), mode, dest],
        vec![("sec-fetch-site", "cross-site"), mode, dest],
        vec![("sec-fetch-site", "same-site"), mode, dest],
        vec![site, ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")],
        vec![site, mode, ("sec-fetch-dest", "iframe")],
        vec![site, mode, dest, ("sec-purpose", "prefetch")],
        vec![site, mode, dest, ("purpose", "prefetch")],
        vec![site, mode, dest, ("x-purpose", "preview")],
        vec![site, mode, dest, ("x-moz", "prefetch")],
    ] {
        let page = open(&bob, &link, &headers).await.location().to_owned();
        assert_eq!(page, format!("/launch/{template}"), "{headers:?}");
        assert!(bob.get(&page).await.body.contains(">Launch</button>"), "{headers:?}");
    }
    assert!(bob.get("/").await.body.contains("You have no workshops."), "no request has launched one");
    app.finish().await;
}

#[tokio::test]
async fn start_link_opened_twice_at_once_launches_once() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let (alice, link) = (app.browser(ALICE), format!("/launch/{template}?start=1"));
    for _ in 0..3 {
        let tabs = tokio::join!(
            open(&alice, &link, &ADDRESS_BAR),
            open(&alice, &link, &ADDRESS_BAR),
            open(&alice, &link, &ADDRESS_BAR)
        );
        let name = |answer: &Answer| answer.location().split('/').nth(2).unwrap().to_owned();
        let names = [name(&tabs.0), name(&tabs.1), name(&tabs.2)];
        assert_eq!(names, [0; 3].map(|_| names[0].clone()), "all tabs get the same workshop");
        let end = format!("/instances/{}/end", names[0]);
        alice.post(&end, &[("return_to", "/")]).await;
        alice.get_until("/", "You have no workshops.").await;
    }
    app.finish().await;
}

#[tokio::test]
async fn start_link_at_the_instance_limit_shows_the_notice() {
    let app = App::with_limit(1).await;
    let (penguins, whales) = (app.template("Penguins", |_| {}).await, app.template("Whales", |_| {}).await);
    let alice = app.browser(ALICE);
    alice.launch(&penguins).await;
    let refused = open(&alice, &format!("/launch/{whales}?start=1"), &ADDRESS_BAR).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.body.contains("You have 1 workshop. The limit is 1."), "{}", refused.body);
    app.finish().await;
}
