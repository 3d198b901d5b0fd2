//! `GET /activity/`: the activity log, for administrators.

use launcher_testkit::{ADMIN, ALICE, BOB, Client, TestApp, Users};
use serde_json::{Value, json};

async fn entries(admin: &Client, query: &str) -> Vec<Value> {
    admin.get(&format!("/activity/{query}")).await.expect(200).json().as_array().unwrap().clone()
}

fn told(entries: &[Value]) -> Vec<(&str, &str)> {
    let text = |value: &'_ Value| value.as_str().map(str::to_owned).unwrap_or_default();
    let told = entries.iter().map(|entry| (entry["action"].as_str().unwrap(), entry["subject"].as_str().unwrap()));
    assert!(entries.iter().all(|entry| text(&entry["at"]).ends_with('Z') && entry["activity_id"].as_i64() > Some(0)));
    told.collect()
}

#[tokio::test]
async fn each_change_has_one_activity_entry() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let extended = alice.post(&format!("/instances/{name}/extend")).await.expect(200).json();
    for _ in 0..2 {
        admin.delete(&format!("/instances/{name}")).await.expect(202);
        admin.delete(&format!("/templates/{template}")).await.expect(204);
    }
    let entries = entries(&admin, "").await;
    let entry = |place: usize, actor: &str, action: &str, detail: Value| {
        let entry = &entries[place];
        let (subject, owner) =
            if action.starts_with("template-") { (&template, Value::Null) } else { (&name, json!(ALICE)) };
        let expected = json!({
            "activity_id": entry["activity_id"], "at": entry["at"], "actor_email": actor, "action": action,
            "subject": subject, "subject_name": entries[4]["subject_name"], "owner_email": owner, "detail": detail,
        });
        assert_eq!(entry, &expected);
    };
    entry(0, ADMIN, "template-archived", Value::Null);
    entry(1, ADMIN, "ended", json!("admin"));
    entry(2, ALICE, "extended", extended["expires_at"].clone());
    entry(3, ALICE, "launched", Value::Null);
    entry(4, ADMIN, "template-created", Value::Null);
    assert_eq!(entries.len(), 5, "a repeated request adds no entry");
    app.finish().await;
}

#[tokio::test]
async fn repeated_launch_has_one_activity_entry_and_expiry_entry_has_no_actor() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let launch = async || {
        let request = alice.request(http::Method::POST, &format!("/api/v1/templates/{template}/launch"));
        launcher_testkit::Reply::of(request.header("idempotency-key", "key-1")).await.json()
    };
    let name = launch().await["k8s_name"].as_str().unwrap().to_owned();
    assert_eq!(launch().await["k8s_name"], name.as_str());
    app.reaches(&alice, &name, "running").await;
    app.fleet.expire(&name);
    app.reaches(&alice, &name, "terminated").await;
    let entries = entries(&admin, &format!("?subject={name}")).await;
    assert_eq!(told(&entries), [("ended", name.as_str()), ("launched", &name)]);
    assert_eq!((&entries[0]["actor_email"], &entries[0]["detail"]), (&Value::Null, &json!("expired")));
    app.finish().await;
}

#[tokio::test]
async fn activity_list_filters_by_person_and_subject_and_is_paged() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let hers = app.launched(&alice, &template, "running").await;
    let his = app.launched(&bob, &template, "running").await;
    admin.delete(&format!("/instances/{his}")).await.expect(202);
    let (hers, his, template) = (hers.as_str(), his.as_str(), template.as_str());
    assert_eq!(told(&entries(&admin, &format!("?person={ALICE}")).await), [("launched", hers)]);
    assert_eq!(
        told(&entries(&admin, &format!("?person={}", BOB.to_uppercase())).await),
        [("ended", his), ("launched", his)]
    );
    let of_admin = entries(&admin, &format!("?person={ADMIN}")).await;
    assert_eq!(told(&of_admin), [("ended", his), ("template-created", template)]);
    assert_eq!(
        told(&entries(&admin, &format!("?subject={}", template.to_uppercase())).await),
        [("template-created", template)]
    );

    let page = admin.get(&format!("/activity?person={BOB}&limit=1")).await.expect(200);
    let next = page.header("link").strip_prefix("</api/v1/activity/").unwrap().strip_suffix(">; rel=\"next\"").unwrap();
    assert!(next.starts_with("?person=bob%40example.org&limit=1&cursor="), "{next}");
    assert_eq!(told(&entries(&admin, next).await), [("launched", his)]);
    assert_eq!(admin.get(&format!("/activity/{next}")).await.header("link"), "");
    app.finish().await;
}

#[tokio::test]
async fn activity_requires_admin_and_valid_parameters() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    for query in ["", "?person=alice%40example.org", "?limit=0"] {
        assert_eq!(alice.get(&format!("/activity/{query}")).await.expect(403).code(), "admin-only");
    }
    for (query, pointer) in [
        ("person=alice", "/person"),
        ("subject=", "/subject"),
        ("subject=Jupyter", "/subject"),
        ("subject=a%0A", "/subject"),
        ("limit=501", "/limit"),
        ("cursor=1", "/cursor"),
        ("cursor=ffffffffffffffff", "/cursor"),
        ("cursor=00000000000000000000000000000001", "/cursor"),
        ("owner_email=alice%40example.org", "/owner_email"),
    ] {
        let reply = admin.get(&format!("/activity/?{query}")).await.expect(422);
        assert_eq!(reply.code(), "invalid-parameters");
        assert_eq!(reply.json()["errors"][0]["pointer"], pointer, "{query}");
    }
    assert_eq!(entries(&admin, "?cursor=7fffffffffffffff").await, Vec::<Value>::new());
    app.finish().await;
}
