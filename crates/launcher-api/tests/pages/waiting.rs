//! The waiting page, from Launch until the workshop opens.

use std::time::Duration;

use http::StatusCode;
use launcher_api::ApiProcess;
use launcher_domain::{FailureCode, StartStep};
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
    assert!(!queued.contains("Usually ready"), "no launch was ready yet: {queued}");
    assert!(queued.contains(&format!("action=\"/instances/{name}/end\"")) && queued.contains(">Cancel</button>"));
    assert!(queued.contains("The files in a workshop are deleted when it ends."));
    assert!(queued.contains("http-equiv=\"refresh\" content=\"3\""), "the page works without scripts");

    app.test.clock.advance(Duration::from_secs(12));
    app.test.fleet.ready(&ahead);
    applied(&app, &name).await;
    app.test.fleet.starting(&name, StartStep::PullingImage);
    let pulling = alice.get_until(&page, "aria-current=\"step\">Download the image").await.body;
    assert!(pulling.contains("Usually ready after 12 seconds."), "{pulling}");
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
