//! `POST /instances/{k8s_name}/restart`.

use launcher_testkit::{TestApp, Users, eventually};
use serde_json::json;

#[tokio::test]
async fn restart_of_outdated_instance_changes_workshop_once_and_keeps_expiry() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let before = app.outdated(&alice, &name).await;
    let path = format!("/instances/{name}/restart");

    let restarted = admin.post(&path).await.expect(202).json();
    assert_eq!((&restarted["state"], &restarted["outdated"]), (&json!("running"), &json!(false)));
    assert_eq!(restarted["expires_at"], before["expires_at"]);
    let asked = eventually(async || app.fleet.workshop(&name)?.spec.restarted_at).await;
    let again = admin.post(&path).await.expect(409).json();
    assert_eq!(again["code"], "not-outdated");

    app.fleet.finish_restart(&name);
    app.fleet.relist();
    assert_eq!(alice.get(&format!("/instances/{name}")).await.json()["outdated"], false);
    assert_eq!(app.fleet.workshop(&name).unwrap().spec.restarted_at, Some(asked));
    let log = admin.get("/activity/").await.json();
    let entries: Vec<_> = log.as_array().unwrap().iter().filter(|entry| entry["action"] == "restarted").collect();
    assert_eq!(entries.len(), 1, "{log}");
    assert_eq!((&entries[0]["actor_email"], &entries[0]["subject"]), (&json!("admin@example.org"), &json!(name)));
    app.finish().await;
}

#[tokio::test]
async fn instance_with_current_version_or_that_does_not_run_is_not_restarted() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let path = format!("/instances/{name}/restart");
    assert_eq!(admin.post(&path).await.expect(409).json()["code"], "not-outdated");
    app.outdated(&alice, &name).await;
    alice.delete(&format!("/instances/{name}")).await.expect(202);
    let ended = app.reaches(&alice, &name, "terminated").await;
    assert_eq!(ended["outdated"], false);
    assert_eq!(admin.post(&path).await.expect(409).json()["code"], "not-running");
    app.finish().await;
}

#[tokio::test]
async fn restart_is_only_for_admins_and_unknown_instance_is_404() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    app.outdated(&alice, &name).await;
    let unknown = "statistics-101-zzzzzzzzzz";
    for user in [&alice, &bob] {
        for name in [name.as_str(), unknown] {
            let refused = user.post(&format!("/instances/{name}/restart")).await.expect(403).json();
            assert_eq!(refused["code"], "admin-only", "the answer does not tell if {name} exists");
        }
    }
    assert_eq!(alice.get(&format!("/instances/{name}")).await.json()["outdated"], true);
    admin.post(&format!("/instances/{unknown}/restart")).await.expect(404);
    app.finish().await;
}
