//! `POST /templates/{template_id}/launch` with the saved files of an earlier workshop.

use launcher_testkit::{Options, TestApp, Users};
use serde_json::json;

#[tokio::test]
async fn launch_has_the_saved_files_of_its_caller_only() {
    let Users { app, alice, bob, admin, .. } =
        TestApp::start_with(Options { saves_snapshots: true, ..Options::default() }).await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    alice.delete(&format!("/instances/{name}")).await.expect(202);
    app.reaches(&alice, &name, "terminated").await;
    let snapshot = alice.get("/snapshots/").await.expect(200).json()[0]["snapshot_id"].clone();
    let launch = format!("/templates/{template}/launch");

    let launched = alice.post_json(&launch, &json!({ "snapshot": snapshot })).await.expect(201).json();
    assert_eq!(launched["restored_from"], snapshot);
    let spec =
        launcher_testkit::eventually(async || app.fleet.workshop(launched["k8s_name"].as_str().unwrap())).await.spec;
    assert_eq!(json!(spec.restore.unwrap().snapshot), snapshot);
    assert_eq!(alice.post(&launch).await.expect(201).json()["restored_from"], json!(null));

    let unknown = json!({ "snapshot": "01890000-0000-7000-8000-000000000000" });
    let missing = bob.post_json(&launch, &unknown).await.expect(404);
    for person in [&bob, &admin] {
        let foreign = person.post_json(&launch, &json!({ "snapshot": snapshot })).await.expect(404);
        assert_eq!(foreign.code(), "not-found");
        assert_eq!(foreign.json()["detail"], missing.json()["detail"], "as for an unknown snapshot");
    }
    assert_eq!(alice.post_json(&launch, &json!({ "snapshot": "x" })).await.expect(422).code(), "invalid-fields");
    let other = app.template(&admin).await;
    let refused = alice.post_json(&format!("/templates/{other}/launch"), &json!({ "snapshot": snapshot })).await;
    assert_eq!(refused.expect(422).json()["errors"][0]["pointer"], "/snapshot");
    app.fleet.remove_restore();
    let refused = alice.post_json(&launch, &json!({ "snapshot": snapshot })).await.expect(422);
    assert!(refused.json()["errors"][0]["detail"].as_str().unwrap().contains("survive a crash"), "{}", refused.json());
    app.finish().await;
}

#[tokio::test]
async fn repeated_launch_with_saved_files_needs_the_same_body() {
    let Users { app, alice, admin, .. } =
        TestApp::start_with(Options { saves_snapshots: true, ..Options::default() }).await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    alice.delete(&format!("/instances/{name}")).await.expect(202);
    app.reaches(&alice, &name, "terminated").await;
    let snapshot = alice.get("/snapshots/").await.expect(200).json()[0]["snapshot_id"].clone();
    let launch = format!("/api/v1/templates/{template}/launch");
    let send = async |body: &serde_json::Value| {
        let request = alice.request(http::Method::POST, &launch).header("Idempotency-Key", "files");
        request.json(body).send().await.unwrap().status().as_u16()
    };
    let body = json!({ "snapshot": snapshot });
    assert_eq!([send(&body).await, send(&body).await], [201, 200]);
    assert_eq!(send(&json!({})).await, 422);
    alice.delete(&format!("/snapshots/{}", snapshot.as_str().unwrap())).await.expect(204);
    assert_eq!(send(&body).await, 200, "the launch is done, also without the snapshot");
    app.finish().await;
}
