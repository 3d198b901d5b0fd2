//! `POST /instances/{k8s_name}/suspend` and `POST /instances/{k8s_name}/resume`.

use launcher_service::Limits;
use launcher_testkit::{Client, Options, TestApp, Users};
use serde_json::{Value, json};

async fn kept(admin: &Client, at_expiry: &str) -> String {
    let storage = json!({ "kind": "kept", "at_expiry": at_expiry });
    let body = json!({ "name": "Penguins", "app_type": "notebook", "image": "example.org/image", "storage": storage });
    let created = admin.post_json("/templates/", &body).await.expect(201).json();
    assert_eq!(created["storage"]["at_expiry"], at_expiry);
    created["template_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn suspended_instance_is_resumed_with_its_name_volume_and_url() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let name = app.launched(&alice, &kept(&admin, "end").await, "running").await;
    let path = format!("/instances/{name}");
    let before = alice.get(&path).await.json();
    assert_eq!(before["suspended_at"], Value::Null);

    let asked = alice.post(&format!("{path}/suspend")).await.expect(202).json();
    assert!(["suspending", "suspended"].contains(&asked["state"].as_str().unwrap()), "{asked}");
    let suspended = app.reaches(&alice, &name, "suspended").await;
    assert_eq!((&suspended["url"], &suspended["expires_at"]), (&Value::Null, &Value::Null));
    assert_eq!(suspended["extension"]["latest_expires_at"], Value::Null);
    assert!(suspended["suspended_at"].is_string() && suspended["ended_at"].is_null(), "{suspended}");
    let repeated = alice.post(&format!("{path}/suspend")).await.expect(202).json();
    assert_eq!(repeated, suspended);
    assert_eq!(alice.get("/instances/?state=suspended").await.json()[0]["k8s_name"], name);

    let volume = &alice.get("/volumes/").await.json()[0];
    assert_eq!(volume["used_by"], name);
    assert!(volume["deleted_after"].is_string(), "the retention counts: {volume}");

    alice.post(&format!("{path}/resume")).await.expect(202);
    let after = app.reaches(&alice, &name, "running").await;
    assert_eq!((&after["url"], &after["volume"]), (&before["url"], &before["volume"]));
    assert_eq!((&after["suspended_at"], &after["created_at"]), (&Value::Null, &before["created_at"]));
    let repeated = alice.post(&format!("{path}/resume")).await.expect(202).json();
    assert_eq!(repeated["state"], "running");

    let log = admin.get("/activity/").await.json();
    let actions = log.as_array().unwrap().iter().filter(|entry| entry["subject"] == name);
    let actions: Vec<&str> = actions.map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["resumed", "suspended", "launched"]);
    app.finish().await;
}

#[tokio::test]
async fn refusals_name_their_problem() {
    let limits = Limits { max_instances_per_user: 1, ..Limits::default() };
    let Users { app, alice, admin, .. } = TestApp::start_with(Options { limits, ..Options::default() }).await;
    let without = app.launched(&alice, &app.template(&admin).await, "running").await;
    let refused = async |name: &str, verb: &str| {
        alice.post(&format!("/instances/{name}/{verb}")).await.expect(409).json()["code"].clone()
    };
    assert_eq!(refused(&without, "suspend").await, "files-not-kept");
    alice.delete(&format!("/instances/{without}")).await.expect(202);
    app.reaches(&alice, &without, "terminated").await;
    assert_eq!(refused(&without, "suspend").await, "not-running");
    assert_eq!(refused(&without, "resume").await, "not-suspended");

    let template = kept(&admin, "suspend").await;
    let name = app.launched(&alice, &template, "running").await;
    app.fleet.expire(&name);
    app.reaches(&alice, &name, "suspended").await;
    let again = alice.post(&format!("/templates/{template}/launch")).await.expect(409).json();
    assert_eq!(again["code"], "volume-in-use");
    assert!(again["detail"].as_str().unwrap().contains("resume it"), "{again}");
    let other = app.launched(&alice, &app.template(&admin).await, "running").await;
    assert_eq!(refused(&name, "resume").await, "instance-limit-reached");
    alice.delete(&format!("/instances/{other}")).await.expect(202);
    app.reaches(&alice, &other, "terminated").await;

    let ended = alice.delete(&format!("/instances/{name}")).await.expect(202).json();
    assert_eq!((&ended["state"], &ended["end_reason"]), (&json!("terminated"), &json!("owner")));
    app.finish().await;
}

#[tokio::test]
async fn archived_template_does_not_prevent_a_resume() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = kept(&admin, "end").await;
    let name = app.launched(&alice, &template, "running").await;
    alice.post(&format!("/instances/{name}/suspend")).await.expect(202);
    app.reaches(&alice, &name, "suspended").await;
    admin.delete(&format!("/templates/{template}")).await.expect(204);
    alice.post(&format!("/instances/{name}/resume")).await.expect(202);
    app.reaches(&alice, &name, "running").await;
    app.finish().await;
}
