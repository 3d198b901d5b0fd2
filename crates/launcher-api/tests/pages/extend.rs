//! The small page that extends a workshop.

use http::StatusCode;
use jiff::Timestamp;
use launcher_testkit::{Options, eventually};
use serde_json::json;

use crate::support::{ADMIN, ALICE, App, BOB, borrowed};

/// Returns the expiry that the page reports to the bar above the workshop.
fn reported(page: &str) -> Timestamp {
    page.split_once("data-expires-at=\"").unwrap().1.split_once('"').unwrap().0.parse().unwrap()
}

#[tokio::test]
async fn owner_extends_workshop_on_small_page_once() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&template).await;
    let path = format!("/instances/{name}/extend");

    let before = alice.get_until(&path, "Extend until").await;
    assert!(before.body.contains(&format!("data-workshop-origin=\"http://{name}.workshops.test\"")), "{}", before.body);
    assert_eq!(before.body.matches("<form").count(), 1);
    let form = before.form(&path);
    let extended = alice.post(&path, &borrowed(&form)).await;
    let next = extended.location().to_owned();
    let after = alice.get(&next).await;

    assert_eq!(after.status, StatusCode::OK);
    assert!(after.body.contains("The workshop is extended.") && !after.body.contains("<form"), "{}", after.body);
    assert!(reported(&after.body) > reported(&before.body));
    for response in [&before, &extended, &after] {
        // Without this value, the browser separates the window from the bar that opened it.
        assert_eq!(response.header("cross-origin-opener-policy"), "unsafe-none");
    }
    assert_eq!(alice.get("/").await.header("cross-origin-opener-policy"), "same-origin");
    let again = alice.post(&path, &borrowed(&form)).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "the second request of a double click");
    app.finish().await;
}

#[tokio::test]
async fn extend_page_of_another_user_is_missing() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let name = app.browser(ALICE).launch(&template).await;
    let bob = app.browser(BOB);
    let unknown = bob.get("/instances/unknown-aaaaaaaaaa/extend").await;
    let foreign = bob.get(&format!("/instances/{name}/extend")).await;
    assert_eq!((foreign.status, foreign.timeless()), (StatusCode::NOT_FOUND, unknown.timeless()));
    app.finish().await;
}

#[tokio::test]
async fn workshop_without_frame_page_opens_at_its_bare_address() {
    let app = App::with(Options { runs_at_once: false, ..Options::default() }).await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&template).await;
    eventually(async || app.test.fleet.workshop(&name)).await;
    app.test.fleet.ready_without_frame_page(&name);
    alice.get_until("/", &format!("href=\"http://{name}.workshops.test/\"")).await;
    let open = alice.get(&format!("/instances/{name}/open")).await;
    assert_eq!(open.location(), format!("http://{name}.workshops.test/"));
    app.finish().await;
}

#[tokio::test]
async fn admin_exceeds_maximum_after_a_confirmation() {
    let app = App::start().await;
    let template = app.template("Exam", |template| {
        template["lifetime_seconds"] = json!(1800);
        template["max_lifetime_seconds"] = json!(1800);
        template["extension_seconds"] = json!(900);
    });
    let (alice, admin) = (app.browser(ALICE), app.browser(ADMIN));
    let name = alice.launch(&template.await).await;
    let page = format!("/instances/{name}");
    let button = "Extend beyond the maximum";
    let hers = alice.get_until(&page, "reached its maximum lifetime").await;
    assert!(!hers.body.contains(button), "{}", hers.body);
    let path = format!("{page}/extend-beyond-maximum");
    assert_eq!(alice.get(&path).await.status, StatusCode::FORBIDDEN);

    assert!(admin.get(&page).await.body.contains(button));
    let question = admin.get(&format!("{path}?return_to={page}")).await;
    assert!(
        question.body.contains("This adds 15 minutes. The maximum lifetime of this workshop is 30 minutes."),
        "{}",
        question.body
    );
    assert!(question.body.contains(ALICE), "{}", question.body);
    let extend = format!("{page}/extend");
    let form = question.form(&extend);
    assert_eq!(alice.post(&extend, &borrowed(&form)).await.status, StatusCode::FORBIDDEN);
    assert_eq!(admin.post(&extend, &borrowed(&form)).await.location(), page);
    assert_eq!(admin.post(&extend, &borrowed(&form)).await.status, StatusCode::CONFLICT, "a double click");
    let log = admin.get("/admin/activity").await.body;
    assert!(log.contains("which is 15 minutes beyond its maximum lifetime."), "{log}");
    app.finish().await;
}
