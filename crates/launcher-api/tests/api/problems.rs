//! Problem documents, member by member.

use http::Method;
use launcher_testkit::{Client, Reply, TestApp, Users};
use serde_json::{Value, json};

async fn named(person: &Client, method: Method, path: &str) -> Reply {
    Reply::of(person.request(method, &person.api(path)).header("X-Request-Id", "r-1")).await
}

#[tokio::test]
async fn unauthenticated_problem_has_login_url() {
    let Users { app, unauthenticated, .. } = TestApp::start().await;
    let reply = named(&unauthenticated, Method::GET, "/instances/").await.expect(401);
    assert_eq!(reply.header("www-authenticate"), "Cookie realm=\"workshops\"");
    assert_eq!(reply.header("content-type"), "application/problem+json");
    assert_eq!(
        reply.json(),
        json!({
            "type": "/api/v1/problems#authentication-required",
            "title": "Log in first",
            "status": 401,
            "detail": "Log in first: the request carries no identity.",
            "code": "authentication-required",
            "request_id": "r-1",
            "login_url": "/oauth2/start",
        })
    );
    app.finish().await;
}

#[tokio::test]
async fn not_found_problem_is_same_for_every_path() {
    let Users { app, alice, .. } = TestApp::start().await;
    for path in ["/instances/some-name", "/nothing", "/templates/no-uuid", "/instances/NOT_A_NAME", "/instances/%ff"] {
        let reply = named(&alice, Method::GET, path).await.expect(404);
        assert_eq!(
            reply.json(),
            json!({
                "type": "/api/v1/problems#not-found",
                "title": "Not found",
                "status": 404,
                "detail": "The resource does not exist, or you may not see it.",
                "code": "not-found",
            }),
            "{path}"
        );
    }
    app.finish().await;
}

#[tokio::test]
async fn request_with_closed_database_is_503_with_retry_after() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    app.close_database().await;
    let launch = format!("/templates/{template}/launch");
    for (method, path) in [(Method::GET, "/instances/"), (Method::POST, &launch), (Method::GET, "/events")] {
        let reply = named(&alice, method, path).await.expect(503);
        assert_eq!(reply.header("retry-after"), "5", "{path}");
        assert_eq!(
            reply.json(),
            json!({
                "type": "/api/v1/problems#unavailable",
                "title": "The service cannot answer right now",
                "status": 503,
                "detail": "The database does not answer. Usually nothing was changed. Try again in a moment. Repeat a launch with its Idempotency-Key.",
                "code": "unavailable",
                "request_id": "r-1",
            })
        );
    }
    alice.get("/me").await.expect(200);
    assert_eq!(app.fleet.created(), 0, "no Workshop without a row");
    app.finish().await;
}

#[tokio::test]
async fn invalid_fields_are_reported_with_pointers() {
    let Users { app, admin, .. } = TestApp::start().await;
    let good = json!({ "name": "T", "app_type": "notebook", "image": "i" });
    let with = |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    for (body, pointer) in [
        (json!({ "app_type": "notebook", "image": "i" }), "/name"),
        (with("owner_email", json!("x@y")), "/owner_email"),
        (with("a/b~c", json!(1)), "/a~1b~0c"),
        (with("name", json!(7)), "/name"),
        (with("name", json!("")), "/name"),
        (with("app_type", json!("vscode")), "/app_type"),
        (with("app_type", json!("custom")), "/port"),
        (with("port", json!(8080)), "/port"),
        (with("port", json!("8888")), "/port"),
        (with("args", json!(["a", 1])), "/args/1"),
        (with("env", json!({ "SERVICE_X": "1" })), "/env/SERVICE_X"),
        (with("env", json!({ "A": 1 })), "/env/A"),
        (with("resources", json!({ "memory_limit": "lots" })), "/resources/memory_limit"),
        (with("resources", json!({ "memroy_limit": "1Gi" })), "/resources/memroy_limit"),
        (with("resources", json!([])), "/resources"),
        (with("active", Value::Null), "/active"),
        (json!([]), ""),
        (json!("text"), ""),
        (Value::Null, ""),
    ] {
        let reply = admin.post_json("/templates/", &body).await.expect(422);
        assert_eq!(reply.code(), "invalid-fields");
        let errors = reply.json()["errors"].clone();
        assert_eq!(errors[0]["pointer"], pointer, "{body}: {errors}");
        assert!(errors[0]["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{errors}");
    }
    let two = with("port", json!(0));
    let two = json!({ "name": " ", "app_type": two["app_type"], "image": "i", "port": 0 });
    let errors = admin.post_json("/templates/", &two).await.expect(422).json()["errors"].clone();
    assert_eq!(errors.as_array().map(Vec::len), Some(2), "{errors}");
    let wrong = json!({ "app_type": "choise", "port": "8888", "lifetime_seconds": 5, "parameters": [{ "name": "A", "kind": "choise" }] });
    let problem = admin.post_json("/templates/", &wrong).await.expect(422).json();
    assert_eq!(
        problem["errors"],
        json!([
            { "pointer": "/name", "detail": "is required, and missing" },
            { "pointer": "/app_type", "detail": "must be one of: rstudio, notebook, custom" },
            { "pointer": "/image", "detail": "is required, and missing" },
            { "pointer": "/port", "detail": "must be a whole number" },
            { "pointer": "/parameters/0/label", "detail": "is required, and missing" },
            { "pointer": "/parameters/0/kind", "detail": "must be one of: text, choice, number, secret" },
            { "pointer": "/lifetime_seconds", "detail": "60 to 2592000 seconds (one minute to 30 days)" },
        ])
    );
    assert_eq!(
        problem["detail"],
        "Nothing was changed: /name: is required, and missing; /app_type: must be one of: rstudio, notebook, custom; \
         /image: is required, and missing; and 4 more, which errors lists."
    );
    assert_eq!(admin.get("/templates/").await.json(), json!([]));
    app.finish().await;
}

#[tokio::test]
async fn all_wrong_fields_of_other_bodies_are_reported_in_plain_words() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let template = app.template(&admin).await;
    for (path, user, body, errors) in [
        (
            format!("/templates/{template}/launch"),
            &alice,
            json!({ "snapshot": "x", "owner": 1, "parameters": { "A": 1 }, "repository": { "url": 5 } }),
            vec!["/owner", "/parameters/A", "/repository/url", "/snapshot"],
        ),
        (
            format!("/templates/{template}/extend"),
            &admin,
            json!({ "until": 5, "beyond_maximum": "yes" }),
            vec!["/beyond_maximum", "/until"],
        ),
    ] {
        let problem = user.post_json(&path, &body).await.expect(422).json();
        let list = problem["errors"].as_array().unwrap();
        let mut found: Vec<_> = list.iter().map(|error| error["pointer"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, errors, "{problem}");
        let text = problem.to_string();
        assert!(
            !["invalid type", "unknown field", "missing field", "expected ", "parsing"]
                .iter()
                .any(|word| text.contains(word)),
            "{text}"
        );
    }
    app.finish().await;
}

#[tokio::test]
async fn internal_error_response_reveals_only_request_id() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let launch = format!("/templates/{}/launch", app.template(&admin).await);
    app.entropy.set_broken(true);
    let reply = named(&alice, Method::POST, &launch).await.expect(500);
    app.entropy.set_broken(false);
    assert_eq!(
        reply.json(),
        json!({
            "type": "/api/v1/problems#internal",
            "title": "The service had an internal error",
            "status": 500,
            "detail": "The service had an internal error. Quote the request_id when you report it.",
            "code": "internal",
            "request_id": "r-1",
        })
    );
    alice.post(&launch).await.expect(201);
    app.finish().await;
}
