//! `POST /templates/{template_id}/extend`.

use launcher_testkit::{Client, Options, TestApp, Users};
use serde_json::{Value, json};

/// Returns a time that is this many seconds after the expiry of an instance.
async fn after_expiry(person: &Client, name: &str, seconds: i64) -> jiff::Timestamp {
    let instance = person.get(&format!("/instances/{name}")).await.expect(200).json();
    let expiry: jiff::Timestamp = instance["expires_at"].as_str().unwrap().parse().unwrap();
    expiry + jiff::SignedDuration::from_secs(seconds)
}

#[tokio::test]
async fn all_running_instances_of_a_template_are_extended_until_a_time() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let (template, other) = (app.template(&admin).await, app.template(&admin).await);
    let hers = app.launched(&alice, &template, "running").await;
    let his = app.launched(&bob, &template, "running").await;
    let others = app.launched(&alice, &other, "running").await;
    let before = alice.get(&format!("/instances/{others}")).await.json()["expires_at"].clone();
    let extend = format!("/templates/{template}/extend");
    let until = after_expiry(&bob, &his, 1800).await;
    let result = |name: &str, owner: &str, outcome: &str, denied_reason: Option<&str>, expires_at: &Value| {
        json!({
            "k8s_name": name, "owner_email": owner, "outcome": outcome, "denied_reason": denied_reason,
            "expires_at": expires_at,
        })
    };
    let both = |outcome: &str, denied_reason: Option<&str>, ends: [&Value; 2]| {
        json!([
            result(&his, "bob@example.org", outcome, denied_reason, ends[0]),
            result(&hers, "alice@example.org", outcome, denied_reason, ends[1]),
        ])
    };

    let body = json!({ "until": until.to_string() });
    let end = json!(format!("{until:.3}"));
    assert_eq!(admin.post_json(&extend, &body).await.expect(200).json(), both("extended", None, [&end, &end]));
    assert_eq!(admin.post_json(&extend, &body).await.expect(200).json(), both("unchanged", None, [&end, &end]));
    let past = json!({ "until": "1970-01-01T00:00:00Z" });
    assert_eq!(admin.post_json(&extend, &past).await.expect(200).json(), both("unchanged", None, [&end, &end]));
    for (person, name) in [(&alice, &hers), (&bob, &his)] {
        assert_eq!(person.get(&format!("/instances/{name}")).await.json()["expires_at"], end);
    }
    assert_eq!(alice.get(&format!("/instances/{others}")).await.json()["expires_at"], before, "another template");

    let latest = async |person: &Client, name: &str| {
        person.get(&format!("/instances/{name}")).await.json()["extension"]["latest_expires_at"].clone()
    };
    let latest = [latest(&bob, &his).await, latest(&alice, &hers).await];
    let far = json!({ "until": "2100-01-01T00:00:00+01:00" });
    let shortened = admin.post_json(&extend, &far).await.expect(200).json();
    assert_eq!(shortened, both("shortened", None, [&latest[0], &latest[1]]));
    let refused = admin.post_json(&extend, &far).await.expect(200).json();
    assert_eq!(refused, both("refused", Some("lifetime-limit-reached"), [&latest[0], &latest[1]]));
    app.finish().await;
}

#[tokio::test]
async fn extension_of_a_template_is_for_admins_and_needs_a_time() {
    let Users { app, alice, admin, .. } =
        TestApp::start_with(Options { runs_at_once: false, ..Options::default() }).await;
    let template = app.template(&admin).await;
    let extend = format!("/templates/{template}/extend");
    let body = json!({ "until": "2100-01-01T00:00:00Z" });
    app.launched(&alice, &template, "starting").await;
    assert_eq!(admin.post_json(&extend, &body).await.expect(200).json(), json!([]), "no instance runs");
    for path in [&extend, "/templates/01890000-0000-7000-8000-000000000000/extend"] {
        assert_eq!(alice.post_json(path, &body).await.expect(403).code(), "admin-only", "{path}");
        assert_eq!(alice.post_json(path, &json!({})).await.expect(403).code(), "admin-only", "{path}");
    }
    for missing in ["01890000-0000-7000-8000-000000000000", "x"] {
        let reply = admin.post_json(&format!("/templates/{missing}/extend"), &body).await.expect(404);
        assert_eq!(reply.code(), "not-found", "{missing}");
    }
    for (body, pointer) in [
        (json!({}), "/until"),
        (json!({ "until": null }), "/until"),
        (json!({ "until": "tomorrow" }), "/until"),
        (json!({ "until": "2100-01-01T00:00:00" }), "/until"),
        (json!({ "until": "2100-01-01T00:00:00Z", "seconds": 1 }), "/seconds"),
        (json!(["2100-01-01T00:00:00Z"]), ""),
        (json!(null), ""),
    ] {
        let reply = admin.post_json(&extend, &body).await.expect(422);
        assert_eq!(reply.code(), "invalid-fields", "{body}");
        assert_eq!(reply.json()["errors"][0]["pointer"], pointer, "{body}");
    }
    assert_eq!(admin.post(&extend).await.expect(415).code(), "unsupported-media-type");
    let large = json!({ "until": "2100-01-01T00:00:00Z".to_owned() + &" ".repeat(1024) });
    assert_eq!(admin.post_json(&extend, &large).await.expect(413).code(), "body-too-large");
    app.finish().await;
}

#[tokio::test]
async fn admin_extends_all_instances_beyond_their_maximum() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let until = after_expiry(&alice, &name, 7200).await;
    let extend = format!("/templates/{template}/extend");
    let body = json!({ "until": until.to_string(), "beyond_maximum": true });
    let results = admin.post_json(&extend, &body).await.expect(200).json();
    assert_eq!(
        (&results[0]["outcome"], &results[0]["expires_at"]),
        (&json!("extended"), &json!(format!("{until:.3}")))
    );
    assert_eq!(admin.post_json(&extend, &body).await.expect(200).json()[0]["outcome"], "unchanged");
    assert_eq!(alice.post_json(&extend, &body).await.expect(403).code(), "admin-only");
    app.finish().await;
}

#[tokio::test]
async fn raised_maximum_is_applied_to_current_instances() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let extend = format!("/instances/{name}/extend");
    alice.post(&extend).await.expect(200);
    alice.post(&extend).await.expect(409);
    let apply = format!("/templates/{template}/apply-maximum");
    assert_eq!(admin.post(&apply).await.expect(200).json(), json!([]));
    let patch = admin.request(http::Method::PATCH, &format!("/api/v1/templates/{template}"));
    assert_eq!(patch.json(&json!({ "max_lifetime_seconds": 14_400 })).send().await.unwrap().status(), 200);
    assert_eq!(alice.post(&apply).await.expect(403).code(), "admin-only");
    let changed = admin.post(&apply).await.expect(200).json();
    let expected = json!([{
        "k8s_name": name, "owner_email": "alice@example.org", "max_lifetime_seconds": 14_400,
    }]);
    assert_eq!(changed, expected);
    assert_eq!(admin.post(&apply).await.expect(200).json(), json!([]), "once");
    alice.post(&extend).await.expect(200);
    assert_eq!(alice.post(&extend).await.expect(409).code(), "lifetime-limit-reached");
    app.finish().await;
}
