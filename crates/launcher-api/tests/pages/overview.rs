//! The admins' overview: current numbers, and figures of the last 24 hours.

use std::time::Duration;

use launcher_api::ApiProcess;
use launcher_domain::FailureCode;
use launcher_testkit::{Options, eventually};

use crate::support::{ADMIN, ALICE, App, BOB};

const PAGE: &str = "/admin";
const HOUR: Duration = Duration::from_secs(3600);

/// Returns the text of a page between `start` and `end`.
fn between<'p>(page: &'p str, start: &str, end: &str) -> &'p str {
    let (_, rest) = page.split_once(start).unwrap_or_else(|| panic!("no {start} in {page}"));
    rest.split_once(end).unwrap().0
}

/// Returns the number of instances in each state, as the overview shows them.
fn tiles(page: &str) -> Vec<u64> {
    let list = between(page, "aria-label=\"Instances now\"", "</ul>");
    list.split("class=\"figure\">").skip(1).map(|part| part.split('<').next().unwrap().parse().unwrap()).collect()
}

/// Returns the cells of the table row with this name.
fn cells<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let row = between(page, &format!("><bdi>{name}</bdi></a></th>"), "</tr>");
    row.split("<td").skip(1).map(|cell| cell.split(['>', '<']).nth(1).unwrap()).collect()
}

/// Returns the description of a chart for screen readers.
fn chart<'p>(page: &'p str, id: &str) -> &'p str {
    assert!(page.contains(&format!("<svg role=\"img\" aria-labelledby=\"chart-{id}\"")), "{page}");
    between(page, &format!("<title id=\"chart-{id}\">"), "</title>")
}

/// Returns which of the hours in the chart "In use" have a value above zero.
fn in_use(page: &str) -> Vec<bool> {
    let drawn = between(page, "id=\"chart-in-use\"", "</svg>");
    let line = between(drawn, "<path class=\"line\" d=\"M", "\"");
    line.split('L').map(|point| !point.ends_with(",64")).collect()
}

#[tokio::test]
async fn admin_pages_warn_while_workshops_share_one_user() {
    const TEXT: &str = "Workshops are not isolated from each other here";
    const PAGES: [&str; 5] = [PAGE, "/admin/instances", "/admin/templates", "/admin/templates/new", "/admin/activity"];
    let process = ApiProcess { shares_one_user: true, ..ApiProcess::default() };
    let shared = App::with(Options { process, ..Options::default() }).await;
    for page in PAGES {
        assert!(shared.browser(ADMIN).get(page).await.body.contains(TEXT), "{page}");
    }
    for who in [ADMIN, ALICE] {
        assert!(!shared.browser(who).get("/").await.body.contains(TEXT), "{who} on a page for everybody");
    }
    shared.finish().await;
    let separated = App::start().await;
    for page in PAGES {
        assert!(!separated.browser(ADMIN).get(page).await.body.contains(TEXT), "{page}");
    }
    separated.finish().await;
}

/// Launches a workshop for a user. After the time `after`, the instance becomes ready, or fails if `fails`.
async fn launched(app: &App, email: &'static str, template: &str, after: Duration, fails: bool) -> String {
    let name = app.browser(email).launch(template).await;
    eventually(async || app.test.fleet.workshop(&name)).await;
    app.test.clock.advance(after);
    if fails {
        app.test.fleet.fail(&name, FailureCode::Crashed, "");
    } else {
        app.test.fleet.ready(&name);
    }
    let text = if fails { "Failed" } else { "Ready" };
    app.browser(email).get_until(&format!("/instances/{name}"), text).await;
    name
}

async fn waits_for_ready() -> App {
    App::with(Options { runs_at_once: false, ..Options::default() }).await
}

#[tokio::test]
async fn overview_of_fresh_install_is_empty() {
    let app = App::start().await;
    let page = app.browser(ADMIN).get(PAGE).await.body;
    assert_eq!(tiles(&page), [0; 5]);
    assert!(page.contains("No launches in the last 24 hours.") && !page.contains("<svg"), "{page}");
    assert!(page.contains("<a href=\"/admin\" aria-current=\"page\">Overview</a>"));
    assert!(!app.browser(ALICE).get("/").await.body.contains("href=\"/admin\""), "it is for admins");
    app.finish().await;
}

#[tokio::test]
async fn overview_shows_last_day_in_figures_charts_and_tables() {
    let app = waits_for_ready().await;
    let (penguins, whales) = (app.template("Penguins", |_| {}).await, app.template("Whales", |_| {}).await);
    launched(&app, ALICE, &whales, Duration::from_secs(6), false).await;
    app.test.clock.advance(3 * HOUR);
    launched(&app, ALICE, &penguins, Duration::from_secs(12), false).await;
    app.test.clock.advance(3 * HOUR);
    launched(&app, BOB, &penguins, Duration::from_secs(200), false).await;
    launched(&app, BOB, &penguins, Duration::from_secs(5), true).await;
    let ended = launched(&app, ALICE, &whales, Duration::from_secs(4), false).await;
    app.browser(ALICE).post(&format!("/instances/{ended}/end"), &[]).await;
    app.browser(ALICE).get_until("/history", &ended).await;
    app.browser(ALICE).launch(&whales).await;

    let page = app.browser(ADMIN).get_until(PAGE, "class=\"state-starting\"").await.body;
    assert_eq!(tiles(&page), [0, 1, 3, 0, 1]);
    assert_eq!(cells(&page, "Penguins"), ["3", "1", "2", "12 s", "3 min 20 s", ""]);
    assert_eq!(cells(&page, "Whales"), ["3", "0", "1", "4.0 s", "6.0 s", ""]);
    assert!(page.find("<bdi>Penguins") < page.find("<bdi>Whales"), "the most launched comes first");
    assert_eq!(
        chart(&page, "launches"),
        "Launches in each of the last 24 hours: 6 in total, 1 failed (16 %). Maximum in one hour: 4, in the last hour."
    );
    assert!(chart(&page, "in-use").contains("3 now. Maximum: 3, in the last hour."), "{page}");
    assert!(chart(&page, "ready").contains("half of the starts within 6.0 s, 19 of 20 within 3 min 20 s."), "{page}");
    assert!(
        chart(&page, "ready").contains("Slowest hour: 19 of 20 starts within 3 min 20 s, in the last hour."),
        "{page}"
    );
    let failed = between(&page, "<g class=\"area-bad\"><path d=\"", "\"");
    assert_eq!(failed.matches(",64").count(), 25, "the last of 24 hours has a failure: {failed}");
    let hours = between(&page, "<summary>Hour by hour</summary>", "</details>");
    assert_eq!(hours.matches("<tr>").count(), 25, "each hour, below its head");
    app.finish().await;
}

#[tokio::test]
async fn running_instance_launched_over_24_hours_ago_counts_as_in_use() {
    let app = waits_for_ready().await;
    let penguins = app.template("Penguins", |_| {}).await;
    launched(&app, ALICE, &penguins, Duration::from_secs(1), false).await;
    app.test.clock.advance(25 * HOUR);
    let page = app.browser(ADMIN).get(PAGE).await.body;
    assert!(page.contains("No launches in the last 24 hours."), "{page}");
    assert_eq!(cells(&page, "Penguins"), ["0", "0", "1", "–", "–", ""]);
    assert_eq!(in_use(&page), [true; 24], "all day: {page}");
    for id in ["launches", "ready"] {
        assert!(!page.contains(&format!("chart-{id}")), "a chart of nothing is not drawn: {page}");
    }
    app.finish().await;
}

#[tokio::test]
async fn ended_instance_counts_as_in_use_until_its_end() {
    let app = waits_for_ready().await;
    let penguins = app.template("Penguins", |_| {}).await;
    let name = launched(&app, ALICE, &penguins, Duration::from_secs(1), false).await;
    app.test.clock.advance(2 * HOUR + HOUR / 2);
    app.browser(ALICE).post(&format!("/instances/{name}/end"), &[]).await;
    app.browser(ALICE).get_until("/history", &name).await;
    app.test.clock.advance(3 * HOUR - HOUR / 4);
    let page = app.browser(ADMIN).get(PAGE).await.body;
    assert_eq!(
        chart(&page, "in-use"),
        "Workshops in use at the end of each of the last 24 hours: 0 now. Maximum: 1, 3 hours ago."
    );
    assert_eq!(in_use(&page).iter().filter(|hour| **hour).count(), 3, "at the end of three hours: {page}");
    assert!(!page.contains("chart-launches"), "one hour with launches is no course: {page}");
    app.finish().await;
}
