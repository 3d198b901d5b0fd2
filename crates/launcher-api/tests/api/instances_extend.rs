//! `POST /instances/{k8s_name}/extend`.

use launcher_testkit::{Options, TestApp, Users};
use serde_json::json;

#[tokio::test]
async fn instance_is_extended_up_to_max_lifetime() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let extend = format!("/instances/{name}/extend");
    let extended = alice.post(&extend).await.expect(200).json();
    assert_eq!(extended["expires_at"], extended["extension"]["latest_expires_at"]);
    assert_eq!(extended["extension"]["allowed"], false);
    assert_eq!(extended["extension"]["denied_reason"], "lifetime-limit-reached");
    let refused = alice.post(&extend).await.expect(409);
    assert_eq!(refused.code(), "lifetime-limit-reached");
    let wanted = extended["expires_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    launcher_testkit::eventually(async || {
        app.fleet.workshop(&name)?.spec.expires_at.filter(|expires_at| *expires_at == wanted)
    })
    .await;
    app.finish().await;
}

#[tokio::test]
async fn concurrent_equal_extensions_extend_instance_once() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let before = alice.get(&format!("/instances/{name}")).await.json()["expires_at"].clone();
    let body = json!({ "expected_expires_at": before });
    let extend = format!("/instances/{name}/extend");
    let (one, two) = tokio::join!(alice.post_json(&extend, &body), alice.post_json(&extend, &body));
    let (done, refused) = if one.status == 200 { (one, two) } else { (two, one) };
    assert_ne!(done.expect(200).json()["expires_at"], before);
    assert_eq!(refused.expect(409).code(), "expiry-changed");
    app.finish().await;
}

#[tokio::test]
async fn extension_requires_running_instance_and_valid_body() {
    let Users { app, alice, admin, .. } =
        TestApp::start_with(Options { runs_at_once: false, ..Options::default() }).await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "starting").await;
    let extend = format!("/instances/{name}/extend");
    assert_eq!(alice.post(&extend).await.expect(409).code(), "not-running");
    assert_eq!(
        alice.post_json(&extend, &json!({ "expected_expires_at": null })).await.expect(409).code(),
        "not-running"
    );
    for body in [json!({ "seconds": 1 }), json!({ "expected_expires_at": "tomorrow" }), json!([]), json!(7)] {
        assert_eq!(alice.post_json(&extend, &body).await.expect(422).code(), "invalid-fields", "{body}");
    }
    app.finish().await;
}

#[tokio::test]
async fn overdue_running_instance_cannot_be_extended() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    // The expiry passes, but the fleet has not terminated the workshop yet.
    app.clock.advance(std::time::Duration::from_secs(7200));
    let overdue = alice.get(&format!("/instances/{name}")).await.expect(200).json();
    assert_eq!(overdue["state"], "running");
    assert_eq!(overdue["extension"]["allowed"], false);
    assert_eq!(overdue["extension"]["denied_reason"], "not-running");
    let body = json!({ "expected_expires_at": overdue["expires_at"] });
    let refused = alice.post_json(&format!("/instances/{name}/extend"), &body).await.expect(409);
    assert_eq!(refused.code(), "not-running");
    app.finish().await;
}

#[tokio::test]
async fn admin_extends_instance_of_other_owner() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let extended = admin.post(&format!("/instances/{name}/extend")).await.expect(200).json();
    assert_eq!(extended["owner_email"], "alice@example.org");
    app.finish().await;
}

#[tokio::test]
async fn admin_extends_instance_beyond_max_lifetime() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let (extend, beyond) = (format!("/instances/{name}/extend"), json!({ "beyond_maximum": true }));
    let latest = alice.post(&extend).await.expect(200).json()["expires_at"].clone();
    for (person, path) in [(&alice, &*extend), (&bob, &*extend), (&bob, "/instances/unknown-aaaaaaaaaa/extend")] {
        assert_eq!(person.post_json(path, &beyond).await.expect(403).code(), "admin-only", "{path}");
    }
    assert_eq!(
        alice.post_json(&extend, &json!({ "beyond_maximum": false })).await.expect(409).code(),
        "lifetime-limit-reached"
    );
    assert_eq!(admin.post(&extend).await.expect(409).code(), "lifetime-limit-reached", "only on request");
    let extended = admin.post_json(&extend, &json!({ "beyond_maximum": true, "expected_expires_at": latest })).await;
    let extended = extended.expect(200).json();
    assert_eq!(extended["extension"]["latest_expires_at"], latest, "the maximum stays");
    let time = |value: &serde_json::Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(time(&extended["expires_at"]).duration_since(time(&latest)).as_secs(), 3600);
    let wanted = time(&extended["expires_at"]);
    launcher_testkit::eventually(async || {
        app.fleet.workshop(&name)?.spec.expires_at.filter(|expires_at| *expires_at == wanted)
    })
    .await;
    let logged = admin.get(&format!("/activity/?subject={name}&limit=1")).await.expect(200).json();
    assert_eq!(logged[0]["action"], "extended-beyond-maximum");
    assert_eq!(logged[0]["detail"], format!("{} 3600", extended["expires_at"].as_str().unwrap()));
    app.finish().await;
}
