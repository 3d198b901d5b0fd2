//! Access decisions: compares `access-matrix.txt` with the running service, route by route, and each problem that an answer
//! names with the OpenAPI document.
//!
//! With UPDATE_ACCESS_MATRIX=1, the test writes the file: review the difference, because each line is a decision.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use launcher_service::Limits;
use launcher_testkit::{Client, Options, Reply, TestApp, Users};
use reqwest::RequestBuilder;
use serde_json::Value;

const MATRIX: &str = include_str!("../../access-matrix.txt");
/// Who sends the request: without a login, without a role, the owner of the instance, who is a student of the class, another
/// student of the class, its assistant, its teacher, the teacher of another class, and an admin without a role.
const COLUMNS: usize = 8;
/// People with a role in each class of the test.
const ROLES: [(&str, &str); 4] = [
    ("alice@example.org", "student"),
    ("student@example.org", "student"),
    ("assistant@example.org", "assistant"),
    ("teacher@example.org", "teacher"),
];

struct Line {
    method: Method,
    path: String,
    statuses: [u16; COLUMNS],
}

/// Returns the matrix with these lines, below the comment at its start.
fn rendered(found: &[Line]) -> String {
    let comment: String = MATRIX.split_inclusive('\n').take_while(|line| line.starts_with('#')).collect();
    let row = |line: &Line| {
        let statuses: String = line.statuses.iter().map(|status| format!("{status}   ")).collect();
        format!("{statuses}{:<6} {}\n", line.method.as_str(), line.path)
    };
    let (api, pages): (Vec<&Line>, Vec<_>) = found.iter().partition(|line| line.path.starts_with("/api/v1"));
    let rows = |lines: Vec<&Line>| lines.into_iter().map(row).collect::<String>();
    format!("{comment}\n{}\n{}", rows(api), rows(pages))
}

/// Returns a value that fits a schema of the OpenAPI document: its example, or an object with the required fields.
fn example(document: &Value, schema: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return example(document, document.pointer(&reference[1..]).unwrap());
    }
    let examples = [&schema["example"], &schema["examples"][0], &schema["enum"][0]];
    if let Some(example) = examples.into_iter().find(|example| !example.is_null()) {
        return example.clone();
    }
    let fields = schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    fields.map(|name| (name.to_owned(), example(document, &schema["properties"][name]))).collect()
}

/// Adds the body that the route requires: of the API as the OpenAPI document describes it, of pages a form.
fn with_body(request: RequestBuilder, document: &Value, line: &Line, target: &Target) -> RequestBuilder {
    if let Some(path) = line.path.strip_prefix("/api/v1") {
        let body = &document["paths"][path][line.method.as_str().to_lowercase()]["requestBody"];
        let content = body["content"].as_object().filter(|_| body["required"] == true);
        return match content.and_then(|content| content.values().next()) {
            Some(content) => {
                let mut body = example(document, &content["schema"]);
                if line.path.ends_with("/instances/launch") {
                    body["template_id"] = target.template.as_str().into();
                }
                request.json(&body)
            }
            None => request,
        };
    }
    let template = [
        ("name", "Other"),
        ("app_type", "notebook"),
        ("image", "example.org/image"),
        ("security_profile", "restricted"),
        ("version", "1"),
    ];
    match (line.method.as_str(), line.path.as_str()) {
        ("POST", "/admin/instances/bulk") => request.form(&[("action", "end")]),
        ("POST", "/classes") => request.form(&[("name", "Other")]),
        ("POST", "/classes/{class}/message") => request.form(&[("text", "Hello")]),
        ("POST", "/classes/{class}/launch") => request.form(&[("template_id", &target.template)]),
        ("POST", "/classes/{class}/extend") => request.form(&[("until", "2026-01-01T12:30:00Z")]),
        ("POST", "/classes/{class}/members") => request.form(&[("addresses", "new@example.org")]),
        ("POST", "/classes/{class}/edit") => request.form(&[("name", "Other"), ("version", "1")]),
        ("POST", "/classes/{class}/join-link") => request.form(&[("valid_days", "14")]),
        ("POST", "/classes/{class}/members/apply") => request.form(&[("rows", "[]")]),
        ("POST", "/language") => request.form(&[("language", "en")]),
        ("POST", "/admin/templates/{template_id}/extend") => request.form(&[("until", "2026-01-01T12:30:00Z")]),
        (
            "POST",
            "/admin/templates"
            | "/admin/templates/{template_id}"
            | "/classes/{class}/templates"
            | "/classes/{class}/templates/{template_id}",
        ) => request.form(&template),
        ("POST", _) => request.form::<[(&str, &str)]>(&[]),
        _ => request,
    }
}

/// Lets the instances of a template have volumes.
async fn keep_files(admin: &Client, template: &str) {
    let storage = serde_json::json!({ "storage": { "kind": "kept" } });
    let path = format!("/api/v1/templates/{template}");
    assert_eq!(admin.request(Method::PATCH, &path).json(&storage).send().await.unwrap().status(), 200);
}

/// Returns the name of a volume of the owner that no instance uses.
async fn volume(app: &TestApp, owner: &Client, admin: &Client) -> String {
    let template = app.template(admin).await;
    keep_files(admin, &template).await;
    let name = app.launched(owner, &template, "running").await;
    owner.delete(&format!("/instances/{name}")).await.expect(202);
    let ended = app.reaches(owner, &name, "terminated").await;
    ended["volume"].as_str().unwrap().to_owned()
}

/// Returns the id of a snapshot of the owner. Deletes the earlier ones, because their number is limited.
async fn snapshot(app: &TestApp, owner: &Client, admin: &Client) -> String {
    let listed = async || owner.get("/snapshots/").await.expect(200).json().as_array().unwrap().clone();
    for earlier in listed().await {
        owner.delete(&format!("/snapshots/{}", earlier["snapshot_id"].as_str().unwrap())).await.expect(204);
    }
    let template = app.template(admin).await;
    let name = app.launched(owner, &template, "running").await;
    owner.delete(&format!("/instances/{name}")).await.expect(202);
    app.reaches(owner, &name, "terminated").await;
    let saved = listed().await.into_iter().find(|snapshot| snapshot["workshop"] == name).unwrap();
    saved["snapshot_id"].as_str().unwrap().to_owned()
}

/// What the request of one line refers to.
struct Target {
    path: String,
    /// Name of the instance; empty if the path has none.
    instance: String,
    /// The template of the class; empty if the path names no class.
    template: String,
}

/// Creates a class with the people of [`ROLES`] and a template. Returns its slug and the id of the template.
async fn class(admin: &Client) -> (String, String) {
    let body = serde_json::json!({ "name": "Class", "teachers": ["teacher@example.org"] });
    let class = admin.post_json("/classes/", &body).await.expect(201).json()["slug"].as_str().unwrap().to_owned();
    for (who, role) in ROLES {
        let body = serde_json::json!({ "role": role });
        admin.put_json(&format!("/classes/{class}/members/{who}"), &body).await.expect(200);
    }
    let body = serde_json::json!({ "name": "Exercise", "app_type": "notebook", "image": "example.org/image" });
    let template = admin.post_json(&format!("/classes/{class}/templates/"), &body).await.expect(201).json();
    (class, template["template_id"].as_str().unwrap().to_owned())
}

/// Returns the code of the join link of a new class.
async fn join_code(admin: &Client) -> String {
    let (class, _) = class(admin).await;
    let link = admin.post_json(&format!("/classes/{class}/join-link"), &serde_json::json!({})).await.expect(201);
    link.json()["code"].as_str().unwrap().to_owned()
}

/// Creates the class, the template, the instance and the member that a path below `/classes/{class}` names.
async fn class_target(app: &TestApp, line: &Line, owner: &Client, admin: &Client) -> Target {
    let (class, template) = class(admin).await;
    let mut instance = String::new();
    if line.path.contains("{k8s_name}") {
        let launch = owner.post(&format!("/classes/{class}/templates/{template}/launch")).await.expect(201);
        instance = launch.json()["k8s_name"].as_str().unwrap().to_owned();
        app.reaches(owner, &instance, "running").await;
    }
    if line.path.ends_with("/join-link") {
        admin.post_json(&format!("/classes/{class}/join-link"), &serde_json::json!({})).await.expect(201);
    }
    if line.path.contains("/hands/{email}") {
        let student = admin.as_identity(Some("student@example.org"));
        Reply::of(student.request(Method::PUT, &student.api(&format!("/classes/{class}/hand")))).await.expect(200);
    }
    let path = line.path.replace("{class}", &class).replace("{template_id}", &template);
    let path = path.replace("{k8s_name}", &instance).replace("{email}", "student@example.org");
    Target { path, instance, template }
}

/// Creates what the path of a line names: a new template, instance, volume or snapshot.
async fn target(app: &TestApp, line: &Line, owner: &Client, admin: &Client) -> Target {
    if line.path.contains("{class}") || line.path.starts_with("/_launcher/class/") {
        return class_target(app, line, owner, admin).await;
    }
    if line.path.contains("{code}") {
        let path = line.path.replace("{code}", &join_code(admin).await);
        return Target { path, instance: String::new(), template: String::new() };
    }
    let needs_template = ["{template_id}", "{k8s_name}", "{slug}"].iter().any(|part| line.path.contains(part));
    let template = if needs_template { app.template(admin).await } else { String::new() };
    if line.path.ends_with("/check-material") {
        app.fleet.check_sources();
    }
    let resumes = line.path.ends_with("/resume");
    if resumes || line.path.ends_with("/suspend") {
        keep_files(admin, &template).await;
    }
    let name =
        if line.path.contains("{k8s_name}") { app.launched(owner, &template, "running").await } else { String::new() };
    if line.path.ends_with("/restart") && !name.is_empty() {
        app.outdated(owner, &name).await;
    }
    if resumes {
        owner.post(&format!("/instances/{name}/suspend")).await.expect(202);
        app.reaches(owner, &name, "suspended").await;
    }
    let volume = if line.path.contains("{volume}") { volume(app, owner, admin).await } else { String::new() };
    let snapshot = if line.path.contains("{snapshot_id}") { snapshot(app, owner, admin).await } else { String::new() };
    let asset = admin.page("/").await.text();
    let asset = asset.split('"').find_map(|part| part.strip_prefix("/assets/")).unwrap_or_default().to_owned();
    let file = if line.path.starts_with("/assets") { asset } else { "swagger-ui.css".to_owned() };
    if line.path.contains("{slug}") {
        // The id of a template is also a valid slug.
        let slug = BTreeMap::from([("slug", &template)]);
        let path = format!("/api/v1/templates/{template}");
        let patched = admin.request(Method::PATCH, &path).json(&slug).send().await.unwrap();
        assert_eq!(patched.status(), 200);
    }
    let path = line.path.replace("{slug}", &template);
    let path = path.replace("{template_id}", &template).replace("{k8s_name}", &name).replace("{file}", &file);
    let path = path.replace("{volume}", &volume).replace("{snapshot_id}", &snapshot);
    Target { path, instance: name, template: String::new() }
}

/// Sends the request of one line as the client `who`.
async fn ask(document: &Value, line: &Line, target: &Target, who: &Client) -> Reply {
    let request = who.request(line.method.clone(), &target.path);
    let reply = with_body(request, document, line, target).send().await.unwrap();
    let (status, headers) = (reply.status(), reply.headers().clone());
    // The body of an event stream does not end, so the test reads only the bodies of errors.
    let body = if status.as_u16() >= 400 { reply.bytes().await.unwrap().to_vec() } else { Vec::new() };
    Reply { status, headers, body }
}

/// Checks that the OpenAPI document lists the problem of this answer for the operation.
fn assert_documented(document: &Value, line: &Line, problem: &Value) {
    let operation = &document["paths"][line.path.trim_start_matches("/api/v1")][line.method.as_str().to_lowercase()];
    if operation.is_null() {
        // A file of the documentation.
        return;
    }
    let (status, code) = (problem["status"].to_string(), problem["code"].as_str().unwrap());
    // The name of a shared response is its status and its codes.
    let codes = operation["responses"][&status]["$ref"].as_str().unwrap_or_default();
    assert!(codes.split('.').any(|listed| listed == code), "{} {}: {status} {code}", line.method, line.path);
}

#[tokio::test(flavor = "multi_thread")]
async fn route_statuses_match_access_matrix() {
    compare(None).await;
}

#[cfg(feature = "test-postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn route_statuses_match_access_matrix_on_postgres() {
    let database = crate::server::FreshDatabase::create().await;
    compare(Some(database.url())).await;
}

/// Compares the matrix with the service on a database: SQLite, or at this URL.
async fn compare(database: Option<String>) {
    // Raises the launch rate limit, because the owner launches a workshop for each request.
    let limits = Limits { max_instances_per_user: 1000, launch_rate: 60_000, launch_burst: 1000, ..Limits::default() };
    let Users { app, unauthenticated, alice: owner, bob: other, admin } = TestApp::start_with(Options {
        limits,
        has_images: true,
        saves_snapshots: true,
        database,
        ..Options::default()
    })
    .await;
    let [student, assistant, teacher, colleague] = ["student", "assistant", "teacher", "colleague"]
        .map(|name| admin.as_identity(Some(&format!("{name}@example.org"))));
    let elsewhere = serde_json::json!({ "name": "Other class", "teachers": ["colleague@example.org"] });
    admin.post_json("/classes/", &elsewhere).await.expect(201);
    let (mut matrix, document) = (Vec::new(), launcher_api::openapi("/api/v1"));
    for (method, path) in crate::routes() {
        let mut line = Line { method: method.parse().unwrap(), path, statuses: [0; COLUMNS] };
        let mut found = Vec::new();
        let mut unchanged: Option<Target> = None;
        for who in [&unauthenticated, &other, &owner, &student, &assistant, &teacher, &colleague, &admin] {
            let aim = match unchanged.take() {
                Some(aim) => aim,
                None => target(&app, &line, &owner, &admin).await,
            };
            let reply = ask(&document, &line, &aim, who).await;
            found.push(reply.status.as_u16());
            // The next request needs a new target if this one was changed.
            if (reply.status.as_u16() >= 400 || line.method == Method::GET) && found.len() < COLUMNS {
                unchanged = Some(aim);
            } else if !aim.instance.is_empty() {
                owner.delete(&format!("/instances/{}", aim.instance)).await.expect(202);
            }
            let is_api = line.path.starts_with("/api/v1");
            if is_api && reply.status.as_u16() >= 400 {
                assert_eq!(reply.header("content-type"), "application/problem+json", "{} {}", line.method, line.path);
                assert_documented(&document, &line, &reply.json());
            } else if reply.status.as_u16() >= 400 {
                assert_eq!(reply.header("content-type"), "text/html; charset=utf-8", "{} {}", line.method, line.path);
            }
        }
        line.statuses = found.try_into().unwrap();
        matrix.push(line);
    }
    let found = rendered(&matrix);
    if std::env::var_os("UPDATE_ACCESS_MATRIX").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/access-matrix.txt"), &found).unwrap();
        return app.finish().await;
    }
    let differences: Vec<_> = found.lines().filter(|line| !MATRIX.lines().any(|listed| listed == *line)).collect();
    let gone: Vec<_> = MATRIX.lines().filter(|listed| !found.lines().any(|line| line == *listed)).collect();
    assert!(
        differences.is_empty() && gone.is_empty(),
        "access-matrix.txt differs from the service.\nFound: {differences:#?}\nListed: {gone:#?}\nDecide who may use these \
         routes, then run: UPDATE_ACCESS_MATRIX=1 cargo test -p launcher-api --test api access_matrix"
    );
    app.finish().await;
}

/// Sends requests with every method, also to paths that do not exist.
#[tokio::test]
async fn request_without_identity_is_401_on_every_path() {
    let Users { app, unauthenticated, .. } = TestApp::start().await;
    let methods = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
        Method::TRACE,
    ];
    let mut paths: BTreeSet<String> = crate::routes().into_iter().map(|(_, path)| path).collect();
    paths.extend(["/nothing", "/api/v1/nothing", "/api/v1", "/api", "//", "/assets/", "/healthz"].map(str::to_owned));
    for path in paths {
        for method in &methods {
            let reply = Reply::of(unauthenticated.request(method.clone(), &path)).await;
            assert_eq!(reply.status.as_u16(), 401, "{method} {path}");
        }
    }
    app.finish().await;
}
