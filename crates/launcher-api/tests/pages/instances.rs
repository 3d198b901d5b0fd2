//! Actions of a person on a workshop: extend it, end it, understand a failure.

use std::time::Duration;

use http::{Method, StatusCode};
use launcher_domain::{FailureCode, StartStep};
use launcher_testkit::{Options, eventually};

use crate::support::{ADMIN, ALICE, App, BOB, borrowed};

#[tokio::test]
async fn extend_form_sent_twice_extends_once() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let action = format!("/instances/{name}/extend");
    let form = alice.get_until("/", "Ready").await.form(&action);
    let before = form.iter().find(|(field, _)| field == "expected_expires_at").unwrap().1.clone();

    assert_eq!(alice.post(&action, &borrowed(&form)).await.location(), "/");
    let again = alice.post(&action, &borrowed(&form)).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.body.contains("was not extended") && again.body.contains("Penguins"));
    let page = alice.get("/").await;
    assert!(!page.body.contains(&format!("datetime=\"{before}\"")));
    assert!(page.body.contains("datetime=\"") && page.body.contains("Ends in <time"));
    app.finish().await;
}

#[tokio::test]
async fn instance_at_max_lifetime_shows_why_extension_is_denied() {
    let app = App::start().await;
    let template = app.template("Short", |draft| {
        draft.lifetime_seconds = Some(300);
        draft.extension_seconds = Some(60);
        draft.max_lifetime_seconds = Some(300);
    });
    app.browser(ALICE).launch(&template.await).await;
    let page = app.browser(ALICE).get_until("/", "cannot be extended any further").await;
    assert!(page.body.contains("is-soon"), "it ends in less than ten minutes");
    app.finish().await;
}

#[tokio::test]
async fn overdue_running_instance_offers_no_extension() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let action = format!("action=\"/instances/{name}/extend\"");
    assert!(alice.get_until("/", "Ready").await.body.contains(&action));
    app.test.clock.advance(Duration::from_secs(7200));
    for page in ["/".to_owned(), format!("/instances/{name}")] {
        let page = alice.get(&page).await.body;
        assert!(page.contains("Ready") && page.contains("Its time is up.") && !page.contains(&action), "{page}");
    }
    app.finish().await;
}

#[tokio::test]
async fn terminate_asks_for_confirmation_and_history_shows_reason() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let action = format!("/instances/{name}/end");
    let question = alice.get(&format!("{action}?return_to=/history")).await;
    assert_eq!(question.status, StatusCode::OK);
    assert!(question.body.contains("not saved") && alice.get("/").await.body.contains(&name));

    assert_eq!(alice.post(&action, &borrowed(&question.form(&action))).await.location(), "/history");
    alice.get_until("/history", &name).await;
    assert!(alice.get("/history").await.body.contains("Ended by its owner"));
    assert!(!alice.get("/").await.body.contains(&name));
    assert!(!app.browser(BOB).get("/history").await.body.contains(&name));
    app.finish().await;
}

#[tokio::test]
async fn failed_instance_shows_reason_and_can_be_dismissed() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let last_words = "<img src=x onerror=alert(1)> No module named 'numpyy'";
    let template = app.template("Broken", |_| {}).await;
    let name = alice.launch(&template).await;
    alice.get_until("/", "Ready").await;
    app.test.fleet.fail(&name, FailureCode::Crashed, last_words);
    let page = alice.get_until("/", "Failed").await;
    for words in ["ended by itself", "Launch it again", "No module named", "Last lines of its output"] {
        assert!(page.body.contains(words), "{words}");
    }
    assert!(!page.body.contains(last_words), "the output is text, not markup");
    assert_eq!(
        alice.post(&format!("/launch/{template}"), &borrowed(&page.form(&format!("/launch/{template}")))).await.status,
        StatusCode::SEE_OTHER
    );

    let action = format!("/instances/{name}/end");
    let list = alice.with_htmx().post(&action, &borrowed(&page.form(&action))).await;
    assert_eq!(list.status, StatusCode::OK);
    alice.get_until("/history", &name).await;
    app.finish().await;
}

#[tokio::test]
async fn other_owners_instance_page_equals_unknown_instance_page() {
    let app = App::start().await;
    let name = app.browser(ALICE).launch(&app.template("Penguins", |_| {}).await).await;
    let bob = app.browser(BOB);
    for path in ["", "/end"] {
        let theirs = bob.get(&format!("/instances/{name}{path}")).await;
        let none = bob.get(&format!("/instances/penguins-abcdefghij{path}")).await;
        assert_eq!((theirs.status, &theirs.body), (StatusCode::NOT_FOUND, &none.body));
        assert!(theirs.body.contains("<html"));
    }
    for path in ["extend", "end"] {
        for browser in [&bob, &bob.with_htmx()] {
            let theirs = browser.post(&format!("/instances/{name}/{path}"), &[]).await;
            let none = browser.post(&format!("/instances/penguins-abcdefghij/{path}"), &[]).await;
            assert_eq!((theirs.status, theirs.timeless()), (StatusCode::NOT_FOUND, none.timeless()));
        }
    }
    assert!(app.browser(ALICE).get("/").await.body.contains(&name), "it is still there");
    app.finish().await;
}

#[tokio::test]
async fn admin_filters_and_terminates_instances_but_gets_no_url() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let other = app.template("Whales", |_| {}).await;
    let (hers, his) = (app.browser(ALICE).launch(&template).await, app.browser(BOB).launch(&other).await);
    let admin = app.browser(ADMIN);
    let found = |page: &str| (page.contains(&hers), page.contains(&his));
    assert_eq!(found(&admin.get("/admin/instances").await.body), (true, true));
    assert_eq!(found(&admin.get("/admin/instances?owner=ALICE@example.org").await.body), (true, false));
    assert_eq!(found(&admin.get(&format!("/admin/instances?template={other}")).await.body), (false, true));
    assert_eq!(found(&admin.get("/admin/instances?state=ended").await.body), (false, false));
    assert!(admin.get("/admin/instances?owner=alice").await.body.contains("not an e-mail address"));

    let page = admin.get_until(&format!("/instances/{hers}"), "Ready").await;
    assert!(page.body.contains(ALICE) && !page.body.contains(".workshops.test"));
    let action = format!("/instances/{hers}/end");
    let next = admin.post(&action, &[("return_to", "/admin/instances?state=all")]).await;
    assert_eq!(next.location(), "/admin/instances?state=all");
    app.browser(ALICE).get_until("/history", "Ended by an administrator").await;
    app.finish().await;
}

#[tokio::test]
async fn page_event_stream_reports_only_own_changes() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    let mut stream = alice.request(Method::GET, "/fragments/events").send().await.unwrap();
    assert_eq!(stream.status(), StatusCode::OK);
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    app.browser(BOB).launch(&template).await;
    let name = alice.launch(&template).await;

    let mut told = String::new();
    let listen = async {
        while !told.contains(&name) {
            let part = stream.chunk().await.unwrap().unwrap();
            told.push_str(std::str::from_utf8(&part).unwrap());
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), listen).await.unwrap();
    assert!(told.starts_with("event: workshops-changed\ndata: connected\n\n"), "{told}");
    let names: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("data: ")).skip(1).collect();
    assert!(names.iter().all(|told| *told == name), "only her own: {names:?}");
    drop(stream);
    app.finish().await;
}

#[tokio::test]
async fn admin_dismisses_failed_instance_from_table() {
    let app = App::start().await;
    let name = app.browser(ALICE).launch(&app.template("Penguins", |_| {}).await).await;
    let (admin, table, action) =
        (app.browser(ADMIN), "/admin/instances?state=failed", format!("/instances/{name}/end"));
    app.browser(ALICE).get_until("/", "Ready").await;
    app.test.fleet.fail(&name, FailureCode::Crashed, "");
    let form = admin.get_until(table, &format!("row-{name}")).await.form(&action);
    assert_eq!(admin.post(&action, &borrowed(&form)).await.location(), table);
    assert!(!admin.get(table).await.body.contains(&name));
    app.browser(ALICE).get_until("/history", &name).await;
    app.finish().await;
}

#[tokio::test]
async fn starting_instance_shows_current_step() {
    let app = App::with(Options { runs_at_once: false, ..Options::default() }).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let waiting = alice.get_until("/", "Starting").await.body;
    eventually(Duration::from_secs(10), async || app.test.fleet.workshop(&name)).await;
    assert!(waiting.contains("data-since>"), "it says for how long: {waiting}");
    for (step, words, code) in [
        (StartStep::WaitingForRoom, "waiting for a machine with room", "waiting-for-room"),
        (StartStep::PullingImage, "fetching its software", "pulling-image"),
        (StartStep::StartingApp, "waiting for it to answer", "starting-app"),
    ] {
        app.test.fleet.starting(&name, step);
        alice.get_until("/", words).await;
        let sent = alice.get(&format!("/api/v1/instances/{name}")).await.body;
        assert!(sent.contains(&format!("\"start_step\":\"{code}\"")), "{sent}");
    }
    app.test.fleet.ready(&name);
    alice.get_until("/", "Ready").await;
    let sent = alice.get(&format!("/api/v1/instances/{name}")).await.body;
    assert!(sent.contains("\"start_step\":null"), "{sent}");
    assert!(!alice.get("/").await.body.contains("data-since>"));
    app.finish().await;
}

#[tokio::test]
async fn launch_again_is_offered_only_for_retryable_failure() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let template = app.template("Penguins", |_| {}).await;
    for (code, offered) in [(FailureCode::NodeLost, true), (FailureCode::InvalidSpec, false)] {
        let name = alice.launch(&template).await;
        alice.get_until("/", "Ready").await;
        app.test.fleet.fail(&name, code, "");
        let page = alice.get_until(&format!("/instances/{name}"), "Failed").await.body;
        assert_eq!(page.contains("Launch again"), offered, "{code:?}");
        alice.post(&format!("/instances/{name}/end"), &[]).await;
    }
    app.finish().await;
}

#[tokio::test]
async fn workshop_list_shows_newest_100_and_link_to_all() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let request = launcher_service::LaunchRequest::default();
    for _ in 0..101 {
        app.test.launcher.launch(&app.admin(), template.parse().unwrap(), &request).await.unwrap();
    }
    let admin = app.browser(ADMIN);
    for path in ["/", "/fragments/workshops"] {
        let page = admin.get(path).await.body;
        assert_eq!(page.matches("<li id=\"workshop-").count(), 100, "{path}");
        assert!(page.contains("there are more") && page.contains("/admin/instances?owner=admin%40example.org"));
    }
    app.finish().await;
}
