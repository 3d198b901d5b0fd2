//! `GET /events`: the event stream of the API.

use http::Method;
use launcher_testkit::{EventStream, Options, ServerEvent, TestApp, Users, eventually, in_time};

async fn next(events: &mut EventStream) -> ServerEvent {
    let event = in_time(events.next()).await.expect("the stream goes on");
    assert_eq!(event.event, "instance");
    event
}

/// Reads events until the instance `name` is in this state. Returns that event.
async fn until(events: &mut EventStream, name: &str, state: &str) -> ServerEvent {
    loop {
        let event = next(events).await;
        if event.data["k8s_name"] == name && event.data["state"] == state {
            return event;
        }
    }
}

#[tokio::test]
async fn event_stream_sends_changes_as_instance_json() {
    let Users { app, alice, admin, .. } =
        TestApp::start_with(Options { runs_at_once: false, ..Options::default() }).await;
    let template = app.template(&admin).await;
    let mut events = alice.events(None).await;
    assert_eq!(events.status, 200);
    assert_eq!(events.headers["content-type"], "text/event-stream");
    assert_eq!(events.headers["cache-control"], "no-store");
    let name = app.launched(&alice, &template, "starting").await;
    until(&mut events, &name, "starting").await;
    assert_eq!(events.retry, Some(2000));
    eventually(async || app.fleet.workshop(&name)).await;
    app.fleet.ready(&name);
    let running = until(&mut events, &name, "running").await;
    assert!(running.id.parse::<i64>().unwrap() > 0);
    assert_eq!(running.data, alice.get(&format!("/instances/{name}")).await.json());
    drop(events);
    app.finish().await;
}

#[tokio::test]
async fn event_stream_begins_with_live_instances_or_missed_events() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let first = app.launched(&alice, &template, "running").await;
    let bobs = app.launched(&bob, &template, "running").await;
    let mut events = alice.events(None).await;
    let seen = next(&mut events).await;
    assert_eq!(seen.data["k8s_name"], first);
    drop(events);

    let second = app.launched(&alice, &template, "running").await;
    let mut events = alice.events(Some(&seen.id)).await;
    let missed = until(&mut events, &second, "running").await;
    drop(events);
    let mut nothing_new = alice.events(Some(&missed.id)).await;
    alice.delete(&format!("/instances/{first}")).await.expect(202);
    let event = next(&mut nothing_new).await;
    assert_eq!(event.data["k8s_name"], first, "what was seen does not come again");
    drop(nothing_new);

    // An unknown event id counts as absent, so the stream begins with all live instances.
    for unknown in ["999999999", "-1", "abc"] {
        let mut anew = alice.events(Some(unknown)).await;
        until(&mut anew, &second, "running").await;
    }
    let mut all = admin.events(None).await;
    until(&mut all, &bobs, "running").await;
    drop(all);
    app.finish().await;
}

#[tokio::test]
async fn event_stream_omits_instances_of_other_owners() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let mut events = bob.events(None).await;
    app.launched(&alice, &template, "running").await;
    let own = app.launched(&bob, &template, "running").await;
    loop {
        let event = next(&mut events).await;
        assert_eq!(event.data["owner_email"], "bob@example.org");
        if event.data["k8s_name"] == own && event.data["state"] == "running" {
            break;
        }
    }
    drop(events);
    app.finish().await;
}

#[tokio::test]
async fn event_streams_end_when_launcher_stops() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let mut events = alice.events(None).await;
    let name = app.launched(&alice, &template, "running").await;
    until(&mut events, &name, "running").await;
    app.request_stop();
    in_time(async { while events.next().await.is_some() {} }).await;
    app.finish().await;
}

#[tokio::test]
async fn event_stream_limit_is_per_caller() {
    let Users { app, alice, bob, .. } = TestApp::start().await;
    let mut streams = Vec::new();
    for index in 0..32 {
        let path = if index % 2 == 0 { "/api/v1/events" } else { "/fragments/events" };
        let stream = alice.request(Method::GET, path).send().await.unwrap();
        assert_eq!(stream.status(), 200, "stream {index}");
        streams.push(stream);
    }
    let refused = alice.get("/events").await.expect(429);
    assert_eq!((refused.code().as_str(), refused.header("retry-after")), ("too-many-streams", "10"));
    assert_eq!(alice.page("/fragments/events").await.expect(429).header("retry-after"), "10");
    assert_eq!(bob.events(None).await.status, 200);
    drop(streams.pop());
    eventually(async || (alice.events(None).await.status == 200).then_some(())).await;
    drop(streams);
    app.finish().await;
}
