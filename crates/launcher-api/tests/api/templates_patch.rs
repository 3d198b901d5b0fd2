//! Changing fields of a template, and sending a template back as it was read.

use http::Method;
use launcher_testkit::{Client, Reply, TestApp, Users};
use serde_json::{Value, json};

const MERGE_PATCH: &str = "application/merge-patch+json";

async fn patch(admin: &Client, path: &str, media_type: &str, body: &str) -> Reply {
    let request = admin.request(Method::PATCH, &admin.api(path)).header("content-type", media_type);
    Reply::of(request.body(body.to_owned())).await
}

async fn created(admin: &Client) -> (String, Value) {
    let body = json!({
        "name": "Statistics", "app_type": "custom", "image": "example.org/a", "port": 9000,
        "env": { "COURSE": "101", "WEEK": "1" }, "resources": { "memory_limit": "4Gi" }, "lifetime_seconds": 600,
    });
    let template = admin.post_json("/templates/", &body).await.expect(201).json();
    (format!("/templates/{}", template["template_id"].as_str().unwrap()), template)
}

#[tokio::test]
async fn patch_changes_only_its_fields_and_null_restores_defaults() {
    let Users { app, admin, .. } = TestApp::start().await;
    let (path, before) = created(&admin).await;
    let body = r#"{"name": "Second", "env": {"WEEK": null, "DAY": "2"}, "resources": {"memory_limit": null},
        "lifetime_seconds": null}"#;
    let after = patch(&admin, &path, MERGE_PATCH, body).await.expect(200);
    assert_eq!(after.header("etag"), "\"2\"");
    let mut expected = before;
    let changed = after.json();
    expected["name"] = json!("Second");
    expected["env"] = json!({ "COURSE": "101", "DAY": "2" });
    expected["resources"]["memory_limit"] = json!("2Gi");
    expected["lifetime_seconds"] = json!(7200);
    expected["version"] = json!(2);
    expected["updated_at"] = changed["updated_at"].clone();
    assert_eq!(changed, expected);
    assert_eq!(admin.get(&path).await.expect(200).json(), expected);
    app.finish().await;
}

#[tokio::test]
async fn invalid_patch_is_refused_with_the_place_of_its_error() {
    let Users { app, admin, .. } = TestApp::start().await;
    let (path, before) = created(&admin).await;
    for (body, pointer) in [
        (r#"{"memroy": "1Gi"}"#, "/memroy"),
        (r#"{"memroy": null}"#, "/memroy"),
        (r#"{"resources": {"gpu": null}}"#, "/resources/gpu"),
        (r#"{"resources": []}"#, "/resources"),
        (r#"{"name": null}"#, "/name"),
        (r#"{"port": "x"}"#, "/port"),
        (r#"{"port": 8080}"#, "/port"),
        (r#"{"version": 7}"#, "/version"),
        (r#"["name"]"#, ""),
    ] {
        let refused = patch(&admin, &path, MERGE_PATCH, body).await.expect(422);
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer, "{body}: {}", refused.text());
    }
    patch(&admin, &path, MERGE_PATCH, "{").await.expect(400);
    patch(&admin, &path, "text/plain", "{}").await.expect(415);
    patch(&admin, "/templates/00000000-0000-0000-0000-000000000000", MERGE_PATCH, "{}").await.expect(404);
    assert_eq!(admin.get(&path).await.expect(200).json(), before, "a refused patch changes nothing");
    app.finish().await;
}

#[tokio::test]
async fn patches_cannot_build_a_template_larger_than_a_body() {
    let Users { app, admin, .. } = TestApp::start().await;
    let (path, _) = created(&admin).await;
    let part = |number: usize| json!({ "env": { format!("PART_{number}"): "x".repeat(30_000) } }).to_string();
    for number in 0..8 {
        patch(&admin, &path, MERGE_PATCH, &part(number)).await.expect(200);
    }
    let refused = patch(&admin, &path, MERGE_PATCH, &part(8)).await.expect(413);
    assert_eq!(refused.code(), "body-too-large");
    let template = admin.get(&path).await.expect(200).json();
    admin.put_json(&path, &template).await.expect(200);
    app.finish().await;
}

#[tokio::test]
async fn patch_with_outdated_if_match_is_refused() {
    let Users { app, admin, .. } = TestApp::start().await;
    let (path, _) = created(&admin).await;
    patch(&admin, &path, "application/json", r#"{"name": "Second"}"#).await.expect(200);
    let request = admin.request(Method::PATCH, &admin.api(&path)).header("if-match", "\"1\"");
    let refused = Reply::of(request.json(&json!({ "name": "Third" }))).await.expect(412);
    assert_eq!(refused.code(), "version-mismatch");
    app.finish().await;
}

#[tokio::test]
async fn simultaneous_patches_of_two_fields_both_apply() {
    let Users { app, admin, .. } = TestApp::start().await;
    let (path, _) = created(&admin).await;
    for round in 0..5 {
        let (name, description) = (format!(r#"{{"name": "N{round}"}}"#), format!(r#"{{"description": "D{round}"}}"#));
        let both =
            tokio::join!(patch(&admin, &path, MERGE_PATCH, &name), patch(&admin, &path, MERGE_PATCH, &description));
        both.0.expect(200);
        both.1.expect(200);
        let now = admin.get(&path).await.expect(200).json();
        assert_eq!((&now["name"], &now["description"]), (&json!(format!("N{round}")), &json!(format!("D{round}"))));
    }
    app.finish().await;
}

#[tokio::test]
async fn put_accepts_a_template_as_it_was_read() {
    let Users { app, admin, .. } = TestApp::start().await;
    let (path, mut template) = created(&admin).await;
    assert_eq!(admin.put_json(&path, &template).await.expect(200).json(), template, "nothing has changed");
    template["name"] = json!("Second");
    let changed = admin.put_json(&path, &template).await.expect(200).json();
    assert_eq!((&changed["name"], &changed["version"]), (&json!("Second"), &json!(2)));
    let outdated = admin.put_json(&path, &template).await.expect(422).json();
    let pointers: Vec<_> =
        outdated["errors"].as_array().unwrap().iter().map(|error| error["pointer"].clone()).collect();
    assert_eq!(pointers, ["/version", "/updated_at"], "an outdated template overwrites nothing");
    let forged = json!({ "name": "X", "app_type": "notebook", "image": "x", "created_by": "mallory@example.org" });
    assert_eq!(admin.put_json(&path, &forged).await.expect(422).json()["errors"][0]["pointer"], "/created_by");
    assert_eq!(admin.get(&path).await.expect(200).json(), changed);
    app.finish().await;
}

#[tokio::test]
async fn patch_sets_and_resets_the_listing() {
    let Users { app, admin, .. } = TestApp::start().await;
    let (path, before) = created(&admin).await;
    let body = r#"{"tags": [" Maps "], "icon": "globe", "color": "teal", "unlisted": true, "slug": "maps"}"#;
    let after = patch(&admin, &path, MERGE_PATCH, body).await.expect(200).json();
    for (field, value) in [
        ("tags", json!(["Maps"])),
        ("icon", json!("globe")),
        ("color", json!("teal")),
        ("unlisted", json!(true)),
        ("slug", json!("maps")),
    ] {
        assert_eq!(after[field], value, "{field}");
    }
    assert_eq!(admin.put_json(&path, &after).await.expect(200).json(), after, "nothing has changed");
    let changes = admin.get("/activity/").await.expect(200).json();
    assert_eq!(changes[0]["detail"], "tags, icon, color, unlisted, slug");

    let body = r#"{"tags": null, "icon": null, "color": null, "unlisted": null, "slug": null}"#;
    let reset = patch(&admin, &path, MERGE_PATCH, body).await.expect(200).json();
    for field in ["tags", "icon", "color", "unlisted", "slug"] {
        assert_eq!(reset[field], before[field], "{field}");
    }
    app.finish().await;
}

#[tokio::test]
async fn invalid_listing_is_refused_with_all_errors() {
    let Users { app, admin, .. } = TestApp::start().await;
    let (path, _) = created(&admin).await;
    let body = r#"{"tags": ["a", "A", ""], "slug": "-"}"#;
    let refused = patch(&admin, &path, MERGE_PATCH, body).await.expect(422).json();
    let errors = refused["errors"].as_array().unwrap();
    let pointers: Vec<_> = errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect();
    assert_eq!(pointers, ["/tags/1", "/tags/2", "/slug"]);
    let icon = patch(&admin, &path, MERGE_PATCH, r#"{"icon": "https://example.org/a.png"}"#).await.expect(422).json();
    assert_eq!(icon["errors"][0]["pointer"], "/icon");

    let other = json!({ "name": "Other", "app_type": "notebook", "image": "i", "slug": "maps" });
    admin.post_json("/templates/", &other).await.expect(201);
    for refused in
        [patch(&admin, &path, MERGE_PATCH, r#"{"slug": "maps"}"#).await, admin.post_json("/templates/", &other).await]
    {
        let errors = refused.expect(422).json()["errors"].clone();
        let detail = "another template has the slug maps; choose another one";
        assert_eq!(errors, json!([{ "pointer": "/slug", "detail": detail }]));
    }
    app.finish().await;
}
