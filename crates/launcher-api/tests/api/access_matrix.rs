//! Access decisions: compares `access-matrix.txt` with the running service, route by route.
//!
//! With UPDATE_ACCESS_MATRIX=1, the test writes the file: review the difference, because each line is a decision.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use launcher_service::Limits;
use launcher_testkit::{Client, Options, Reply, TestApp, Users};
use reqwest::RequestBuilder;

const MATRIX: &str = include_str!("../../access-matrix.txt");
const COLUMNS: [&str; 4] = ["unauth", "other", "owner", "admin"];

struct Line {
    method: Method,
    path: String,
    statuses: [u16; 4],
}

/// Returns the matrix with these lines: listed routes stay at their places, new ones are at the end.
fn rendered(found: &[Line]) -> String {
    let row = |line: &Line| {
        let [unauthenticated, other, owner, admin] = line.statuses;
        format!("{:<6} {:<43} {unauthenticated} {other} {owner} {admin}", line.method.as_str(), line.path)
    };
    let is_at = |line: &Line, row: &str| row.split_whitespace().take(2).eq([line.method.as_str(), &*line.path]);
    let is_text = |line: &str| line.is_empty() || line.starts_with('#');
    let kept = MATRIX.lines().filter_map(|text| {
        let line = found.iter().find(|line| is_at(line, text)).map(row);
        line.or_else(|| is_text(text).then(|| text.to_owned()))
    });
    let added = found.iter().filter(|line| !MATRIX.lines().any(|text| is_at(line, text))).map(row);
    kept.chain(added).map(|line| line + "\n").collect()
}

/// Adds the body that the route requires: a template for creating or replacing one, a form for pages.
fn with_body(request: RequestBuilder, line: &Line) -> RequestBuilder {
    let fields = [
        ("name", "Other"),
        ("app_type", "notebook"),
        ("image", "example.org/image"),
        ("security_profile", "restricted"),
        ("version", "1"),
    ];
    match (line.method.as_str(), line.path.as_str()) {
        ("POST", "/api/v1/templates/") | ("PUT", "/api/v1/templates/{template_id}") => {
            request.json(&fields[..3].iter().copied().collect::<BTreeMap<_, _>>())
        }
        ("POST", "/api/v1/templates/{template_id}/extend") => {
            request.json(&BTreeMap::from([("until", "2026-01-01T12:30:00Z")]))
        }
        ("PATCH", _) => request.json(&BTreeMap::from([fields[0]])),
        ("POST", "/admin/instances/bulk") => request.form(&[("action", "end")]),
        ("POST", "/language") => request.form(&[("language", "en")]),
        ("POST", "/admin/templates/{template_id}/extend") => request.form(&[("until", "2026-01-01T12:30:00Z")]),
        ("POST", "/admin/templates" | "/admin/templates/{template_id}") => request.form(&fields),
        ("POST", path) if !path.starts_with("/api/v1") => request.form::<[(&str, &str)]>(&[]),
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
}

/// Creates what the path of a line names: a new template, instance, volume or snapshot.
async fn target(app: &TestApp, line: &Line, owner: &Client, admin: &Client) -> Target {
    let needs_template = ["{template_id}", "{k8s_name}", "{slug}"].iter().any(|part| line.path.contains(part));
    let template = if needs_template { app.template(admin).await } else { String::new() };
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
    Target { path, instance: name }
}

/// Sends the request of one line as the client `who`.
async fn ask(line: &Line, target: &Target, who: &Client) -> Reply {
    let request = who.request(line.method.clone(), &target.path);
    let reply = with_body(request, line).send().await.unwrap();
    // The body of an event stream does not end, so the test reads only the head.
    Reply { status: reply.status(), headers: reply.headers().clone(), body: Vec::new() }
}

#[tokio::test(flavor = "multi_thread")]
async fn route_statuses_match_access_matrix() {
    // Raises the launch rate limit, because the owner launches a workshop for each request.
    let limits = Limits { max_instances_per_user: 1000, launch_rate: 60_000, launch_burst: 1000, ..Limits::default() };
    let Users { app, unauthenticated, alice: owner, bob: other, admin } =
        TestApp::start_with(Options { limits, has_images: true, saves_snapshots: true, ..Options::default() }).await;
    let mut matrix = Vec::new();
    for (method, path) in launcher_api::routes("/api/v1") {
        let mut line = Line { method: method.parse().unwrap(), path, statuses: [0; 4] };
        let mut found = Vec::new();
        let mut unchanged: Option<Target> = None;
        for who in [&unauthenticated, &other, &owner, &admin] {
            let aim = match unchanged.take() {
                Some(aim) => aim,
                None => target(&app, &line, &owner, &admin).await,
            };
            let reply = ask(&line, &aim, who).await;
            found.push(reply.status.as_u16());
            // The next request needs a new target if this one was changed.
            if (reply.status.as_u16() >= 400 || line.method == Method::GET) && found.len() < COLUMNS.len() {
                unchanged = Some(aim);
            } else if !aim.instance.is_empty() {
                owner.delete(&format!("/instances/{}", aim.instance)).await.expect(202);
            }
            let is_api = line.path.starts_with("/api/v1");
            if is_api && reply.status.as_u16() >= 400 {
                assert_eq!(reply.header("content-type"), "application/problem+json", "{} {}", line.method, line.path);
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
    let mut paths: BTreeSet<String> = launcher_api::routes("/api/v1").into_iter().map(|(_, path)| path).collect();
    paths.extend(["/nothing", "/api/v1/nothing", "/api/v1", "/api", "//", "/assets/", "/healthz"].map(str::to_owned));
    for path in paths {
        for method in &methods {
            let reply = Reply::of(unauthenticated.request(method.clone(), &path)).await;
            assert_eq!(reply.status.as_u16(), 401, "{method} {path}");
        }
    }
    app.finish().await;
}
