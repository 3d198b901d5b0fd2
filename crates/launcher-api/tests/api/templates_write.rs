//! Creating, replacing and archiving templates.

use launcher_testkit::{TestApp, Users};
use serde_json::{Value, json};

use crate::assert_documented;

/// Returns a template whose texts contain quotation marks, line breaks and braces. No part of the service may interpret
/// them.
fn hostile() -> Value {
    json!({
        "name": "<img src=x onerror=alert(1)> \"T\" {{ x }}",
        "description": "line one\nline \"two\" {{7*7}} ${x} <script>alert(1)</script> \u{1f980}",
        "app_type": "custom",
        "image": "example.org/a/b:c@sha256:0123",
        "port": 1,
        "command": ["sh", "-c", "echo \"$A\"\n{ ; }"],
        "args": ["--x={{.Values}}", "'", ""],
        "env": { "A": "a\"b\\c\n{{d}}", "_B2": "" },
        "resources": { "cpu_request": "0.5", "cpu_limit": "1500m", "memory_request": "1G", "memory_limit": "1Gi" },
        "security_profile": "baseline",
        "pod_template": { "spec": {
            "volumes": [{ "name": "a", "emptyDir": { "sizeLimit": "1Gi" } }],
            "containers": [{ "name": "app", "env": [{ "name": "B", "value": "{{x}}\n\"$(A)\"" }] }],
        } },
        "storage": { "kind": "kept", "size": "1.5Gi", "path": "/a \"b\" {{c}}", "at_expiry": "suspend" },
        "material": {
            "directory": "/a \"b\" {{c}}",
            "sources": [{
                "kind": "git", "url": "https://example.org/$(x)?a='b'&c=;", "ref": "a\"b'<c>", "sha256": null,
                "folder": "a \"b\"/{{c}}", "secret": "0-1", "target": "-_.",
            }],
            "allowed_repositories": ["https://example.org/'a'/$(x)/"],
        },
        "parameters": [
            { "name": "P", "label": "<b>\"P\"</b> {{x}}", "help": "a & b", "kind": "text", "default": "\"'{{x}}<i>",
              "required": false, "choices": [], "min": null, "max": null, "integer": false, "max_length": 1000 },
            { "name": "_Q", "label": "Q", "help": null, "kind": "choice", "default": null, "required": true,
              "choices": ["<a>", "b\"c"], "min": null, "max": null, "integer": false, "max_length": null },
        ],
        "lifetime_seconds": 60,
        "extension_seconds": 61,
        "max_lifetime_seconds": 62,
        "active": false,
        "tags": ["<b>\"tag\"</b>", "ünï code"],
        "icon": "globe",
        "color": "teal",
        "unlisted": true,
        "slug": "0-hostile",
    })
}

#[tokio::test]
async fn template_fields_are_read_back_unchanged() {
    let Users { app, admin, .. } = TestApp::start().await;
    let created = admin.post_json("/templates/", &hostile()).await.expect(201);
    let mut template = created.json();
    let id = template["template_id"].as_str().unwrap().to_owned();
    assert_eq!(created.header("location"), format!("/api/v1/templates/{id}"));
    assert_eq!(created.header("etag"), "\"1\"");
    let read = admin.page(created.header("location")).await.expect(200);
    assert_eq!((read.json(), read.header("etag")), (template.clone(), "\"1\""));
    assert_documented(&template, "WorkshopTemplateResponse");
    for field in ["created_at", "updated_at", "template_id"] {
        assert!(template[field].is_string(), "{field}");
    }
    assert_eq!((&template["created_by"], &template["version"]), (&json!("admin@example.org"), &json!(1)));
    template.as_object_mut().unwrap().retain(|field, _| hostile().get(field).is_some());
    assert_eq!(template, hostile());
    app.finish().await;
}

#[tokio::test]
async fn omitted_template_fields_take_defaults() {
    let Users { app, admin, .. } = TestApp::start().await;
    let body = json!({ "name": "R", "app_type": "rstudio", "image": "rocker/rstudio" });
    let template = admin.post_json("/templates/", &body).await.expect(201).json();
    for (field, value) in [
        ("description", json!("")),
        ("port", json!(8787)),
        ("command", json!([])),
        ("env", json!({})),
        ("security_profile", json!("restricted")),
        ("pod_template", json!(null)),
        ("lifetime_seconds", json!(7200)),
        ("extension_seconds", json!(3600)),
        ("max_lifetime_seconds", json!(28800)),
        ("active", json!(true)),
        ("tags", json!([])),
        ("icon", json!(null)),
        ("color", json!(null)),
        ("unlisted", json!(false)),
        ("slug", json!(null)),
    ] {
        assert_eq!(template[field], value, "{field}");
    }
    let limits = json!({ "cpu_request": "100m", "cpu_limit": "2", "memory_request": "256Mi", "memory_limit": "2Gi" });
    assert_eq!(template["resources"], limits);
    app.finish().await;
}

#[tokio::test]
async fn template_update_replaces_all_fields_and_increments_version() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let created = admin.post_json("/templates/", &hostile()).await.expect(201).json();
    let path = format!("/templates/{}", created["template_id"].as_str().unwrap());
    let body = json!({ "name": "New", "app_type": "notebook", "image": "example.org/new" });
    let replaced = admin.put_json(&path, &body).await.expect(200);
    assert_eq!(replaced.header("etag"), "\"2\"");
    let replaced = replaced.json();
    assert_eq!((&replaced["version"], &replaced["env"], &replaced["port"]), (&json!(2), &json!({}), &json!(8888)));
    assert_eq!(replaced["created_at"], created["created_at"]);
    assert_ne!(replaced["updated_at"], created["updated_at"]);
    assert_eq!(alice.get(&path).await.json(), replaced);
    let again = admin.put_json(&path, &body).await.expect(200);
    assert_eq!(again.header("etag"), "\"2\"", "nothing has changed");
    app.finish().await;
}

#[tokio::test]
async fn template_archive_is_idempotent_and_reversible_and_keeps_workshops() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    let name = app.launched(&alice, &template, "running").await;
    let path = format!("/templates/{template}");
    for _ in 0..2 {
        let archived = admin.delete(&path).await.expect(204);
        assert!(archived.body.is_empty());
    }
    assert_eq!(alice.get(&path).await.json()["version"], 2);
    assert_eq!(alice.get(&format!("/instances/{name}")).await.json()["state"], "running");
    let body = json!({ "name": "Back", "app_type": "notebook", "image": "i", "active": true });
    assert_eq!(admin.put_json(&path, &body).await.expect(200).json()["active"], true);
    app.finish().await;
}

#[tokio::test]
async fn template_write_by_user_is_403_before_validation() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = format!("/templates/{}", app.template(&admin).await);
    for body in [hostile(), json!({}), json!("x")] {
        assert_eq!(alice.post_json("/templates/", &body).await.expect(403).code(), "admin-only");
        for path in [template.as_str(), "/templates/no-uuid", "/templates/01890000-0000-7000-8000-000000000000"] {
            assert_eq!(alice.put_json(path, &body).await.expect(403).code(), "admin-only");
            assert_eq!(alice.delete(path).await.expect(403).code(), "admin-only");
        }
    }
    for path in ["/templates/no-uuid", "/templates/01890000-0000-7000-8000-000000000000"] {
        assert_eq!(admin.put_json(path, &hostile()).await.expect(404).code(), "not-found");
        assert_eq!(admin.delete(path).await.expect(404).code(), "not-found");
    }
    app.finish().await;
}
