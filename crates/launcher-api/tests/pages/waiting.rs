//! The waiting page, from Launch until the workshop opens.

use std::time::Duration;

use http::StatusCode;
use launcher_api::ApiProcess;
use launcher_domain::{FailureCode, ListensElsewhere, MaterialOutcome, MaterialReport, SourceReport, StartStep};
use launcher_service::Limits;
use launcher_testkit::{ADMIN, ALICE, BOB, Options, eventually};
use serde_json::json;

use crate::support::App;

/// Starts an application whose fleet makes no workshop ready by itself.
async fn slow_app(limits: Limits) -> App {
    App::with(Options { runs_at_once: false, limits, ..Options::default() }).await
}

/// Waits until the fleet has the Workshop with this name.
async fn applied(app: &App, name: &str) {
    eventually(async || app.test.fleet.workshop(name)).await;
}

#[tokio::test]
async fn download_of_course_material_is_a_step() {
    let app = slow_app(Limits::default()).await;
    let alice = app.browser(ALICE);
    let source = json!({ "kind": "git", "url": "https://git.example.org/a.git", "target": "a" });
    let material = json!({ "sources": [source] });
    let name = alice.launch(&app.template("Penguins", |template| template["material"] = material).await).await;
    let page = format!("/instances/{name}/wait");
    applied(&app, &name).await;
    app.test.fleet.starting(&name, StartStep::LoadingMaterial);
    let loading = alice.get_until(&page, "loading the course material").await.body;
    let step = "aria-current=\"step\">Download the course material, and the image if needed";
    assert!(loading.contains(step), "{loading}");
    app.finish().await;
}

#[tokio::test]
async fn waiting_page_shows_each_step_and_opens_the_ready_workshop() {
    let app = slow_app(Limits { max_concurrent_starts: 1, ..Limits::default() }).await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    let ahead = app.browser(BOB).launch(&template).await;
    applied(&app, &ahead).await;
    let name = alice.launch(&template).await;
    let page = format!("/instances/{name}/wait");

    let queued = alice.get_until(&page, "next to start").await.body;
    assert!(queued.contains("aria-current=\"step\">Wait in the queue"), "{queued}");
    assert!(
        queued.contains("<strong>You are next.</strong>"),
        "no launch was ready yet, so no time is known: {queued}"
    );
    assert!(queued.contains("<progress class=\"wait-progress\" max=\"100\" value=\"10\""), "{queued}");
    assert!(queued.contains(&format!("action=\"/instances/{name}/end\"")) && queued.contains(">Cancel</button>"));
    assert!(queued.contains("The files in a workshop are deleted when it ends."));
    assert!(queued.contains("http-equiv=\"refresh\" content=\"3\""), "the page works without scripts");

    app.test.clock.advance(Duration::from_secs(90));
    app.test.fleet.ready(&ahead);
    applied(&app, &name).await;
    app.test.fleet.starting(&name, StartStep::PullingImage);
    let pulling = alice.get_until(&page, "aria-current=\"step\">Download the image").await.body;
    assert!(pulling.contains("<strong>Ready in about 1 minute.</strong>"), "{pulling}");
    assert!(pulling.contains("<p>Getting the software. The first time takes longer.</p>"), "{pulling}");
    let last = alice.launch(&template).await;
    let last = format!("/instances/{last}/wait");
    let queue = alice.get_until(&last, "You are next").await.body;
    assert!(queue.contains("<strong>You are next. Ready in about 3 minutes.</strong>"), "{queue}");
    app.test.clock.advance(Duration::from_secs(120));
    assert!(alice.get(&page).await.body.contains("<strong>This takes longer than usual.</strong>"));
    assert!(!pulling.contains("data-opens"), "{pulling}");

    app.test.fleet.ready(&name);
    let ready = alice.get_until(&page, "data-opens").await.body;
    let url = format!("http://{name}.workshops.test/_launcher/frame");
    assert!(ready.contains(&format!("data-opens=\"{url}\"")), "{ready}");
    assert!(ready.contains(&format!("content=\"0;url={url}\"")), "{ready}");
    assert!(!ready.contains(">Cancel</button>"), "{ready}");
    app.finish().await;
}

#[tokio::test]
async fn start_of_an_app_that_listens_elsewhere_names_both_addresses() {
    let app = slow_app(Limits::default()).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    applied(&app, &name).await;
    let elsewhere = ListensElsewhere::new(["127.0.0.1:8000".parse().unwrap()], 21936).unwrap();
    app.test.fleet.listens_elsewhere(&name, elsewhere);

    let warning = "The app listens on 127.0.0.1:8000, expected 127.0.0.1:21936. Tell your teacher or an administrator: \
                   the template must start the app on 127.0.0.1:$(PORT).";
    for page in [format!("/instances/{name}/wait"), format!("/instances/{name}"), "/".to_owned()] {
        let shown = alice.get_until(&page, warning).await.body;
        assert!(!shown.contains("/edit"), "only an admin can edit the template: {shown}");
    }
    assert!(app.browser(ADMIN).get(&format!("/instances/{name}")).await.body.contains("/edit\">Edit template"));
    let sent = alice.get(&format!("/api/v1/instances/{name}")).await.body;
    let field = "\"listens_elsewhere\":{\"addresses\":[\"127.0.0.1:8000\"],\"expected\":\"127.0.0.1:21936\"}";
    assert!(sent.contains(field), "{sent}");
    app.test.fleet.ready(&name);
    alice.get_until(&format!("/instances/{name}"), "Ready").await;
    assert!(alice.get(&format!("/api/v1/instances/{name}")).await.body.contains("\"listens_elsewhere\":null"));
    app.finish().await;
}

#[tokio::test]
async fn queue_states_the_people_before_and_a_time_from_recent_starts() {
    let app = slow_app(Limits { max_concurrent_starts: 1, max_instances_per_user: 9, ..Limits::default() }).await;
    let template = app.template("Penguins", |_| {}).await;
    let (alice, bob) = (app.browser(ALICE), app.browser(BOB));
    let first = bob.launch(&template).await;
    applied(&app, &first).await;
    app.test.clock.advance(Duration::from_secs(60));
    app.test.fleet.ready(&first);
    bob.get_until(&format!("/instances/{first}"), "Ready").await;
    for _ in 0..4 {
        bob.launch(&template).await;
    }
    let name = alice.launch(&template).await;
    let page = format!("/instances/{name}/wait");
    let queued = alice.get_until(&page, "people are ahead of you").await.body;
    assert!(queued.contains("<strong>3 people are ahead of you. Ready in about 5 minutes.</strong>"), "{queued}");
    assert!(queued.contains("data-state-text=\"3 people are ahead of you.\""), "the time is not announced: {queued}");
    app.finish().await;
}

#[tokio::test]
async fn start_without_images_has_no_step_for_them() {
    let process = ApiProcess { ignored_fields: &["image"], ..ApiProcess::default() };
    let app = App::with(Options { runs_at_once: false, process, ..Options::default() }).await;
    let alice = app.browser(ALICE);
    let source = json!({ "kind": "git", "url": "https://git.example.org/a.git", "target": "a" });
    let with_material = app.template("Whales", |template| template["material"] = json!({ "sources": [source] })).await;
    for (template, step) in [(app.template("Penguins", |_| {}).await, false), (with_material, true)] {
        let name = alice.launch(&template).await;
        let waiting = alice.get(&format!("/instances/{name}/wait")).await.body;
        assert!(!waiting.contains("Download the image") && !waiting.contains("and the image"), "{waiting}");
        assert_eq!(waiting.contains(">Download the course material"), step, "{waiting}");
    }
    app.finish().await;
}

#[tokio::test]
async fn full_server_has_no_expected_time() {
    let app = slow_app(Limits::default()).await;
    let alice = app.browser(ALICE);
    let template = app.template("Penguins", |_| {}).await;
    let first = alice.launch(&template).await;
    applied(&app, &first).await;
    app.test.fleet.ready(&first);
    alice.get_until(&format!("/instances/{first}"), "Ready").await;
    let name = alice.launch(&template).await;
    applied(&app, &name).await;
    app.test.fleet.progress(&name, StartStep::WaitingForRoom, 3);
    let page = format!("/instances/{name}/wait");
    let full = alice.get_until(&page, "All places are taken").await.body;
    assert!(full.contains("<strong>All places are taken. 2 people are ahead of you.</strong>"), "{full}");
    app.finish().await;
}

#[tokio::test]
async fn workshop_whose_material_did_not_load_is_not_opened_until_the_owner_decides() {
    let app = slow_app(Limits { max_instances_per_user: 1, ..Limits::default() }).await;
    let alice = app.browser(ALICE);
    let parameter = json!([{ "name": "COURSE", "label": "Course", "kind": "text" }]);
    let template = app.template("Penguins", |template| template["parameters"] = parameter).await;
    let launch = format!("/launch/{template}");
    let form = alice.get(&launch).await.form(&launch);
    let form = crate::support::with(&form, "p.COURSE", "101");
    let name = alice.post(&launch, &form).await.location().split('/').nth(2).unwrap().to_owned();
    applied(&app, &name).await;
    app.test.fleet.ready(&name);
    let failed = MaterialReport { sources: vec![SourceReport::failed("stats", "The server does not answer.")] };
    app.test.fleet.report_material(&name, failed);
    let detail = format!("/instances/{name}");
    let page = alice.get_until(&format!("{detail}/wait"), "The course files did not load").await;
    assert!(!page.body.contains("data-opens") && !page.body.contains("http-equiv"), "{}", page.body);
    assert!(page.body.contains("The server does not answer."), "{}", page.body);
    let url = format!("http://{name}.workshops.test/_launcher/frame?material=failed");
    assert!(page.body.contains(&format!("href=\"{url}\">Open anyway</a>")), "{}", page.body);
    assert_eq!(alice.get(&format!("{detail}/open")).await.location(), url, "the frame page repeats it");
    let again = format!("{detail}/try-again");
    assert_eq!(app.browser(BOB).post(&again, &[("idempotency_key", "k")]).await.status, StatusCode::NOT_FOUND);
    let foreign = app.browser(ADMIN).post(&again, &[("idempotency_key", "k")]).await;
    assert_eq!(foreign.location(), detail, "only the owner tries again");

    let form = page.form(&again);
    let second = alice.post(&again, &crate::support::borrowed(&form)).await;
    let waiting = second.location();
    let launched = waiting.strip_prefix("/instances/").and_then(|rest| rest.strip_suffix("/wait")).unwrap();
    assert_ne!(launched, name);
    let shown = alice.get_until(&format!("/instances/{launched}"), "Course").await.body;
    assert!(shown.contains("<bdi>101</bdi>"), "with the same values: {shown}");
    assert!(alice.get(&detail).await.body.contains("Ended by its owner"));
    let repeated = alice.post(&again, &crate::support::borrowed(&form)).await;
    assert_eq!(repeated.location(), waiting, "a second click launches nothing");
    app.finish().await;
}

#[tokio::test]
async fn workshop_with_a_secret_value_ends_before_the_form_asks_for_the_value_again() {
    let app = App::with_limit(1).await;
    let alice = app.browser(ALICE);
    let parameters = json!([
        { "name": "COURSE", "label": "Course", "kind": "text" },
        { "name": "TOKEN", "label": "Token", "kind": "secret" },
    ]);
    let launch = format!("/launch/{}", app.template("Penguins", |template| template["parameters"] = parameters).await);
    let launched = alice.post(&launch, &[("p.COURSE", "101"), ("p.TOKEN", "hush")]).await;
    let detail = launched.location().strip_suffix("/wait").unwrap();
    alice.get_until(detail, "Ready").await;
    let failed = MaterialReport { sources: vec![SourceReport::failed("stats", "The server does not answer.")] };
    app.test.fleet.report_material(detail.rsplit('/').next().unwrap(), failed);
    let again = format!("{detail}/try-again");
    let form = alice.get_until(launched.location(), "The course files did not load").await.form(&again);

    let asks = alice.post(&again, &crate::support::borrowed(&form)).await;
    assert_eq!(asks.location(), format!("{launch}?p.COURSE=101"));
    assert!(alice.get(detail).await.body.contains("Ended by its owner"));
    app.finish().await;
}

#[tokio::test]
async fn workshop_without_trouble_is_not_ended_by_a_stale_page() {
    let app = App::start().await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&app.template("Penguins", |_| {}).await).await;
    let detail = format!("/instances/{name}");
    alice.get_until(&detail, "Ready").await;
    let conflicts =
        SourceReport { outcome: MaterialOutcome::Updated, conflict_count: 1, ..SourceReport::failed("a", "") };
    app.test.fleet.report_material(&name, MaterialReport { sources: vec![conflicts] });
    alice.get_until(&format!("{detail}/wait"), "You and your teacher changed the same files").await;
    app.test.fleet.report_material(&name, MaterialReport { sources: Vec::new() });
    alice.get_until(&format!("{detail}/wait"), "data-opens").await;
    let answer = alice.post(&format!("{detail}/try-again"), &[("idempotency_key", "k")]).await;
    assert_eq!(answer.location(), detail);
    assert!(alice.get(&detail).await.body.contains("Ready"));
    app.finish().await;
}

#[tokio::test]
async fn ready_workshop_is_opened_after_the_routing_delay() {
    let process = ApiProcess { routing_delay: Duration::from_secs(3), ..ApiProcess::default() };
    let options = Options { runs_at_once: false, process, ..Options::default() };
    let app = App::with(options).await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&template).await;
    applied(&app, &name).await;
    app.test.fleet.ready(&name);
    let page = format!("/instances/{name}/wait");
    let delay = |page: &str| page.split_once("data-opens-in=\"").unwrap().1.split_once('"').unwrap().0.parse().unwrap();
    let soon: u32 = delay(&alice.get_until(&page, "data-opens=").await.body);
    assert!((2000..=3000).contains(&soon), "{soon} ms");
    app.test.clock.advance(Duration::from_secs(3));
    let now: u32 = delay(&alice.get(&page).await.body);
    assert_eq!(now, 0);
    app.finish().await;
}

#[tokio::test]
async fn cancelled_start_ends_the_instance() {
    let app = slow_app(Limits::default()).await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&template).await;
    let page = format!("/instances/{name}/wait");
    let end = format!("/instances/{name}/end");
    let form = alice.get(&page).await.form(&end);
    assert_eq!(alice.post(&end, &crate::support::borrowed(&form)).await.location(), "/");
    let answer = alice.get_until(&page, "").await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, format!("/instances/{name}").as_str()));
    app.finish().await;
}

#[tokio::test]
async fn waiting_page_of_a_failed_workshop_leads_to_its_failure() {
    let app = slow_app(Limits::default()).await;
    let template = app.template("Penguins", |_| {}).await;
    let alice = app.browser(ALICE);
    let name = alice.launch(&template).await;
    applied(&app, &name).await;
    app.test.fleet.fail(&name, FailureCode::Crashed, "");
    let detail = format!("/instances/{name}");
    let edit = format!("/admin/templates/{template}/edit");
    assert!(!alice.get_until(&detail, "Failed").await.body.contains(&edit), "only admins can correct the template");
    assert!(app.browser(ADMIN).get(&detail).await.body.contains(&edit));
    assert_eq!(alice.get(&format!("{detail}/wait")).await.location(), detail);
    let refresh = alice.with_htmx().get(&format!("{detail}/wait")).await;
    assert_eq!(refresh.header("hx-refresh"), "true", "the open page follows the redirect");
    app.finish().await;
}

#[tokio::test]
async fn open_link_leads_the_owner_to_the_waiting_page_and_an_admin_to_the_instance() {
    let app = slow_app(Limits::default()).await;
    let template = app.template("Penguins", |_| {}).await;
    let name = app.browser(ALICE).launch(&template).await;
    let (open, detail) = (format!("/instances/{name}/open"), format!("/instances/{name}"));
    assert_eq!(app.browser(ALICE).get(&open).await.location(), format!("{detail}/wait"));
    assert_eq!(app.browser(ADMIN).get(&open).await.location(), detail);
    assert_eq!(app.browser(BOB).get(&open).await.status, StatusCode::NOT_FOUND);
    assert_eq!(app.browser(BOB).get(&format!("{detail}/wait")).await.status, StatusCode::NOT_FOUND);
    app.finish().await;
}
