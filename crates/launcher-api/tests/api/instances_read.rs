//! `GET /instances/{k8s_name}`. Another person's instance looks like one that does not exist.

use http::Method;
use launcher_domain::{FailureCode, MaterialReport, SourceReport};
use launcher_testkit::{Client, Options, Reply, TestApp, Users};
use serde_json::{Value, json};

use crate::assert_documented;

#[tokio::test]
async fn running_instance_has_exactly_documented_fields() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let mut instance = alice.get(&format!("/instances/{name}")).await.expect(200).json();
    let start = instance["started_at"].as_str().unwrap().to_owned();
    for field in ["created_at", "started_at", "expires_at"] {
        let time = instance[field].as_str().unwrap();
        assert!(time.len() == "2026-03-02T08:00:00.000Z".len() && time.ends_with('Z'), "{field}: {time}");
        instance[field] = json!("a time");
    }
    assert!(start.starts_with("2026-03-02T08:00:0"));
    let latest = instance["extension"]["latest_expires_at"].take();
    assert_eq!(latest, start.replace("T08:", "T11:"));
    assert_documented(&instance, "WorkshopInstanceResponse");
    let shown = json!({
        "k8s_name": name,
        "owner_email": "alice@example.org",
        "template_id": template,
        "template_name": "Statistics 101",
        "state": "running",
        "url": format!("http://{name}.workshops.test/"),
        "created_at": "a time",
        "started_at": "a time",
        "expires_at": "a time",
        "extension": {
            "allowed": true, "denied_reason": null, "extend_by_seconds": 3600, "latest_expires_at": null,
        },
    });
    for (field, value) in instance.as_object().unwrap() {
        let is_empty = [json!(null), json!(false), json!([]), json!({})].contains(value);
        assert!(shown.get(field).map_or(is_empty, |shown| shown == value), "{field}: {value}");
    }
    app.finish().await;
}

#[tokio::test]
async fn failed_instance_has_reason_and_log_tail() {
    let Users { app, alice, admin, .. } =
        TestApp::start_with(Options { runs_at_once: false, ..Options::default() }).await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "starting").await;
    launcher_testkit::eventually(async || app.fleet.workshop(&name)).await;
    app.fleet.fail(&name, FailureCode::Crashed, "no module named pandas");
    let failed = app.reaches(&alice, &name, "failed").await;
    assert_eq!(failed["reason"]["code"], "crashed");
    assert_eq!(failed["reason"]["retryable"], true);
    assert!(failed["reason"]["message"].is_string() && failed["reason"]["remedy"].is_string());
    assert_eq!(failed["log_tail"], "no module named pandas");
    assert_eq!((&failed["url"], &failed["end_reason"]), (&Value::Null, &json!("failed")));
    assert_eq!(failed["extension"]["denied_reason"], "not-running");
    app.finish().await;
}

#[tokio::test]
async fn crashed_instance_keeps_running_and_has_last_crash() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let path = format!("/instances/{name}");
    let before = alice.get(&path).await.json();
    assert_eq!(before["last_crash"], Value::Null);

    for (code, files_lost) in [(FailureCode::OutOfMemory, true), (FailureCode::Crashed, false)] {
        app.fleet.crash(&name, code, files_lost);
        let crashed = launcher_testkit::eventually(async || {
            let read = alice.get(&path).await.json();
            (read["last_crash"]["code"] == code.as_str()).then_some(read)
        });
        let mut crashed = crashed.await;
        let crash = crashed["last_crash"].take();
        assert_eq!((&crash["message"], &crash["files_lost"]), (&json!(code.message()), &json!(files_lost)));
        assert!(crash["at"].as_str().unwrap().ends_with('Z'), "{crash}");
        assert_eq!(crashed, before, "state, URL and expiry stay");
    }
    app.finish().await;
}

#[tokio::test]
async fn report_about_material_is_shown_with_the_instance() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let failed = SourceReport::failed("data", "The server does not answer.");
    app.fleet.report_material(&name, MaterialReport { sources: vec![failed] });
    let path = format!("/instances/{name}");
    let read = launcher_testkit::eventually(async || {
        let read = alice.get(&path).await.json();
        (read["material"] != json!([])).then_some(read)
    });
    assert_eq!(
        read.await["material"],
        json!([{ "target": "data", "outcome": "failed", "version": null, "conflicts": [], "conflict_count": 0,
            "message": "The server does not answer." }])
    );
    app.finish().await;
}

#[tokio::test]
async fn instance_ends_as_lost_after_external_deletion_of_workshop() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    app.fleet.remove_workshop(&name);
    let lost = app.reaches(&alice, &name, "terminated").await;
    assert_eq!(lost["end_reason"], "lost");
    assert!(lost["ended_at"].is_string());
    app.finish().await;
}

async fn ask(person: &Client, method: Method, path: &str) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let reply = Reply::of(person.request(method, &person.api(path))).await;
    let mut headers: Vec<_> = reply
        .headers
        .iter()
        .filter(|(name, _)| !["date", "x-request-id"].contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    (reply.status.as_u16(), headers, reply.body)
}

/// Compares the responses byte by byte, for reading, extending and terminating.
#[tokio::test]
async fn instance_of_other_owner_gets_same_404_as_unknown_name() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let unknown = "statistics-101-zzzzzzzzzz";
    for (method, rest) in [
        (Method::GET, ""),
        (Method::GET, "/"),
        (Method::HEAD, ""),
        (Method::POST, "/extend"),
        (Method::POST, "/suspend"),
        (Method::POST, "/resume"),
        (Method::DELETE, ""),
        (Method::DELETE, "/"),
    ] {
        let hers = ask(&bob, method.clone(), &format!("/instances/{name}{rest}")).await;
        let nobodys = ask(&bob, method.clone(), &format!("/instances/{unknown}{rest}")).await;
        assert_eq!(hers.0, 404, "{method} {rest}");
        assert_eq!(hers, nobodys, "{method} {rest}");
        assert_eq!(hers, ask(&bob, method.clone(), &format!("/instances/NO_NAME{rest}")).await);
    }
    assert_eq!(alice.get(&format!("/instances/{name}")).await.json()["state"], "running");
    admin.get(&format!("/instances/{name}")).await.expect(200);
    app.finish().await;
}
