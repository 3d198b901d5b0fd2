//! The course material of templates.

use http::Method;
use launcher_service::Limits;
use launcher_testkit::{Client, Options, Reply, TestApp, Users, eventually};
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
async fn third_check_at_the_same_time_is_refused() {
    let Users { app, admin, .. } = TestApp::start().await;
    app.fleet.hold_checks();
    let git = json!({ "kind": "git", "url": "https://git.example.org/101.git" });
    let checks: Vec<_> = (0..2)
        .map(|_| {
            let (admin, git) = (admin.clone(), git.clone());
            tokio::spawn(async move { admin.post_json("/templates/check-material", &git).await })
        })
        .collect();
    eventually(async || (app.fleet.checks() == 2).then_some(())).await;
    let refused = admin.post_json("/templates/check-material", &git).await.expect(429);
    assert_eq!(refused.code(), "too-many-checks");
    assert_eq!(refused.header("retry-after"), "30");
    checks.into_iter().for_each(|check| check.abort());
    app.finish().await;
}

#[tokio::test]
async fn limit_of_zero_permits_no_check() {
    let limits = Limits { max_material_checks: 0, ..Limits::default() };
    let Users { app, admin, .. } = TestApp::start_with(Options { limits, ..Options::default() }).await;
    app.fleet.check_sources();
    let git = json!({ "kind": "git", "url": "https://git.example.org/101.git" });
    let refused = admin.post_json("/templates/check-material", &git).await.expect(409);
    assert_eq!(refused.code(), "fleet-without-checks");
    assert_eq!(app.fleet.checks(), 0);
    app.finish().await;
}

#[tokio::test]
async fn check_reports_what_a_source_has() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let git = json!({ "kind": "git", "url": "https://git.example.org/101.git" });
    let check = "/templates/check-material";
    assert_eq!(alice.post_json(check, &git).await.expect(403).code(), "admin-only");
    assert_eq!(admin.post_json(check, &git).await.expect(409).code(), "fleet-without-checks");
    app.fleet.check_sources();
    let found = admin.post_json(check, &git).await.expect(200).json();
    let version = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!(
        found,
        json!({ "found": true, "ref": "main", "version": version, "files": 12, "bytes": 34567, "message": null })
    );
    let missing = json!({ "kind": "archive", "url": "https://example.org/missing.zip" });
    let missing = admin.post_json(check, &missing).await.expect(200).json();
    assert_eq!((&missing["found"], &missing["version"]), (&json!(false), &json!(null)), "{missing}");
    assert_eq!(missing["message"], "The server does not have the material.");
    for (body, pointers) in [
        (json!({ "kind": "svn", "url": "ftp://a" }), json!(["/kind", "/url"])),
        (json!({ "kind": "git", "url": "https://a.example/b", "secret": "statistics" }), json!(["/secret"])),
        (json!({ "kind": "archive", "url": "https://a.example/b", "sha256": "0", "x": 1 }), json!(["/x", "/sha256"])),
    ] {
        let errors = admin.post_json(check, &body).await.expect(422).json()["errors"].clone();
        let found: Vec<_> = errors.as_array().unwrap().iter().map(|error| error["pointer"].clone()).collect();
        assert_eq!(json!(found), pointers, "{errors}");
    }
    app.finish().await;
}

#[tokio::test]
async fn material_is_visible_for_admins_only_and_null_removes_it() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let body = with(&json!({ "sources": [repository()] }));
    let created = admin.post_json("/templates/", &body).await.expect(201).json();
    assert_eq!(
        created["material"],
        json!({
            "directory": "/home/jovyan",
            "sources": [{
                "kind": "git", "url": "https://git.example.org/101.git?token=secret", "ref": null, "sha256": null,
                "folder": null, "secret": null, "target": "stats",
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
    let Users { app, admin, .. } = TestApp::start().await;
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
        (
            json!({ "sources": [{ "kind": "git", "url": "http://a.example/", "secret": "A b", "target": "a" }] }),
            json!(["/material/sources/0/url", "/material/sources/0/secret"]),
        ),
        (json!({ "allowed_repositories": ["http://a.example/"] }), json!(["/material/allowed_repositories/0"])),
        (
            json!({ "sources": [{ "kind": "svn", "url": "https://a/", "target": "a" }] }),
            json!(["/material/sources/0/kind"]),
        ),
        (json!({ "hooks": [] }), json!(["/material/hooks", "/material/sources"])),
        (json!([null, []]), json!(["/material"])),
    ] {
        let problem = admin.post_json("/templates/", &with(&material)).await.expect(422).json();
        let pointers: Vec<_> =
            problem["errors"].as_array().unwrap().iter().map(|error| error["pointer"].clone()).collect();
        assert_eq!(json!(pointers), errors, "{material}");
    }
    app.finish().await;
}

#[tokio::test]
async fn launch_adds_a_repository_that_the_template_allows() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let body = with(&json!({ "sources": [repository()], "allowed_repositories": ["https://git.example.org/team/"] }));
    let created = admin.post_json("/templates/", &body).await.expect(201).json();
    let path = format!("/templates/{}/launch", created["template_id"].as_str().unwrap());
    let launch = async |url: &str| {
        alice.post_json(&path, &json!({ "repository": { "url": url, "ref": "v1", "folder": "week1" } })).await
    };
    let refused = launch("https://git.example.org/others/ex-1.git").await.expect(422).json();
    assert_eq!(refused["errors"][0]["pointer"], "/repository/url");
    assert!(refused["errors"][0]["detail"].as_str().unwrap().contains("does not allow"), "{refused}");

    let list = json!({ "repository": ["https://git.example.org/team/ex-1.git", null, null] });
    let refused = alice.post_json(&path, &list).await.expect(422).json();
    assert_eq!(refused["errors"][0]["pointer"], "/repository");

    let launched = launch("https://git.example.org/team/ex-1.git").await.expect(201).json();
    let name = launched["k8s_name"].as_str().unwrap();
    let workshop = launcher_testkit::eventually(async || app.fleet.workshop(name)).await;
    let sources = workshop.spec.material.unwrap().sources;
    let targets: Vec<_> = sources.iter().map(|source| source.target.as_str()).collect();
    assert_eq!(targets, ["stats", "ex-1"]);
    assert_eq!((sources[1].reference.as_deref(), sources[1].folder.as_deref()), (Some("v1"), Some("week1")));
    let long = format!("https://git.example.org/team/{}/ex-2", "a".repeat(2000));
    assert_eq!(long.len(), 2034);
    launch(&long).await.expect(201);
    let stored = admin.get(&format!("/templates/{}", created["template_id"].as_str().unwrap())).await.json();
    assert_eq!(stored["material"], created["material"], "the template does not change");
    app.finish().await;
}

#[tokio::test]
async fn secret_of_a_source_is_a_name_in_the_workshop_and_no_launch_can_name_one() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let mut private = repository();
    private["secret"] = json!("statistics");
    let body = with(&json!({ "sources": [private], "allowed_repositories": ["https://git.example.org/"] }));
    let created = admin.post_json("/templates/", &body).await.expect(201).json();
    assert_eq!(created["material"]["sources"][0]["secret"], "statistics");
    let path = format!("/templates/{}/launch", created["template_id"].as_str().unwrap());
    let repository = json!({ "url": "https://git.example.org/a", "secret": "statistics" });
    let refused = alice.post_json(&path, &json!({ "repository": repository })).await.expect(422).json();
    assert_eq!(refused["errors"][0]["pointer"], "/repository/secret");
    let repository = json!({ "url": "https://git.example.org/a" });
    let launched = alice.post_json(&path, &json!({ "repository": repository })).await.expect(201).json();
    let name = launched["k8s_name"].as_str().unwrap();
    let workshop = launcher_testkit::eventually(async || app.fleet.workshop(name)).await;
    let secrets: Vec<_> = workshop.spec.material.unwrap().sources.into_iter().map(|source| source.secret).collect();
    assert_eq!(secrets, [Some("statistics".to_owned()), None]);
    app.finish().await;
}

#[tokio::test]
async fn errors_of_the_repository_and_of_the_parameters_are_reported_together() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let mut body = with(&json!({ "allowed_repositories": ["https://git.example.org/"] }));
    body["parameters"] = json!([{ "name": "SIZE", "label": "Size", "kind": "number", "max": 100 }]);
    let created = admin.post_json("/templates/", &body).await.expect(201).json();
    let path = format!("/templates/{}/launch", created["template_id"].as_str().unwrap());
    let launch = async |url: &str, size: &str| {
        alice.post_json(&path, &json!({ "repository": { "url": url }, "parameters": { "SIZE": size } })).await
    };
    let refused = launch("https://evil.example/a", "500").await.expect(422).json();
    let pointers: Vec<_> = refused["errors"].as_array().unwrap().iter().map(|error| &error["pointer"]).collect();
    assert_eq!(json!(pointers), json!(["/repository/url", "/parameters/SIZE"]));
    let launched = launch("https://git.example.org/a", "50").await.expect(201).json();
    assert_eq!(launched["parameters"], json!({ "SIZE": "50" }));
    app.finish().await;
}

#[tokio::test]
async fn idempotency_key_belongs_to_the_repository() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let body = with(&json!({ "allowed_repositories": ["https://git.example.org/"] }));
    let created = admin.post_json("/templates/", &body).await.expect(201).json();
    let path = format!("/templates/{}/launch", created["template_id"].as_str().unwrap());
    let launch = async |url: &str| {
        let body = json!({ "repository": { "url": url } });
        let request = alice.request(Method::POST, &alice.api(&path)).header("idempotency-key", "k");
        Reply::of(request.json(&body)).await
    };
    let first = launch("https://git.example.org/a").await.expect(201).json();
    assert_eq!(launch("https://git.example.org/a").await.expect(200).json()["k8s_name"], first["k8s_name"]);
    let reused = launch("https://git.example.org/b").await;
    assert_eq!(reused.json()["code"], "idempotency-key-reused");
    app.finish().await;
}
