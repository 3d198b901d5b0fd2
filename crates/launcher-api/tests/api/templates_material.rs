//! The course material of templates.

use http::Method;
use launcher_testkit::{Client, Reply, TestApp};
use serde_json::{Value, json};

fn with(material: &Value) -> Value {
    json!({ "name": "Course", "app_type": "notebook", "image": "i", "material": material })
}

fn repository() -> Value {
    json!({ "kind": "git", "url": "https://git.example.org/101.git?token=secret", "target": "stats" })
}

async fn patch(admin: &Client, path: &str, body: &Value) -> Reply {
    Reply::of(admin.request(Method::PATCH, &admin.api(path)).json(body)).await
}

#[tokio::test]
async fn material_is_visible_for_admins_only_and_null_removes_it() {
    let (app, _, alice, _, admin) = TestApp::start().await;
    let body = with(&json!({ "sources": [repository()] }));
    let created = admin.post_json("/templates/", &body).await.expect(201).json();
    assert_eq!(
        created["material"],
        json!({
            "directory": "/home/jovyan",
            "sources": [{
                "kind": "git", "url": "https://git.example.org/101.git?token=secret", "ref": null, "sha256": null,
                "folder": null, "target": "stats",
            }],
            "allowed_repositories": [],
        })
    );
    let path = format!("/templates/{}", created["template_id"].as_str().unwrap());
    assert_eq!(alice.get(&path).await.json()["material"], Value::Null, "an address may contain a key");
    let changed = patch(&admin, &path, &json!({ "material": { "directory": "/work" } })).await.expect(200).json();
    assert_eq!(changed["material"]["directory"], "/work");
    assert_eq!(changed["material"]["sources"], created["material"]["sources"]);
    let removed = patch(&admin, &path, &json!({ "material": null })).await.expect(200).json();
    assert_eq!(removed["material"], Value::Null);
    app.finish().await;
}

#[tokio::test]
async fn wrong_material_is_refused_with_the_paths_of_all_errors() {
    let (app, _, _, _, admin) = TestApp::start().await;
    for (material, errors) in [
        (json!({}), json!(["/material/sources"])),
        (
            json!({ "directory": "/etc", "sources": [{ "kind": "archive", "url": "ftp://a/b", "target": ".a" }] }),
            json!([
                "/material/sources/0/url",
                "/material/sources/0/sha256",
                "/material/sources/0/target",
                "/material/directory",
            ]),
        ),
        (json!({ "allowed_repositories": ["http://a.example/"] }), json!(["/material/allowed_repositories/0"])),
        (
            json!({ "sources": [{ "kind": "svn", "url": "https://a/", "target": "a" }] }),
            json!(["/material/sources/0/kind"]),
        ),
        (json!({ "hooks": [] }), json!(["/material/hooks"])),
    ] {
        let problem = admin.post_json("/templates/", &with(&material)).await.expect(422).json();
        let pointers: Vec<_> =
            problem["errors"].as_array().unwrap().iter().map(|error| error["pointer"].clone()).collect();
        assert_eq!(json!(pointers), errors, "{material}");
    }
    app.finish().await;
}
