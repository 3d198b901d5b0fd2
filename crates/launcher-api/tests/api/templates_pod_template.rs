//! Pod templates of templates: who sees them, and what the service refuses.

use http::Method;
use launcher_testkit::{Client, Reply, TestApp, Users};
use serde_json::{Value, json};

fn with(pod_template: &Value) -> Value {
    json!({ "name": "GPU", "app_type": "notebook", "image": "i", "pod_template": pod_template })
}

fn gpu() -> Value {
    json!({ "spec": {
        "containers": [{ "name": "app", "resources": { "limits": { "nvidia.com/gpu": 1 } } }],
        "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": "course" } }],
    } })
}

#[tokio::test]
async fn pod_template_is_visible_and_writable_for_admins_only() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let created = admin.post_json("/templates/", &with(&gpu())).await.expect(201).json();
    assert_eq!(created["pod_template"], gpu());
    let path = format!("/templates/{}", created["template_id"].as_str().unwrap());
    assert_eq!(admin.get(&path).await.json()["pod_template"], gpu());
    assert_eq!(alice.get(&path).await.json()["pod_template"], Value::Null);
    let listed = alice.get("/templates/").await.json();
    assert!(!listed.to_string().contains("nvidia"), "{listed}");
    alice.post_json("/templates/", &with(&gpu())).await.expect(403);
    alice.put_json(&path, &with(&json!(null))).await.expect(403);
    let name = app.launched(&alice, created["template_id"].as_str().unwrap(), "running").await;
    let instance = alice.get(&format!("/instances/{name}")).await.json();
    assert!(!instance.to_string().contains("nvidia"), "{instance}");
    app.finish().await;
}

#[tokio::test]
async fn wrong_pod_template_is_refused_with_the_paths_of_all_errors() {
    let Users { app, admin, .. } = TestApp::start().await;
    for (pod_template, errors) in [
        (json!({ "spec": { "hostNetwork": true } }), json!(["/pod_template/spec/hostNetwork"])),
        (
            json!({ "spec": { "volumes": [{ "name": "a", "hostPath": { "path": "/" } }], "restartPolicy": "Never" } }),
            json!(["/pod_template/spec/restartPolicy", "/pod_template/spec/volumes/0/hostPath"]),
        ),
        (json!({ "spec": { "tolerations": [{ "key": "gpu" }] } }), json!(["/pod_template/spec/tolerations/0"])),
        (
            json!({ "spec": { "volumes": [{ "name": "a", "secret": { "secretName": "b" } }] } }),
            json!(["/pod_template/spec/volumes/0/secret"]),
        ),
        (json!("spec"), json!(["/pod_template"])),
        (json!({ "spec": { "nodeSelector": { "a": "x".repeat(40_000) } } }), json!(["/pod_template"])),
    ] {
        let problem = admin.post_json("/templates/", &with(&pod_template)).await.expect(422).json();
        let pointers: Vec<_> = problem["errors"].as_array().unwrap().iter().map(|error| &error["pointer"]).collect();
        assert_eq!(json!(pointers), errors, "{problem}");
    }
    let mut body = with(&json!({ "spec": { "hostPID": true } }));
    body["name"] = "".into();
    let problem = admin.post_json("/templates/", &body).await.expect(422).json();
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2, "{problem}");
    app.finish().await;
}

async fn patch(admin: &Client, path: &str, body: &Value) -> Reply {
    Reply::of(admin.request(Method::PATCH, &admin.api(path)).json(body)).await
}

#[tokio::test]
async fn patch_merges_the_pod_template_and_null_removes_it() {
    let Users { app, admin, .. } = TestApp::start().await;
    let created = admin.post_json("/templates/", &with(&gpu())).await.expect(201).json();
    let path = format!("/templates/{}", created["template_id"].as_str().unwrap());
    let body = json!({ "pod_template": { "spec": { "nodeSelector": { "disk": "ssd" }, "volumes": null } } });
    let patched = patch(&admin, &path, &body).await.expect(200).json();
    let mut wanted = gpu();
    wanted["spec"]["nodeSelector"] = json!({ "disk": "ssd" });
    wanted["spec"].as_object_mut().unwrap().remove("volumes");
    assert_eq!(patched["pod_template"], wanted);
    let refused = patch(&admin, &path, &json!({ "pod_template": { "spec": { "hostIPC": true } } })).await;
    assert_eq!(refused.expect(422).json()["errors"][0]["pointer"], "/pod_template/spec/hostIPC");
    let patched = patch(&admin, &path, &json!({ "pod_template": null })).await.expect(200).json();
    assert_eq!(patched["pod_template"], Value::Null);
    app.finish().await;
}
