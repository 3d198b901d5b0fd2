//! Actions of a person on a workshop: extend it, end it, understand a failure.

use std::time::Duration;

use http::{Method, StatusCode};
use launcher_domain::{FailureCode, FailureReason, FailureRemedy, StartStep};
use launcher_testkit::{Options, eventually, in_time};
use serde_json::{Value, json};

use crate::support::{ADMIN, ALICE, App, BOB, borrowed, unescape};

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
    let template = app.template("Short", |template| {
        template["lifetime_seconds"] = json!(300);
        template["extension_seconds"] = json!(60);
        template["max_lifetime_seconds"] = json!(300);
    });
    app.browser(ALICE).launch(&template.await).await;
    let page = app.browser(ALICE).get_until("/", "has reached its maximum lifetime").await;
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
async fn end_button_asks_for_confirmation_and_history_shows_end_reason() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let template = app.template("Penguins", |_| {}).await;
    let name = alice.launch(&template).await;
    let action = format!("/instances/{name}/end");
    assert_eq!(alice.get(&format!("/instances/{name}/open")).await.status, StatusCode::SEE_OTHER);
    let question = alice.get(&format!("{action}?return_to=/history")).await;
    assert_eq!(question.status, StatusCode::OK);
    assert!(question.body.contains("The workshop stops.") && alice.get("/").await.body.contains(&name));

    assert_eq!(alice.post(&action, &borrowed(&question.form(&action))).await.location(), "/history");
    alice.get_until("/history", &name).await;
    let history = alice.get("/history").await.body;
    assert!(history.contains("Ended by its owner") && history.contains("Lasted"), "{history}");
    assert!(history.contains(&format!("<a href=\"/launch/{template}\">Launch again")), "{history}");
    assert!(alice.get(&format!("/instances/{name}")).await.body.contains("Launch again"));
    let page = format!("/instances/{name}");
    assert_eq!(alice.get(&format!("{page}/open")).await.location(), page, "an ended workshop has no URL");
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
    for words in ["stopped unexpectedly", "Launch it again", "No module named", "Last lines of the output"] {
        assert!(page.body.contains(words), "{words}");
    }
    assert!(!page.body.contains(last_words), "the output is text, not markup");
    assert!(!page.body.contains("You have one"), "a failed workshop cannot be used");
    let again = alice.get(&format!("/launch/{template}")).await.body;
    for words in ["Your last workshop of this template failed.", "stopped unexpectedly", "Launch again"] {
        assert!(again.contains(words), "{words}: {again}");
    }
    assert!(!again.contains("You already have this workshop"), "{again}");
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
async fn page_of_other_owners_instance_equals_page_of_unknown_instance() {
    let app = App::start().await;
    let name = app.browser(ALICE).launch(&app.template("Penguins", |_| {}).await).await;
    let bob = app.browser(BOB);
    for path in ["", "/end", "/open"] {
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
    in_time(listen).await;
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
    eventually(async || app.test.fleet.workshop(&name)).await;
    assert!(waiting.contains("data-since>"), "it says for how long: {waiting}");
    for (step, words, code) in [
        (StartStep::WaitingForRoom, "waiting for free capacity", "waiting-for-room"),
        (StartStep::PullingImage, "downloading the image", "pulling-image"),
        (StartStep::StartingApp, "waiting for the app to answer", "starting-app"),
    ] {
        app.test.fleet.starting(&name, step);
        alice.get_until("/", words).await;
        let sent = alice.get(&format!("/api/v1/instances/{name}")).await.body;
        assert!(sent.contains(&format!("\"start_step\":\"{code}\"")), "{sent}");
    }
    for (step, progress, words) in [
        (StartStep::WaitingForRoom, 3, "waiting for free capacity, position 3"),
        (StartStep::PullingImage, 0, "downloading the image, which takes longer the first time"),
        (StartStep::PullingImage, 40, "downloading the image: 40 %"),
        (StartStep::PullingImage, 100, "unpacking the downloaded image"),
    ] {
        app.test.fleet.progress(&name, step, progress);
        let shown = alice.get_until("/", words).await.body;
        let sent = alice.get(&format!("/api/v1/instances/{name}")).await.body;
        assert!(sent.contains(&format!("\"start_progress\":{progress},")), "{sent}");
        // Screen readers announce the step, not each change of its progress.
        assert!(!shown.contains("40 %\" data") && shown.contains("data-state-text=\"Starting: "), "{shown}");
    }
    app.test.fleet.ready(&name);
    alice.get_until("/", "Ready").await;
    let sent = alice.get(&format!("/api/v1/instances/{name}")).await.body;
    assert!(sent.contains("\"start_step\":null,\"start_progress\":null"), "{sent}");
    assert!(!alice.get("/").await.body.contains("data-since>"));
    app.finish().await;
}

#[tokio::test]
async fn running_workshop_is_first_in_the_list_with_the_main_action() {
    let app = App::with(Options { runs_at_once: false, ..Options::default() }).await;
    let alice = app.browser(ALICE);
    let template = app.template("Penguins", |_| {}).await;
    let running = alice.launch(&template).await;
    eventually(async || app.test.fleet.workshop(&running)).await;
    app.test.fleet.ready(&running);
    alice.get_until("/", "Ready").await;
    let newer = alice.launch(&template).await;
    let page = alice.get("/").await.body;
    let place = |name: &str| page.find(&format!("<li id=\"workshop-{name}\"")).unwrap();
    assert!(place(&running) < place(&newer), "{page}");
    assert_eq!(page.matches("button-main").count(), 1, "expected one main action: {page}");
    app.finish().await;
}

#[tokio::test]
async fn failed_instance_shows_its_remedy_and_offers_launch_again_only_if_retryable() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let template = app.template("Penguins", |_| {}).await;
    for code in FailureCode::ALL {
        let name = alice.launch(&template).await;
        alice.get_until("/", "Ready").await;
        app.test.fleet.fail(&name, code, "");
        let page = unescape(&alice.get_until(&format!("/instances/{name}"), "Failed").await.body);
        let sent = alice.get(&format!("/api/v1/instances/{name}")).await.body;
        let reason = serde_json::from_str::<Value>(&sent).unwrap()["reason"].take();
        assert_eq!(reason["code"], code.as_str());
        for text in [&reason["message"], &reason["remedy"]] {
            assert!(page.contains(text.as_str().unwrap()), "{text}: {page}");
        }
        assert_eq!(page.contains("Launch again"), reason["retryable"] == true, "{code:?}");
        alice.post(&format!("/instances/{name}/end"), &[]).await;
    }
    app.finish().await;
}

#[tokio::test]
async fn remedy_that_needs_an_admin_is_shown_to_admins_only() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    let advice = FailureRemedy::InstallJupyter.to_string();
    let reason = FailureReason::new(FailureCode::AppNotAvailable, None).with_remedy(&FailureRemedy::InstallJupyter);
    for (user, sees_advice) in [(ALICE, false), (ADMIN, true)] {
        let browser = app.browser(user);
        let name = browser.launch(&template).await;
        browser.get_until("/", "Ready").await;
        app.test.fleet.fail_because(&name, reason.clone(), "");
        for path in [format!("/instances/{name}"), format!("/launch/{template}")] {
            let page = unescape(&browser.get_until(&path, "is not installed here").await.body);
            assert_eq!(page.contains(&advice), sees_advice, "{user} at {path}: {page}");
            assert_eq!(page.contains(FailureCode::AppNotAvailable.remedy()), !sees_advice, "{user} at {path}: {page}");
        }
    }
    app.finish().await;
}

#[tokio::test]
async fn workshop_list_shows_newest_100_and_link_to_all() {
    let app = App::start().await;
    let template = app.template("Penguins", |_| {}).await;
    for _ in 0..101 {
        app.test.launcher.launch(&app.admin(), template.parse().unwrap(), &Default::default()).await.unwrap();
    }
    let admin = app.browser(ADMIN);
    for path in ["/", "/fragments/workshops"] {
        let page = admin.get(path).await.body;
        assert_eq!(page.matches("<li id=\"workshop-").count(), 100, "{path}");
        assert!(
            page.contains("only your newest workshops") && page.contains("/admin/instances?owner=admin%40example.org")
        );
    }
    app.finish().await;
}

#[tokio::test]
async fn failed_start_shows_the_decisive_line_and_a_text_for_the_teacher() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let template = app.template("Penguins", |_| {}).await;
    let name = alice.launch(&template).await;
    let detail = format!("/instances/{name}");
    alice.get_until(&detail, "Ready").await;
    let tail =
        "Traceback (most recent call last):\nModuleNotFoundError: No module named '<pandas>'\n[I] Shutting down\n";
    app.test.fleet.fail(&name, launcher_domain::FailureCode::Crashed, tail);
    let line = "ModuleNotFoundError: No module named '<pandas>'";
    for path in [detail.as_str(), "/", &format!("/launch/{template}")] {
        let page = alice.get_until(path, "ModuleNotFoundError").await.body;
        let (_, shown) = page.split_once("<code class=\"log-line\" dir=\"auto\">").unwrap();
        assert_eq!(crate::support::unescape(shown.split("</code>").next().unwrap()), line, "outside of the fold");
        let (_, copied) = page.split_once("data-copy=\"Penguins").unwrap();
        let (copied, button) = copied.split_once('"').unwrap();
        let copied = crate::support::unescape(copied);
        assert!(copied.starts_with(&format!(" ({name})\nLaunched: ")) && copied.ends_with(line), "{copied}");
        assert!(copied.contains("The app stopped unexpectedly") || copied.lines().count() == 4, "{copied}");
        assert!(button.contains("hidden>Copy for my teacher</button>"), "without scripts it is hidden: {button}");
    }
    app.finish().await;
}
