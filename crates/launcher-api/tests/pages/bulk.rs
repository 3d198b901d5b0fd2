//! Bulk actions of an admin on several instances.

use http::StatusCode;
use serde_json::json;

use crate::saved_work::kept;
use crate::support::{ADMIN, ALICE, App, BOB};

const LIST: &str = "/admin/instances";
const BULK: &str = "/admin/instances/bulk";

/// Returns the values of all fields `ticked` in a page: the checkboxes of the list, or the hidden fields of the
/// confirmation.
fn boxes(page: &str) -> Vec<String> {
    let parts = page.split("name=\"ticked\" value=\"").skip(1);
    parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
}

fn form<'a>(action: &'a str, ticked: &'a [String]) -> Vec<(&'a str, &'a str)> {
    let ticked = ticked.iter().map(|value| ("ticked", value.as_str()));
    [("action", action), ("return_to", LIST)].into_iter().chain(ticked).collect()
}

/// Starts an application in which two users have one ready workshop each. Returns the values of the two checkboxes.
async fn two_are_ready() -> (App, Vec<String>) {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    for email in [ALICE, BOB] {
        app.browser(email).launch(&template).await;
        app.browser(email).get_until("/", "Ready").await;
    }
    let ticked = boxes(&app.browser(ADMIN).get(LIST).await.body);
    assert_eq!(ticked.len(), 2);
    (app, ticked)
}

#[tokio::test]
async fn bulk_extend_reports_result_of_each_instance() {
    let (app, mut ticked) = two_are_ready().await;
    let admin = app.browser(ADMIN);
    ticked.push("nothing-abcdefghij".to_owned());
    let report = admin.post(BULK, &form("extend", &ticked)).await;
    assert_eq!(report.status, StatusCode::OK);
    assert_eq!(report.body.matches("It runs until <time").count(), 2, "{}", report.body);
    assert_eq!(report.body.matches("Not done:").count(), 1, "{}", report.body);
    assert!(report.body.contains("Extended 2 of 3") && report.body.contains("Penguins, alice@"), "{}", report.body);
    assert!(report.body.contains(&format!("href=\"{LIST}\">Back to the list")));

    let again = admin.post(BULK, &form("extend", &ticked)).await;
    assert_eq!(again.body.matches("Not done:").count(), 3, "a form that is sent twice extends once: {}", again.body);
    assert!(again.body.contains("Extended 0 of 3") && again.body.contains("Penguins, bob@"), "{}", again.body);
    app.finish().await;
}

#[tokio::test]
async fn bulk_end_asks_for_confirmation() {
    let (app, ticked) = two_are_ready().await;
    let admin = app.browser(ADMIN);
    let question = admin.post(BULK, &form("end", &ticked)).await;
    assert!(question.body.contains("End 2 workshops?") && question.body.contains(ALICE), "{}", question.body);
    assert_eq!(boxes(&admin.get(LIST).await.body).len(), 2, "they were only asked about");

    let names = boxes(&question.body);
    let mut confirmed = form("end", &names);
    confirmed.push(("confirmed", "yes"));
    let report = admin.post(BULK, &confirmed).await;
    let is_reported = |ticked: &String| report.body.contains(ticked.split(' ').next().unwrap());
    assert!(names.iter().all(is_reported) && !report.body.contains("Not done:"));
    for email in [ALICE, BOB] {
        app.browser(email).get_until("/history", "Ended by an administrator").await;
    }
    app.finish().await;
}

#[tokio::test]
async fn bulk_action_skips_invalid_instance_names() {
    let (app, mut ticked) = two_are_ready().await;
    let admin = app.browser(ADMIN);
    ticked.extend(["x\0", "\0", "", "../x", "Ü"].map(str::to_owned));
    let report = admin.post(BULK, &form("extend", &ticked)).await;
    assert!(report.body.contains("Extended 2 of 2") && !report.body.contains("Not done:"), "{}", report.body);
    let question = admin.post(BULK, &form("end", &ticked)).await;
    assert!(question.body.contains("End 2 workshops?"), "{}", question.body);
    app.finish().await;
}

#[tokio::test]
async fn invalid_bulk_action_changes_nothing() {
    let (app, ticked) = two_are_ready().await;
    let admin = app.browser(ADMIN);
    for action in ["", "delete"] {
        assert_eq!(admin.post(BULK, &form(action, &ticked)).await.status, StatusCode::UNPROCESSABLE_ENTITY, "{action}");
    }
    let nothing = admin.post(BULK, &form("end", &[])).await;
    assert!(nothing.status == StatusCode::OK && nothing.body.contains("No instance was selected."), "{}", nothing.body);
    let many: Vec<String> = (0..501).map(|number| format!("n{number}")).collect();
    assert_eq!(admin.post(BULK, &form("end", &many)).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(app.browser(ALICE).post(BULK, &form("end", &ticked)).await.status, StatusCode::FORBIDDEN);
    let away = admin.post(BULK, &[("action", "end"), ("return_to", "//evil.example")]).await;
    assert!(!away.body.contains("evil"), "{}", away.body);
    assert_eq!(boxes(&admin.get(LIST).await.body).len(), 2);
    app.finish().await;
}

#[tokio::test]
async fn bulk_extension_lists_workshops_at_their_maximum_and_asks() {
    let app = App::start().await;
    let template = app.template("Exam", |template| {
        template["lifetime_seconds"] = json!(1800);
        template["max_lifetime_seconds"] = json!(1800);
    });
    let name = app.browser(ALICE).launch(&template.await).await;
    app.browser(ALICE).get_until("/", "Ready").await;
    let admin = app.browser(ADMIN);
    let ticked = boxes(&admin.get(LIST).await.body);
    let report = admin.post(BULK, &form("extend", &ticked)).await;
    assert!(report.body.contains("1 workshop ends earlier, because it has reached its maximum"), "{}", report.body);
    assert_eq!(boxes(&report.body), [&*name]);
    let question = admin.post(BULK, &form("extend-beyond", &boxes(&report.body))).await;
    assert!(question.body.contains("Extend 1 workshop beyond its maximum lifetime?"), "{}", question.body);
    let listed = boxes(&question.body);
    assert_eq!(listed, ticked, "with the expiry, so that a double click extends once");
    let mut confirmed = form("extend-beyond", &listed);
    confirmed.push(("confirmed", "yes"));
    let report = admin.post(BULK, &confirmed).await;
    assert!(report.body.contains("Extended 1 of 1") && report.body.contains("It runs until <time"), "{}", report.body);
    assert!(admin.post(BULK, &confirmed).await.body.contains("Extended 0 of 1"), "a double click");
    app.finish().await;
}

#[tokio::test]
async fn question_before_the_end_says_what_happens_to_the_files_of_how_many() {
    let app = App::start().await;
    let (kept, deleted) = (app.template("Penguins", kept).await, app.template("Whales", |_| {}).await);
    for (email, template) in [(ALICE, &deleted), (ALICE, &kept), (BOB, &deleted)] {
        let name = app.browser(email).launch(template).await;
        app.browser(email).get_until(&format!("/instances/{name}"), "Ready").await;
    }
    let admin = app.browser(ADMIN);
    let ticked = boxes(&admin.get(LIST).await.body);
    let question = admin.post(BULK, &form("end", &ticked)).await.body;
    assert!(question.contains("<p>1 workshop: The files are kept when the workshop ends"), "{question}");
    assert!(question.contains("<p>2 workshops: The files in a workshop are deleted when it ends."), "{question}");
    app.finish().await;
}
