//! Ended workshops: the history, and the note on the start page.

use std::time::Duration;

use launcher_service::LaunchRequest;
use launcher_testkit::eventually;
use serde_json::Value;

use crate::support::{ADMIN, ALICE, App, BOB, borrowed};

#[tokio::test]
async fn history_links_to_older_page_after_50_rows() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await.parse().unwrap();
    for _ in 0..51 {
        let launched = app.test.launcher.launch(&app.admin(), template, &LaunchRequest::default()).await.unwrap();
        app.test.launcher.terminate(&app.admin(), &launched.listed.instance.k8s_name).await.unwrap();
    }
    let admin = app.browser(ADMIN);
    eventually(async || {
        let ended: Value = serde_json::from_str(&admin.get("/api/v1/instances/?state=ended").await.body).unwrap();
        (ended.as_array().map(Vec::len) == Some(51)).then_some(())
    })
    .await;

    let rows = |body: &str| body.matches("<th scope=\"row\"").count();
    let newest = admin.get("/history").await.body;
    assert_eq!(rows(&newest), 50);
    let older = newest.split('"').find(|part| part.starts_with("/history?after=")).unwrap();
    let oldest = admin.get(older).await.body;
    assert_eq!((rows(&oldest), oldest.contains("/history?after=")), (1, false));
    assert_eq!(rows(&admin.get("/history?after=unreadable").await.body), 50);
    app.finish().await;
}

#[tokio::test]
async fn start_page_names_expired_workshop_and_launches_it_again() {
    const NOTE: &str = "“Penguins” has ended.";
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&template).await;
    alice.get_until("/", "Ready").await;
    app.test.fleet.expire(&name);
    let page = alice.get_until("/", NOTE).await;
    assert!(page.body.contains(&format!("<a href=\"/instances/{name}\">{NOTE}</a>")), "{}", page.body);
    assert!(page.body.contains("Its time was up (<time datetime=\""), "{}", page.body);
    let list = alice.with_htmx().get("/fragments/workshops").await.body;
    assert!(list.contains(NOTE), "{list}");
    assert!(!app.browser(ADMIN).get("/").await.body.contains(NOTE));

    let action = format!("/launch/{template}");
    let again = alice.post(&action, &borrowed(&page.form(&action))).await;
    assert!(again.location().ends_with("/wait"), "{}", again.location());
    assert!(!alice.get("/").await.body.contains(NOTE), "the workshop of the same template replaces the note");
    app.finish().await;
}

#[tokio::test]
async fn start_page_has_no_note_after_owner_ended_workshop_or_half_a_day() {
    const NOTE: &str = "has ended.";
    let app = App::start().await;
    let (penguins, stones) = (app.template("Penguins", |_| {}).await, app.template("Stones", |_| {}).await);
    let alice = app.browser(ALICE);
    let expired = alice.launch(&penguins).await;
    alice.get_until("/", "Ready").await;
    app.test.fleet.expire(&expired);
    alice.get_until("/", NOTE).await;
    app.test.clock.advance(Duration::from_secs(12 * 3600 - 60));
    assert!(alice.get("/").await.body.contains(NOTE));
    let ended = alice.launch(&stones).await;
    alice.post(&format!("/instances/{ended}/end"), &[]).await;
    alice.get_until("/history", &ended).await;
    assert!(!alice.get("/").await.body.contains(NOTE));

    let bob = app.browser(BOB);
    let expired = bob.launch(&penguins).await;
    bob.get_until("/", "Ready").await;
    app.test.fleet.expire(&expired);
    bob.get_until("/", NOTE).await;
    app.test.clock.advance(Duration::from_secs(12 * 3600));
    assert!(!bob.get("/").await.body.contains(NOTE));
    app.finish().await;
}
