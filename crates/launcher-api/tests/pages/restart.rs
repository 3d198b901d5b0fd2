//! Restart of the workshops with an older version, by an admin.

use http::StatusCode;
use launcher_testkit::Options;

use crate::saved_work::kept;
use crate::support::{ADMIN, ALICE, App, BOB, borrowed};

const LIST: &str = "/admin/instances";
const RESTART: &str = "/admin/instances/restart";
const BULK: &str = "/admin/instances/bulk";

/// Starts an application in which two users have one ready workshop each. Returns the names of the workshops.
async fn two_are_ready() -> (App, [String; 2]) {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let names = [app.browser(ALICE).launch(&template).await, app.browser(BOB).launch(&template).await];
    for email in [ALICE, BOB] {
        app.browser(email).get_until("/", "Ready").await;
    }
    (app, names)
}

#[tokio::test]
async fn list_counts_outdated_workshops() {
    let (app, [hers, his]) = two_are_ready().await;
    let admin = app.browser(ADMIN);
    assert!(!admin.get(LIST).await.body.contains("older version"));
    app.test.fleet.outdate(&hers);
    let page = admin.get_until(LIST, "1 workshop runs with an older version").await;
    assert!(page.body.contains(&format!("href=\"{RESTART}?return_to=%2Fadmin%2Finstances\"")), "{}", page.body);
    app.test.fleet.outdate(&his);
    admin.get_until(LIST, "2 workshops run with an older version").await;
    let detail = format!("/instances/{hers}");
    let from_detail = format!("{RESTART}?return_to=%2Finstances%2F{hers}");
    assert!(admin.get(&detail).await.body.contains(&from_detail));
    let question = admin.get(&from_detail).await;
    assert!(question.body.contains(&format!("<a class=\"button\" href=\"{detail}\">")), "{}", question.body);
    let elsewhere = admin.get(&format!("{RESTART}?return_to=//evil.example")).await.body;
    assert!(elsewhere.contains(&format!("<a class=\"button\" href=\"{LIST}\">")), "{elsewhere}");
    assert!(!app.browser(ALICE).get(&detail).await.body.contains("older version"));
    app.finish().await;
}

#[tokio::test]
async fn confirmed_restart_restarts_exactly_the_listed_workshops_that_are_still_outdated() {
    let (app, [hers, his]) = two_are_ready().await;
    let admin = app.browser(ADMIN);
    assert!(admin.get(RESTART).await.body.contains("No workshop runs with an older version."));
    app.test.fleet.outdate(&hers);
    admin.get_until(LIST, "1 workshop runs").await;
    let question = admin.get(RESTART).await;
    assert!(question.body.contains("Restart 1 workshop?") && question.body.contains("is lost"), "{}", question.body);
    assert!(question.body.contains(&hers) && question.body.contains(ALICE) && !question.body.contains(&his));
    assert_eq!(app.test.fleet.workshop(&hers).unwrap().spec.restarted_at, None, "it was only asked about");

    // This workshop becomes outdated after the question was shown.
    app.test.fleet.outdate(&his);
    admin.get_until(LIST, "2 workshops run").await;
    let form = question.form(BULK);
    let report = admin.post(BULK, &borrowed(&form)).await;
    assert!(report.body.contains("Restarted 1 of 1") && report.body.contains(&hers), "{}", report.body);
    assert!(!report.body.contains(&his) && !report.body.contains("Not done:"), "{}", report.body);
    admin.get_until(LIST, "1 workshop runs").await;

    let again = admin.post(BULK, &borrowed(&form)).await;
    assert!(again.body.contains("Restarted 0 of 1") && again.body.contains("Not done:"), "{}", again.body);
    let log = admin.get("/admin/activity").await.body;
    assert_eq!(log.matches(" restarted ").count(), 1, "{log}");
    app.finish().await;
}

#[tokio::test]
async fn question_before_a_restart_says_which_files_it_deletes() {
    let app = App::with(Options { saves_snapshots: true, ..Options::default() }).await;
    let (keeps, saves) = (app.template("Penguins", kept).await, app.template("Whales", |_| {}).await);
    for (email, template) in [(ALICE, &keeps), (BOB, &saves)] {
        let name = app.browser(email).launch(template).await;
        app.browser(email).get_until(&format!("/instances/{name}"), "Ready").await;
        app.test.fleet.outdate(&name);
    }
    let admin = app.browser(ADMIN);
    admin.get_until(LIST, "2 workshops run with an older version").await;
    let question = admin.get(RESTART).await.body;
    for files in ["The files are kept: the workshop has them again", "The restart deletes the files in a workshop."] {
        assert!(question.contains(&format!("<p>1 workshop: {files}")), "{question}");
    }
    assert!(!question.contains("saved for"), "a restart saves no files: {question}");
    app.finish().await;
}

#[tokio::test]
async fn restart_without_confirmation_asks_first() {
    let (app, [hers, his]) = two_are_ready().await;
    let admin = app.browser(ADMIN);
    app.test.fleet.outdate(&hers);
    admin.get_until(LIST, "1 workshop runs").await;
    let fields = [("action", "restart"), ("ticked", hers.as_str()), ("ticked", his.as_str())];
    let question = admin.post(BULK, &fields).await;
    assert!(question.body.contains("Restart 1 workshop?") && !question.body.contains(&his), "{}", question.body);
    admin.get_until(LIST, "1 workshop runs").await;
    for page in [app.browser(ALICE).get(RESTART).await, app.browser(ALICE).post(BULK, &fields).await] {
        assert_eq!(page.status, StatusCode::FORBIDDEN);
    }
    app.finish().await;
}
