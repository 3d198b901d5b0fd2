//! Launch parameters in the API: of templates, launches and instances.

use http::Method;
use launcher_testkit::{Client, Reply, TestApp, Users};
use serde_json::{Value, json};

const SECRET: &str = "hunter2-unique";

fn template() -> Value {
    json!({
        "name": "Statistics", "app_type": "notebook", "image": "jupyter",
        "parameters": [
            { "name": "DATASET", "label": "Data set", "kind": "choice", "choices": ["iris", "cars"] },
            { "name": "SIZE", "label": "Size", "kind": "number", "default": "10", "min": 1, "max": 100.5, "integer": true },
            { "name": "TOKEN", "label": "Token", "kind": "secret", "required": false, "help": "From the course page." },
        ],
    })
}

async fn created(admin: &Client) -> (String, Value) {
    let template = admin.post_json("/templates/", &template()).await.expect(201).json();
    (template["template_id"].as_str().unwrap().to_owned(), template)
}

async fn launch(person: &Client, template: &str, parameters: &Value) -> Reply {
    person.post_json(&format!("/templates/{template}/launch"), &json!({ "parameters": parameters })).await
}

fn errors(reply: &Reply) -> Vec<(String, String)> {
    let errors = reply.json()["errors"].as_array().cloned().unwrap_or_default();
    let text = |error: &Value, field: &str| error[field].as_str().unwrap_or_default().to_owned();
    errors.iter().map(|error| (text(error, "pointer"), text(error, "detail"))).collect()
}

#[tokio::test]
async fn template_has_all_fields_of_its_parameters_for_every_user() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let (id, template) = created(&admin).await;
    let expected = json!([
        { "name": "DATASET", "label": "Data set", "help": null, "kind": "choice", "default": null, "required": true,
          "choices": ["iris", "cars"], "min": null, "max": null, "integer": false, "max_length": null },
        { "name": "SIZE", "label": "Size", "help": null, "kind": "number", "default": "10", "required": false,
          "choices": [], "min": 1, "max": 100.5, "integer": true, "max_length": null },
        { "name": "TOKEN", "label": "Token", "help": "From the course page.", "kind": "secret", "default": null,
          "required": false, "choices": [], "min": null, "max": null, "integer": false, "max_length": 200 },
    ]);
    assert_eq!(template["parameters"], expected);
    let path = format!("/templates/{id}");
    assert_eq!(alice.get(&path).await.expect(200).json()["parameters"], expected);
    let replaced = admin.put_json(&path, &template).await.expect(200).json();
    assert_eq!(replaced["parameters"], expected, "the answer can be sent back");
    app.finish().await;
}

#[tokio::test]
async fn invalid_parameters_of_template_are_refused() {
    let Users { app, admin, .. } = TestApp::start().await;
    for (parameters, pointer) in [
        (json!([{ "name": "SERVICE_X", "label": "X", "kind": "text" }]), "/parameters/0/name"),
        (json!([{ "name": "A", "label": "A", "kind": "secret", "default": "x" }]), "/parameters/0/default"),
        (json!([{ "name": "A", "label": "A", "kind": "text", "pattern": "x" }]), "/parameters/0/pattern"),
        (json!([["A", "A", null, "text"]]), "/parameters/0"),
        (json!([{ "name": "A", "label": "A", "kind": "date" }]), "/parameters/0/kind"),
    ] {
        let mut body = template();
        body["parameters"] = parameters;
        let reply = admin.post_json("/templates/", &body).await.expect(422);
        assert_eq!(reply.code(), "invalid-fields");
        assert_eq!(errors(&reply)[0].0, pointer, "{body}");
    }
    app.finish().await;
}

#[tokio::test]
async fn values_reach_the_app_and_secrets_are_never_shown() {
    let Users { app, alice, bob, admin, .. } = TestApp::start().await;
    let (id, _) = created(&admin).await;
    let launched = launch(&alice, &id, &json!({ "DATASET": "cars", "TOKEN": SECRET })).await.expect(201);
    let expected = json!({ "DATASET": "cars", "SIZE": "10", "TOKEN": null });
    let instance = launched.json();
    assert_eq!(instance["parameters"], expected);
    let name = instance["k8s_name"].as_str().unwrap();
    app.reaches(&alice, name, "running").await;
    let workshop = app.fleet.workshop(name).unwrap();
    assert_eq!(workshop.spec.env["DATASET"], "cars");
    assert_eq!(app.fleet.secrets(name).reveal("TOKEN"), Some(SECRET));
    let path = format!("/instances/{name}");
    for reader in [&alice, &admin] {
        let read = reader.get(&path).await.expect(200);
        assert_eq!(read.json()["parameters"], expected);
        assert!(!read.text().contains(SECRET));
    }
    bob.get(&path).await.expect(404);
    let log = admin.get("/activity/").await.expect(200).text();
    assert!(!log.contains(SECRET) && !log.contains("cars"), "{log}");
    app.finish().await;
}

#[tokio::test]
async fn each_invalid_value_has_one_error_without_the_value() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let (id, _) = created(&admin).await;
    let long = SECRET.repeat(20);
    let reply = launch(&alice, &id, &json!({ "SIZE": "1.5", "TOKEN": long, "COLOUR": "red" })).await.expect(422);
    assert_eq!(reply.code(), "invalid-fields");
    let expected = [
        ("/parameters/COLOUR", "the template has no parameter COLOUR"),
        ("/parameters/DATASET", "a value is required"),
        ("/parameters/SIZE", "a whole number such as 12"),
        ("/parameters/TOKEN", "at most 200 characters"),
    ];
    assert_eq!(errors(&reply), expected.map(|(pointer, detail)| (pointer.to_owned(), detail.to_owned())));
    assert!(!reply.text().contains(SECRET));
    assert_eq!(alice.get("/instances/?state=all").await.json(), json!([]));
    app.finish().await;
}

#[tokio::test]
async fn value_of_wrong_type_is_refused_without_the_value() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let (id, _) = created(&admin).await;
    for (parameters, pointer) in [
        (json!({ "TOKEN": 271_828 }), "/parameters/TOKEN"),
        (json!({ "TOKEN": ["271828"] }), "/parameters/TOKEN"),
        (json!({ "TOKEN": null }), "/parameters/TOKEN"),
        (json!("271828"), "/parameters"),
        (json!(["271828"]), "/parameters"),
    ] {
        let reply = launch(&alice, &id, &parameters).await.expect(422);
        assert_eq!(errors(&reply)[0].0, pointer, "{parameters}");
        assert!(!reply.text().contains("271828"), "{parameters}");
    }
    app.finish().await;
}

#[tokio::test]
async fn template_without_required_parameters_launches_without_a_body() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let mut body = template();
    body["parameters"].as_array_mut().unwrap().remove(0);
    let id = admin.post_json("/templates/", &body).await.expect(201).json()["template_id"].clone();
    let path = format!("/templates/{}/launch", id.as_str().unwrap());
    let instance = alice.post(&path).await.expect(201).json();
    assert_eq!(instance["parameters"], json!({ "SIZE": "10" }));
    app.finish().await;
}

#[tokio::test]
async fn repeated_launch_with_other_values_is_refused() {
    let Users { app, alice, admin, .. } = TestApp::start().await;
    let (id, _) = created(&admin).await;
    let path = alice.api(&format!("/templates/{id}/launch"));
    let send = async |dataset: &str| {
        let body = json!({ "parameters": { "DATASET": dataset } });
        let request = alice.request(Method::POST, &path).header("Idempotency-Key", "key").json(&body);
        Reply::of(request).await
    };
    let first = send("iris").await.expect(201).json();
    assert_eq!(send("iris").await.expect(200).json()["k8s_name"], first["k8s_name"]);
    assert_eq!(send("cars").await.expect(422).code(), "idempotency-key-reused");
    app.finish().await;
}
