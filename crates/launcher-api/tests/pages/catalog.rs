//! The start page, the catalog, and launching.

use std::time::Duration;

use http::StatusCode;
use launcher_service::Limits;
use launcher_testkit::{Options, eventually};
use serde_json::json;

use crate::support::{ADMIN, ALICE, App, BOB, borrowed, with};

#[tokio::test]
async fn start_page_shows_catalog_and_own_instances_only() {
    let app = App::start().await;
    let penguins = app.template("Penguins", |_| {}).await;
    app.template("Old course", |template| template["active"] = json!(false)).await;
    let name = app.browser(ALICE).launch(&penguins).await;

    let alice = app.browser(ALICE).get_until("/", "Ready").await;
    assert!(alice.body.contains(&name) && alice.body.contains(ALICE));
    let open = format!("href=\"http://{name}.workshops.test/_launcher/frame\" target=\"_blank\" rel=\"noopener\"");
    assert!(alice.body.contains(&open), "{}", alice.body);
    assert!(!alice.body.contains("Old course"));
    assert!(!alice.body.contains("badge-admin"));
    for other in [BOB, ADMIN] {
        let page = app.browser(other).get("/").await;
        assert!(page.body.contains("Penguins"), "{other} has the catalog");
        assert!(!page.body.contains(&name), "{other} does not have Alice's workshop");
    }
    assert!(app.browser(ADMIN).get("/").await.body.contains("badge-admin"));
    assert!(alice.body.contains("href=\"/oauth2/sign_out\""));
    app.finish().await;
}

#[tokio::test]
async fn banner_warns_when_authentication_is_off() {
    let text = "Authentication is off";
    let identity = format!("--dev-identity={ALICE}");
    let open = App::with(Options::with_settings(&["--require-authentication=false", &identity])).await;
    let page = open.anonymous().get("/").await;
    assert!(page.body.contains(text) && page.body.contains(ALICE));
    open.finish().await;
    let app = App::start().await;
    assert!(!app.browser(ALICE).get("/").await.body.contains(text));
    app.finish().await;
}

#[tokio::test]
async fn launch_form_sent_twice_launches_once() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let (alice, action) = (app.browser(ALICE), format!("/launch/{template}"));
    let form = alice.get("/").await.form(&action);
    let (first, second) = (alice.post(&action, &borrowed(&form)).await, alice.post(&action, &borrowed(&form)).await);
    assert_eq!(first.location(), second.location());
    assert_ne!(first.location(), format!("/instances/{}/wait", alice.launch(&template).await));
    assert_eq!(alice.get("/fragments/workshops").await.body.matches("<li ").count(), 2);
    app.finish().await;
}

#[tokio::test]
async fn htmx_launch_opens_the_waiting_page() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let action = format!("/launch/{template}");
    let form = app.browser(ALICE).get("/").await.form(&action);
    let answer = app.browser(ALICE).with_htmx().post(&action, &borrowed(&form)).await;
    assert_eq!(answer.status, StatusCode::OK);
    let place = answer.header("hx-redirect");
    assert!(place.starts_with("/instances/penguins-") && place.ends_with("/wait"), "{place}");
    app.finish().await;
}

#[tokio::test]
async fn launch_above_instance_limit_shows_notice() {
    let app = App::with_limit(1).await;
    let template = app.template("Penguins", |_| {}).await;
    let (alice, action) = (app.browser(ALICE), format!("/launch/{template}"));
    alice.launch(&template).await;
    let form = alice.get("/").await.form(&action);
    for browser in [&alice, &alice.with_htmx()] {
        let refused = browser.post(&action, &borrowed(&form)).await;
        assert_eq!(refused.status, StatusCode::CONFLICT);
        assert!(refused.body.contains("You have 1 workshop. The limit is 1."), "{}", refused.body);
        assert!(refused.body.contains("id=\"workshop-penguins-"), "the list is there to end one");
        assert_eq!(refused.body.matches("id=\"notice\"").count(), 1, "the notice has a place of its own");
    }
    let list = alice.with_htmx().get("/fragments/workshops").await;
    assert!(!list.body.contains("id=\"notice\""), "a refreshed list leaves the notice alone");
    app.finish().await;
}

#[tokio::test]
async fn instance_limit_notice_mentions_terminating_instance() {
    let app = App::with_limit(1).await;
    let template = app.template("Penguins", |_| {}).await;
    let (alice, action) = (app.browser(ALICE), format!("/launch/{template}"));
    let name = alice.launch(&template).await;
    alice.get_until("/", "Ready").await;
    app.test.fleet.hold_deletions();
    let form = alice.get("/").await.form(&action);
    assert_eq!(
        alice.post(&format!("/instances/{name}/end"), &[("return_to", "/")]).await.status,
        StatusCode::SEE_OTHER
    );
    let refused = alice.post(&action, &borrowed(&form)).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    let text = "You have 1 workshop. The limit is 1. One of them is still ending and counts until it has ended.";
    assert!(refused.body.contains(text), "{}", refused.body);
    app.test.fleet.remove_workshop(&name);
    app.finish().await;
}

#[tokio::test]
async fn launch_above_rate_limit_shows_notice_with_wait_time() {
    let limits = Limits { launch_rate: 1, launch_burst: 1, ..Limits::default() };
    let app = App::with(Options { limits, ..Options::default() }).await;
    let template = app.template("Penguins", |_| {}).await;
    let (alice, action) = (app.browser(ALICE), format!("/launch/{template}"));
    alice.launch(&template).await;
    app.test.clock.advance(Duration::from_secs(30));
    let form = alice.get("/").await.form(&action);
    for browser in [&alice, &alice.with_htmx()] {
        let refused = browser.post(&action, &borrowed(&form)).await;
        assert_eq!((refused.status, refused.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "30"));
        let text = "You launched too many workshops in a short time. Launch again in 30 seconds.";
        assert!(refused.body.contains(text), "{}", refused.body);
        assert_eq!(refused.body.matches("id=\"notice\"").count(), 1);
        assert!(refused.body.contains("id=\"workshop-penguins-"), "the list stays");
    }
    app.finish().await;
}

#[tokio::test]
async fn launch_into_a_full_queue_shows_notice() {
    let limits = Limits { max_concurrent_starts: 1, max_queued: 1, ..Limits::default() };
    let app = App::with(Options { runs_at_once: false, limits, ..Options::default() }).await;
    let template = app.template("Penguins", |_| {}).await;
    let (alice, bob, action) = (app.browser(ALICE), app.browser(BOB), format!("/launch/{template}"));
    let starting = bob.launch(&template).await;
    eventually(async || app.test.fleet.workshop(&starting)).await;
    bob.launch(&template).await;
    // htmx does not insert the answer of a server error.
    for (browser, status) in [(&alice, StatusCode::SERVICE_UNAVAILABLE), (&alice.with_htmx(), StatusCode::CONFLICT)] {
        let refused = browser.post(&action, &[("return_to", "/")]).await;
        assert_eq!((refused.status, refused.header("retry-after")), (status, "60"));
        assert!(refused.body.contains("Too many workshops are waiting to start."), "{}", refused.body);
        assert_eq!(refused.body.matches("id=\"notice\"").count(), 1);
    }
    app.finish().await;
}

#[tokio::test]
async fn archived_template_page_launches_for_admins_only() {
    let app = App::start().await;
    let template = app.template("Old course", |template| template["active"] = json!(false)).await;
    let page = format!("/launch/{template}");
    let seen = app.browser(ALICE).get(&page).await;
    assert_eq!(seen.status, StatusCode::OK);
    assert!(seen.body.contains("no longer offered") && !seen.body.contains(&format!("action=\"{page}\"")));
    let refused = app.browser(ALICE).post(&page, &[("return_to", "/")]).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.body.contains("no longer offered"));
    assert!(app.browser(ADMIN).launch(&template).await.starts_with("old-course-"));
    app.finish().await;
}

#[tokio::test]
async fn return_path_to_other_site_is_ignored() {
    let app = App::with_limit(100).await;
    let template = app.template("Penguins", |_| {}).await;
    let (alice, action) = (app.browser(ALICE), format!("/launch/{template}"));
    for evil in ["//evil.example", "/\\evil.example", "javascript:alert(1)", "https://evil.example/", "\t//evil", ""] {
        let form = alice.get("/").await.form(&action);
        let answer = alice.post(&action, &with(&form, "return_to", evil)).await;
        assert!(answer.location().starts_with("/instances/penguins-"), "{evil} led to {}", answer.location());
    }
    let form = alice.get("/").await.form(&action);
    let answer = alice.post(&action, &with(&form, "return_to", "/history?after=")).await;
    assert_eq!(answer.location(), "/history?after=");
    app.finish().await;
}

#[tokio::test]
async fn launch_form_with_owner_is_refused() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let answer = app.browser(ALICE).post(&format!("/launch/{template}"), &[("owner_email", BOB)]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.body.contains("<html") && answer.body.contains("was not accepted"));
    app.finish().await;
}

/// The search needs no scripts: the browser of this test runs none, and the search words are in the URL.
#[tokio::test]
async fn catalog_search_matches_words_in_any_order() {
    let app = App::start().await;
    for number in 1..=6 {
        app.template(&format!("Penguins {number}"), |_| {}).await;
    }
    let alice = app.browser(ALICE);
    assert!(!alice.get("/").await.body.contains("role=\"search\""), "six templates need no search field");
    app.template("Old penguins", |template| template["active"] = json!(false)).await;
    app.template("Glaciers", |template| template["description"] = json!("Melting <b>ice</b> in *Ilulissat*")).await;

    for (query, found) in [
        ("", 7),
        ("q=", 7),
        ("q=penguins", 6),
        ("q=ILULISSAT+glac", 1),
        ("q=penguins+3", 1),
        ("q=penguins+glaciers", 0),
        ("q=old", 0),
        ("q=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E", 0),
    ] {
        let page = alice.get(&format!("/?{query}")).await;
        assert_eq!(page.status, StatusCode::OK, "{query}");
        assert_eq!(page.body.matches("<article").count(), found, "{query}");
        assert!(page.body.contains("role=\"search\""), "{query}");
        assert!(!page.body.contains("<img src=x"), "{query}");
        let says = if found == 0 { "matches your search. <a href=\"/\">Show all 7</a>" } else { "Launch a workshop" };
        assert!(page.body.contains(says), "{query}: {}", page.body);
    }
    assert!(alice.get("/?q=penguins").await.body.contains(">6 of 7 found</p>"));
    app.finish().await;
}

#[tokio::test]
async fn launch_page_shows_existing_instance_of_template() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    app.template("Whales", |_| {}).await;
    let (alice, page) = (app.browser(ALICE), format!("/launch/{template}"));
    assert!(!alice.get(&page).await.body.contains("You already have this workshop"));
    let name = alice.launch(&template).await;
    let again = alice.get_until(&page, "Ready").await.body;
    for words in ["You already have this workshop", &format!("http://{name}.workshops.test/"), "Launch another"] {
        assert!(again.contains(words), "{words}: {again}");
    }
    let home = alice.get("/").await.body;
    assert!(home.contains("Ends in <time"), "{home}");
    assert_eq!(home.matches("<bdi>").count(), 3, "a workshop and two cards");
    assert_eq!(home.matches("You have one").count(), 1, "of the one that she has");
    assert!(home.contains(&format!("href=\"#workshop-{name}\"")));
    let open = format!("/instances/{name}/open");
    let (offered, launch) = (home.find(&open).unwrap(), home.find("Launch another").unwrap());
    assert!(offered < launch, "the card offers Open before Launch another");
    assert_eq!(alice.get(&open).await.location(), format!("http://{name}.workshops.test/_launcher/frame"));
    let bob = app.browser(BOB);
    assert!(!bob.get(&page).await.body.contains(&name) && !bob.get("/").await.body.contains("You have one"));
    app.finish().await;
}

#[tokio::test]
async fn invalid_idempotency_key_in_form_is_ignored() {
    let app = App::with_limit(20).await;
    let alice = app.browser(ALICE);
    let action = format!("/launch/{}", app.template("Penguins", |_| {}).await);
    let long = "k".repeat(256);
    for key in ["a\0b", "\0", "a b", "ü", &long] {
        let form = [("idempotency_key", key), ("return_to", "/")];
        let (first, second) = (alice.post(&action, &form).await, alice.post(&action, &form).await);
        assert_ne!(first.location(), second.location(), "{key:?}");
    }
    let form = [("idempotency_key", &long[1..]), ("return_to", "/")];
    assert_eq!(alice.post(&action, &form).await.location(), alice.post(&action, &form).await.location());
    app.finish().await;
}
