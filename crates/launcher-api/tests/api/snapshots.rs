//! `/snapshots/`: files of ended workshops.

use std::time::Duration;

use http::Method;
use launcher_domain::{AdminList, EmailAddress};
use launcher_testkit::{ADMIN, Client, Options, TestApp, Users, eventually};
use serde_json::{Value, json};

const MISSING: &str = "00000000-0000-7000-8000-000000000000";

fn saving() -> Options {
    Options { saves_snapshots: true, ..Options::default() }
}

/// Launches a workshop, and ends it when it runs. Returns the ended instance.
async fn ended(app: &TestApp, person: &Client, template: &str) -> Value {
    let name = app.launched(person, template, "running").await;
    person.delete(&format!("/instances/{name}")).await.expect(202);
    app.reaches(person, &name, "terminated").await
}

async fn listed(person: &Client, query: &str) -> Value {
    person.get(&format!("/snapshots/{query}")).await.expect(200).json()
}

/// Returns the path of the person's newest snapshot.
async fn newest(person: &Client) -> String {
    format!("/snapshots/{}", listed(person, "").await[0]["snapshot_id"].as_str().unwrap())
}

#[tokio::test]
async fn instance_has_progress_of_its_snapshot() {
    let Users { app, alice, admin, .. } = TestApp::start_with(saving()).await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let path = format!("/instances/{name}");
    let planned = alice.get(&path).await.expect(200).json();
    assert_eq!(planned["snapshot"], json!({ "state": "planned", "failure": null }));
    let ending = alice.delete(&path).await.expect(202).json();
    assert_eq!(ending["snapshot"], json!({ "state": "pending", "failure": null }));
    let saved = app.reaches(&alice, &name, "terminated").await;
    assert_eq!(saved["snapshot"], json!({ "state": "saved", "failure": null }));

    let name = app.launched(&alice, &template, "running").await;
    app.fleet.remove_archives();
    alice.delete(&format!("/instances/{name}")).await.expect(202);
    let failed = app.reaches(&alice, &name, "terminated").await;
    assert_eq!(failed["snapshot"], json!({ "state": "failed", "failure": "files-unavailable" }));
    assert_eq!(listed(&alice, "").await.as_array().unwrap().len(), 1);
    app.finish().await;
}

#[tokio::test]
async fn launcher_without_object_store_saves_no_files() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let instance = ended(&app, &alice, &app.template(&admin).await).await;
    assert_eq!(instance["snapshot"], Value::Null);
    assert_eq!(listed(&alice, "").await, json!([]));
    app.finish().await;
}

#[tokio::test]
async fn snapshot_is_listed_for_its_owner_and_admins_and_deleted_once() {
    let Users { app, alice, bob, admin, .. } = TestApp::start_with(saving()).await;
    let template = app.template(&admin).await;
    let instance = ended(&app, &alice, &template).await;
    let snapshots = listed(&alice, "").await;
    let snapshot = &snapshots[0];
    assert_eq!(snapshot["workshop"], instance["k8s_name"]);
    assert_eq!(snapshot["template_id"], template);
    assert_eq!(snapshot["template_name"], "Statistics 101");
    assert_eq!(snapshot["owner_email"], "alice@example.org");
    assert!(snapshot["bytes"].as_u64().unwrap() > 0, "{snapshot}");
    let time = |field: &str| snapshot[field].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(time("deleted_after").as_second() - time("created_at").as_second(), 7 * 24 * 3600);

    assert_eq!(listed(&bob, "").await, json!([]));
    assert_eq!(listed(&admin, "").await, snapshots);
    assert_eq!(listed(&admin, "?owner_email=Alice@example.org").await, snapshots);
    assert_eq!(listed(&admin, "?owner_email=bob@example.org").await, json!([]));
    bob.get("/snapshots/?owner_email=alice@example.org").await.expect(403);
    admin.get("/snapshots/?owner_email=alice").await.expect(422);

    let path = newest(&alice).await;
    let missing = bob.delete(&format!("/snapshots/{MISSING}")).await.expect(404);
    assert_eq!(bob.delete(&path).await.expect(404).body, missing.body, "it does not reveal that the snapshot exists");
    bob.delete("/snapshots/no-uuid").await.expect(404);
    alice.delete(&path).await.expect(204);
    alice.delete(&path).await.expect(404);
    alice.get(&format!("{path}/download")).await.expect(404);
    assert_eq!(listed(&alice, "").await, json!([]));
    app.finish().await;
}

#[tokio::test]
async fn snapshot_is_deleted_after_its_retention() {
    let Users { app, alice, admin, .. } = TestApp::start_with(saving()).await;
    ended(&app, &alice, &app.template(&admin).await).await;
    app.clock.advance(Duration::from_secs(7 * 24 * 3600 + 1));
    let path = newest(&alice).await;
    // Another deletion starts the upkeep at once.
    ended(&app, &alice, &app.template(&admin).await).await;
    alice.delete(&newest(&alice).await).await.expect(204);
    eventually(async || (alice.get(&format!("{path}/download")).await.status == 404).then_some(())).await;
    app.finish().await;
}

#[tokio::test]
async fn download_is_an_archive_for_owner_and_admin() {
    let Users { app, alice, bob, admin, .. } = TestApp::start_with(saving()).await;
    let instance = ended(&app, &alice, &app.template(&admin).await).await;
    let path = format!("{}/download", newest(&alice).await);
    for person in [&alice, &admin] {
        let archive = person.get(&path).await.expect(200);
        assert_eq!(archive.header("content-type"), "application/gzip");
        assert_eq!(archive.header("content-disposition"), "attachment; filename=\"Statistics-101.tar.gz\"");
        assert_eq!(archive.header("cache-control"), "no-store");
        assert_eq!(archive.header("x-content-type-options"), "nosniff");
        assert_eq!(archive.body.len() as u64, listed(&alice, "").await[0]["bytes"].as_u64().unwrap());
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(&*archive.body));
        let files = tar.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string());
        let expected = format!("notes/{}.txt", instance["k8s_name"].as_str().unwrap());
        assert_eq!(files.collect::<Vec<_>>(), [expected]);
    }
    let missing = bob.get(&format!("/snapshots/{MISSING}/download")).await.expect(404);
    assert_eq!(bob.get(&path).await.expect(404).body, missing.body);
    app.finish().await;
}

#[tokio::test]
async fn snapshots_are_listed_in_pages() {
    let Users { app, alice, admin, .. } = TestApp::start_with(saving()).await;
    let template = app.template(&admin).await;
    let mut names = Vec::new();
    for _ in 0..3 {
        names.push(ended(&app, &alice, &template).await["k8s_name"].clone());
    }
    let first = admin.get("/snapshots/?limit=2&owner_email=alice@example.org").await.expect(200);
    let page = first.json();
    assert_eq!([&page[0]["workshop"], &page[1]["workshop"]], [&names[2], &names[1]]);
    let next = first.header("link").split(['<', '>']).nth(1).unwrap().to_owned();
    let second = admin.page(&next).await.expect(200);
    assert_eq!((second.json()[0]["workshop"].clone(), second.header("link")), (names[0].clone(), ""));
    app.finish().await;
}

#[tokio::test]
async fn no_response_contains_token_of_snapshot() {
    let Users { app, alice, admin, .. } = TestApp::start_with(saving()).await;
    let template = app.template(&admin).await;
    let launched = alice.post(&format!("/templates/{template}/launch")).await.expect(201);
    let name = launched.json()["k8s_name"].as_str().unwrap().to_owned();
    app.reaches(&alice, &name, "running").await;
    let caller = AdminList::parse(ADMIN).unwrap().caller(EmailAddress::parse(ADMIN).unwrap());
    let instance = app.launcher.instance(&caller, &name).await.unwrap().instance;
    let token = instance.snapshot.as_ref().unwrap().token.reveal();
    let is_hidden = |text: &str| assert!(!text.contains(token), "{text}");
    is_hidden(&launched.text());
    is_hidden(&format!("{instance:?}"));
    let path = format!("/instances/{name}");
    for _ in ["running", "ended"] {
        for person in [&alice, &admin] {
            for list in [&*path, "/instances/?state=all", "/snapshots/", "/templates/"] {
                is_hidden(&person.get(list).await.expect(200).text());
            }
            for page in ["/", &path, "/history", "/work"] {
                is_hidden(&person.page(page).await.expect(200).text());
            }
        }
        for list in ["/activity/", "/instances/?state=live"] {
            is_hidden(&admin.get(list).await.expect(200).text());
        }
        is_hidden(&alice.delete(&path).await.expect(202).text());
        app.reaches(&alice, &name, "terminated").await;
    }
    app.finish().await;
}

#[tokio::test]
async fn method_of_snapshot_without_route_is_405() {
    let Users { app, alice, admin, .. } = TestApp::start_with(saving()).await;
    ended(&app, &alice, &app.template(&admin).await).await;
    let path = alice.api(&newest(&alice).await);
    let refused = alice.request(Method::GET, &path).send().await.unwrap();
    assert_eq!((refused.status().as_u16(), refused.headers()["allow"].to_str().unwrap()), (405, "DELETE"));
    app.finish().await;
}
