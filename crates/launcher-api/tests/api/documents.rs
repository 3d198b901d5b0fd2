//! The OpenAPI document, the page that shows it, and the reference of problems.

use std::collections::BTreeSet;

use http::Method;
use launcher_testkit::{Options, Reply, TestApp, Users};
use serde_json::Value;

const OPENAPI: &str = include_str!("../../../../docs/openapi.json");

#[test]
fn committed_openapi_document_is_current() {
    let committed: Value = serde_json::from_str(OPENAPI).unwrap();
    assert!(
        committed == launcher_api::openapi("/api/v1"),
        "docs/openapi.json is out of date: run `cargo run -p launcher -- openapi > docs/openapi.json`, and look at the \
         difference"
    );
}

/// The generator keeps one of two schemas with the same name, without an error.
#[test]
fn schemas_have_unique_names() {
    let mut names = BTreeSet::new();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/routes")).unwrap();
    for file in files.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(file).unwrap();
        for part in text.split("ToSchema)]\n").skip(1) {
            let name = part.split_whitespace().skip_while(|word| !["struct", "enum"].contains(word)).nth(1).unwrap();
            assert!(names.insert(name.to_owned()), "two schemas are called {name}: rename one");
        }
    }
    assert!(names.contains("WorkshopInstanceResponse"), "{names:?}");
}

#[test]
fn every_operation_has_id_summary_tag_and_errors() {
    let document = launcher_api::openapi("/api/v1");
    assert_eq!(document["openapi"], "3.1.0");
    let mut names = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let at = format!("{method} {path}");
            names.push(operation["operationId"].as_str().unwrap_or_else(|| panic!("{at} has no name")).to_owned());
            assert!(operation["summary"].is_string(), "{at} has no summary");
            assert!(operation["tags"][0].is_string(), "{at} has no tag");
            assert!(operation.get("x-problems").is_none(), "{at}");
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = &parameter["name"];
                assert_ne!(parameter["description"].as_str().unwrap_or_default(), "", "{at}: `parameter` lacks {name}");
            }
            let responses = operation["responses"].as_object().unwrap();
            for status in ["400", "401", "421", "429", "500", "503"] {
                assert!(responses.contains_key(status), "{at} does not document the status {status}");
            }
            for (status, response) in responses {
                let reference = response["$ref"].as_str().map(|reference| reference.trim_start_matches('#'));
                let response = reference.map_or(response, |reference| document.pointer(reference).unwrap());
                assert!(response["headers"]["X-Request-Id"].is_object(), "{at} {status}");
                let is_error = status.parse::<u16>().unwrap() >= 400;
                assert_eq!(response["content"]["application/problem+json"].is_object(), is_error, "{at} {status}");
            }
        }
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "two operations have the same id");
}

#[test]
fn every_openapi_reference_resolves() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
                object.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let document = launcher_api::openapi("/api/v1");
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 50, "{}", found.len());
    for reference in found {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

#[tokio::test]
async fn openapi_document_and_docs_page_are_self_hosted() {
    let Users { app, alice, .. } = TestApp::start().await;
    let document = alice.get("/openapi.json").await.expect(200);
    assert_eq!(document.header("content-type"), "application/json");
    assert_eq!(document.json(), launcher_api::openapi("/api/v1"));

    let page = alice.get("/docs").await.expect(200);
    assert!(page.header("content-security-policy").starts_with("default-src 'none'; script-src 'self';"));
    assert!(!page.text().contains("://"), "{}", page.text());
    let files: Vec<String> = page
        .text()
        .split('"')
        .filter(|part| part.ends_with(".css") || part.ends_with(".js"))
        .map(str::to_owned)
        .collect();
    assert_eq!(files.len(), 5);
    for file in files {
        let file = alice.page(&file).await.expect(200);
        assert!(!file.body.is_empty());
        assert!(["text/css; charset=utf-8", "text/javascript; charset=utf-8"].contains(&file.header("content-type")));
    }
    alice.get("/docs/../../Cargo.toml").await.expect(404);
    alice.get("/docs/index.html").await.expect(404);
    app.finish().await;
}

#[tokio::test]
async fn problem_type_url_resolves_to_its_section() {
    let Users { app, alice, .. } = TestApp::start().await;
    let problem = alice.get("/instances/nothing").await.expect(404).json();
    let (path, anchor) = problem["type"].as_str().unwrap().split_once('#').unwrap();
    let reference = alice.page(path).await.expect(200);
    assert_eq!(reference.header("content-type"), "text/html; charset=utf-8");
    assert!(reference.text().contains(&format!("<h2 id=\"{anchor}\">{anchor}</h2>")), "{}", reference.text());
    app.finish().await;
}

#[tokio::test]
async fn documents_have_the_frame_and_the_style_of_the_pages() {
    let Users { app, alice, .. } = TestApp::start().await;
    let home = alice.page("/").await.expect(200);
    let style = home.text().split('"').find(|part| part.ends_with(".css")).unwrap().to_owned();
    for (path, title) in [("/docs", "API"), ("/problems", "Problems")] {
        for accept in ["text/html", "application/json", "*/*"] {
            let request = alice.request(Method::GET, &alice.api(path)).header("accept", accept);
            assert_eq!(
                Reply::of(request).await.expect(200).header("content-type"),
                "text/html; charset=utf-8",
                "{path} {accept}"
            );
        }
        let page = alice.get(path).await.expect(200);
        for part in [
            "<html lang=\"en\">".to_owned(),
            format!("<title>{title} - Workshop Launcher</title>"),
            format!("href=\"{style}\""),
            "<a class=\"brand\" href=\"/\">".to_owned(),
            format!("<a href=\"/api/v1{path}\" aria-current=\"page\">{title}</a>"),
            format!("<h1>{title}</h1>"),
        ] {
            assert!(page.text().contains(&part), "{part}: {}", page.text());
        }
        assert!(page.header("content-security-policy").contains("style-src 'self'"));
    }
    app.finish().await;
}

#[tokio::test]
async fn api_base_path_is_configurable() {
    let options = Options::with_settings(&["--base-path=/api/workshops"]);
    let Users { app, unauthenticated, alice, admin, .. } = TestApp::start_with(options).await;
    let template = app.template(&admin).await;
    let launched = alice.post(&format!("/templates/{template}/launch")).await.expect(201);
    assert!(launched.header("location").starts_with("/api/workshops/instances/"));
    alice.page(launched.header("location")).await.expect(200);
    assert_eq!(alice.get("/openapi.json").await.json()["servers"][0]["url"], "/api/workshops");
    assert!(alice.get("/docs").await.text().contains("href=\"/api/workshops/docs/swagger-ui.css\""));
    assert_eq!(
        unauthenticated.get("/me").await.expect(401).json()["type"],
        "/api/workshops/problems#authentication-required"
    );
    assert_eq!(alice.page("/api/v1/me").await.expect(404).header("content-type"), "text/html; charset=utf-8");
    app.finish().await;
}
