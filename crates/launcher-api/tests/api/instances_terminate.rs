//! `DELETE /instances/{k8s_name}`.

use launcher_domain::FailureCode;
use launcher_testkit::{Options, TestApp, Users, eventually};

#[tokio::test]
async fn terminate_deletes_workshop_and_can_be_repeated() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let path = format!("/instances/{name}");
    let ended = alice.delete(&path).await.expect(202).json();
    assert_eq!((ended["k8s_name"].as_str(), ended["end_reason"].as_str()), (Some(name.as_str()), Some("owner")));
    assert!(["terminating", "terminated"].contains(&ended["state"].as_str().unwrap()), "{ended}");
    let terminated = app.reaches(&alice, &name, "terminated").await;
    assert_eq!(alice.delete(&path).await.expect(202).json(), terminated);
    eventually(async || app.fleet.names().is_empty().then_some(())).await;
    app.finish().await;
}

#[tokio::test]
async fn instance_terminated_by_admin_has_end_reason_admin() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    assert_eq!(admin.delete(&format!("/instances/{name}")).await.expect(202).json()["end_reason"], "admin");
    app.reaches(&alice, &name, "terminated").await;
    app.finish().await;
}

#[tokio::test]
async fn failed_instance_is_listed_until_dismissed() {
    let Users { app, alice, admin, .. } =
        TestApp::start_with(Options { runs_at_once: false, ..Options::default() }).await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "starting").await;
    eventually(async || app.fleet.workshop(&name)).await;
    app.fleet.fail(&name, FailureCode::OutOfMemory, "");
    app.reaches(&alice, &name, "failed").await;
    assert_eq!(alice.get("/instances/").await.json()[0]["k8s_name"], name, "it stays listed until then");
    assert_eq!(alice.delete(&format!("/instances/{name}")).await.expect(202).json()["end_reason"], "failed");
    app.reaches(&alice, &name, "terminated").await;
    assert_eq!(alice.get("/instances/").await.json(), serde_json::json!([]));
    app.finish().await;
}
