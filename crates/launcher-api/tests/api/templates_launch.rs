//! `POST /templates/{template_id}/launch`.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;
use http::Method;
use launcher_service::Limits;
use launcher_testkit::{Client, Options, Reply, TestApp, Users, eventually};
use serde_json::json;

async fn launch(person: &Client, template: &str, key: &str) -> Reply {
    let path = person.api(&format!("/templates/{template}/launch"));
    Reply::of(person.request(Method::POST, &path).header("Idempotency-Key", key)).await
}

#[tokio::test]
async fn launch_returns_201_and_is_owned_by_caller() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let path = format!("/templates/{template}/launch");
    let launched = alice.post(&path).await.expect(201);
    let instance = launched.json();
    let name = instance["k8s_name"].as_str().unwrap();
    assert_eq!(launched.header("location"), format!("/api/v1/instances/{name}"));
    assert_eq!(instance["owner_email"], "alice@example.org");
    assert_eq!(alice.page(launched.header("location")).await.expect(200).json()["k8s_name"], name);
    app.reaches(&alice, name, "running").await;
    let workshop = app.fleet.workshop(name).unwrap();
    assert_eq!(workshop.spec.owner, "alice@example.org");

    alice.post_json(&path, &json!({})).await.expect(201);
    let of_admin = admin.post(&path).await.expect(201).json();
    assert_eq!(of_admin["owner_email"], "admin@example.org");
    app.finish().await;
}

#[tokio::test]
async fn launch_with_owner_image_or_unknown_field_is_refused() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let path = format!("/templates/{template}/launch");
    for field in ["owner_email", "image", "k8s_name", "anything"] {
        let reply = alice.post_json(&path, &json!({ field: "bob@example.org" })).await.expect(422);
        assert_eq!(reply.code(), "invalid-fields");
        assert_eq!(reply.json()["errors"][0]["pointer"], format!("/{field}"));
    }
    assert_eq!(alice.get("/instances/?state=all").await.json(), json!([]));
    app.finish().await;
}

#[tokio::test]
async fn launch_of_archived_template_is_admin_only() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    admin.delete(&format!("/templates/{template}")).await.expect(204);
    let path = format!("/templates/{template}/launch");
    assert_eq!(alice.post(&path).await.expect(409).code(), "template-inactive");
    admin.post(&path).await.expect(201);
    for unknown in ["01890000-0000-7000-8000-000000000000", "no-uuid", "0189000000007000800000000000000a"] {
        assert_eq!(alice.post(&format!("/templates/{unknown}/launch")).await.expect(404).code(), "not-found");
    }
    app.finish().await;
}

/// Exactly one launch succeeds. The others get 409 (instance limit) or 429 (requests in flight).
#[tokio::test(flavor = "multi_thread")]
async fn instance_limit_holds_for_500_concurrent_launches() {
    let limits = Limits { max_instances_per_user: 1, ..Limits::default() };
    let Users { app, alice, admin, .. } = TestApp::start_with(Options { limits, ..Options::default() }).await;
    let template = app.template(&admin).await;
    let path = format!("/templates/{template}/launch");
    let replies = join_all((0..500).map(|_| alice.post(&path))).await;
    let created: Vec<_> = replies.iter().filter(|reply| reply.status == 201).collect();
    assert_eq!(created.len(), 1);
    for refused in replies.iter().filter(|reply| reply.status != 201) {
        // 429 occurs because one caller can have at most 64 requests in flight.
        let answer = (refused.status.as_u16(), refused.code());
        let expected = [(409, "instance-limit-reached".to_owned()), (429, "too-many-requests".to_owned())];
        assert!(expected.contains(&answer), "{answer:?}");
    }
    let name = created[0].json()["k8s_name"].as_str().unwrap().to_owned();
    app.reaches(&alice, &name, "running").await;
    assert_eq!(app.fleet.created(), 1);

    alice.delete(&format!("/instances/{name}")).await.expect(202);
    app.reaches(&alice, &name, "terminated").await;
    alice.post(&path).await.expect(201);
    admin.post(&path).await.expect(201);
    admin.post(&path).await.expect(201);
    app.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_idempotency_key_launches_once() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let replies = join_all((0..20).map(|_| launch(&alice, &template, "key-1"))).await;
    let names: HashSet<String> =
        replies.iter().map(|reply| reply.json()["k8s_name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), 1);
    let mut statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!((statuses[0], statuses[18], statuses[19]), (200, 200, 201));
    let name = names.into_iter().next().unwrap();
    let replayed = launch(&alice, &template, "key-1").await.expect(200);
    assert_eq!(replayed.header("location"), format!("/api/v1/instances/{name}"));
    // For the idempotency key, an empty object is the same body as no body.
    let path = alice.api(&format!("/templates/{template}/launch"));
    let with_body = alice.request(Method::POST, &path).header("Idempotency-Key", "key-1").json(&json!({}));
    assert_eq!(Reply::of(with_body).await.expect(200).json()["k8s_name"], name);

    let other = app.template(&admin).await;
    assert_eq!(launch(&alice, &other, "key-1").await.expect(422).code(), "idempotency-key-reused");
    assert_ne!(launch(&bob, &template, "key-1").await.expect(201).json()["k8s_name"], name, "a key is its caller's");
    eventually(async || (app.fleet.created() == 2).then_some(())).await;
    app.finish().await;
}

#[tokio::test]
async fn invalid_idempotency_key_is_refused() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let too_long = "k".repeat(256);
    for key in ["", "a b", "\u{e9}", &too_long] {
        let reply = launch(&alice, &template, key).await.expect(422);
        assert_eq!(reply.code(), "invalid-parameters", "{key}");
        assert_eq!(reply.json()["errors"][0]["pointer"], "/Idempotency-Key");
    }
    let path = alice.api(&format!("/templates/{template}/launch"));
    let twice = alice.request(Method::POST, &path).header("Idempotency-Key", "a").header("Idempotency-Key", "b");
    Reply::of(twice).await.expect(422);
    launch(&alice, &template, &"k".repeat(255)).await.expect(201);
    app.finish().await;
}

#[tokio::test]
async fn launches_beyond_start_limit_are_queued_and_refused_when_queue_is_full() {
    let limits = Limits { max_concurrent_starts: 1, max_queued: 2, ..Limits::default() };
    let options = Options { limits, runs_at_once: false, ..Options::default() };
    let Users { app, alice, bob, admin, .. } = TestApp::start_with(options).await;
    let template = app.template(&admin).await;
    let path = format!("/templates/{template}/launch");
    let starting = app.launched(&admin, &template, "starting").await;
    let first = alice.post(&path).await.expect(201).json();
    let second = bob.post(&path).await.expect(201).json();
    assert_eq!((&first["state"], &first["queue_position"]), (&json!("queued"), &json!(1)));
    assert_eq!((&second["state"], &second["queue_position"]), (&json!("queued"), &json!(2)));
    let refused = bob.post(&path).await.expect(503);
    assert_eq!((refused.code().as_str(), refused.header("retry-after")), ("at-capacity", "30"));

    eventually(async || app.fleet.workshop(&starting)).await;
    app.fleet.ready(&starting);
    app.reaches(&alice, first["k8s_name"].as_str().unwrap(), "starting").await;
    let second = bob.get(&format!("/instances/{}", second["k8s_name"].as_str().unwrap())).await.json();
    assert_eq!((&second["state"], &second["queue_position"]), (&json!("queued"), &json!(1)));
    app.finish().await;
}

#[tokio::test]
async fn launch_beyond_rate_limit_is_429_with_retry_after() {
    let limits = Limits { launch_rate: 6, launch_burst: 2, max_instances_per_user: 100, ..Limits::default() };
    let Users { app, alice, bob, admin, .. } = TestApp::start_with(Options { limits, ..Options::default() }).await;
    let template = app.template(&admin).await;
    let path = format!("/templates/{template}/launch");
    launch(&alice, &template, "key-1").await.expect(201);
    launch(&alice, &template, "key-1").await.expect(200);
    alice.post(&path).await.expect(201);
    let refused = alice.post(&path).await.expect(429);
    assert_eq!((refused.code().as_str(), refused.header("retry-after")), ("too-many-launches", "10"));
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert_eq!(detail, "You have launched many workshops in a short time: try again in 10 s.");
    launch(&alice, &template, "key-1").await.expect(200);

    app.clock.advance(Duration::from_secs(9));
    let refused = alice.post(&path).await.expect(429);
    assert_eq!(refused.header("retry-after"), "1", "whole seconds, and never 0");
    app.clock.advance(Duration::from_secs(1));
    alice.post(&path).await.expect(201);
    bob.post(&path).await.expect(201);
    for _ in 0..5 {
        admin.post(&path).await.expect(201);
    }
    app.finish().await;
}
