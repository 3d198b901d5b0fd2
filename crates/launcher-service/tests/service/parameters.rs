//! Launch parameters: checked at the launch, given to the app, and secret ones erased at the end.

use launcher_domain::{
    EndReason, FailureCode, FailureDetail, FailureReason, FieldRule, Instance, InstanceState, JsonObject, SecretValues,
    Template,
};
use launcher_service::{LaunchRequest, Launched, ServiceError};
use launcher_testkit::{Fault, eventually};
use serde_json::json;

use crate::{World, body, caller, measured, with};

const SECRET: &str = "hunter2-unique";

fn body_with_parameters() -> JsonObject {
    let parameters = json!([
        { "name": "DATASET", "label": "Data set", "kind": "choice", "choices": ["iris", "cars"] },
        { "name": "SIZE", "label": "Size", "kind": "number", "default": "10", "max": 100 },
        { "name": "TOKEN", "label": "Token", "kind": "secret", "required": false },
    ]);
    with(body("Notebook"), &json!({ "parameters": parameters }))
}

fn request(key: Option<&str>, values: &[(&str, &str)]) -> LaunchRequest {
    let parameters = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    LaunchRequest { idempotency_key: key.map(str::to_owned), parameters, ..LaunchRequest::default() }
}

impl World {
    async fn template_with_parameters(&self) -> Template {
        self.launcher.create_template(&caller("admin"), &body_with_parameters()).await.unwrap()
    }

    async fn try_launch(&self, template: &Template, request: &LaunchRequest) -> Result<Launched, ServiceError> {
        self.launcher.launch(&caller("alice"), template.template_id, request).await
    }

    async fn launch_with(&self, template: &Template, values: &[(&str, &str)]) -> Instance {
        self.try_launch(template, &request(None, values)).await.unwrap().listed.instance
    }

    async fn secrets(&self, instance: &Instance) -> SecretValues {
        self.store.dispatch_secrets(instance.instance_id).await.unwrap()
    }
}

#[tokio::test]
async fn app_gets_the_values_and_only_the_fleet_gets_the_secrets() {
    let world = World::new().await;
    let template = world.template_with_parameters().await;
    let launched = world.launch_with(&template, &[("DATASET", "iris"), ("TOKEN", SECRET)]).await;
    let workshop = world.workshop(&launched.k8s_name).await;
    let env = ["DATASET", "SIZE", "TOKEN"].map(|name| workshop.spec.env.get(name).map(String::as_str));
    assert_eq!(env, [Some("iris"), Some("10"), None]);
    assert_eq!(workshop.spec.secret_env, ["TOKEN"]);
    assert_eq!(world.fleet.secrets(&launched.k8s_name).reveal("TOKEN"), Some(SECRET));
    let shown = format!("{launched:?} {} {workshop:?}", json!(workshop));
    assert!(!shown.contains(SECRET), "{shown}");
}

#[tokio::test]
async fn invalid_values_are_refused_with_one_error_each() {
    let world = World::new().await;
    let template = world.template_with_parameters().await;
    let request = request(None, &[("SIZE", "101"), ("COLOUR", "red")]);
    let Err(ServiceError::Invalid(errors)) = world.try_launch(&template, &request).await else { panic!("accepted") };
    let expected = [
        ("/parameters/COLOUR", FieldRule::ParameterUnknown { name: "COLOUR".to_owned() }),
        ("/parameters/DATASET", FieldRule::ParameterRequired),
        ("/parameters/SIZE", FieldRule::ParameterMax { max: "100".to_owned() }),
    ];
    let errors: Vec<_> = errors.into_iter().map(|error| (error.pointer, error.rule)).collect();
    assert_eq!(errors, expected.map(|(pointer, rule)| (pointer.to_owned(), rule)));
    assert!(world.fleet.names().is_empty());
}

#[tokio::test]
async fn repeated_launch_needs_the_same_open_values() {
    let world = World::new().await;
    let template = world.template_with_parameters().await;
    let first = request(Some("key"), &[("DATASET", "iris"), ("TOKEN", SECRET)]);
    let launched = world.try_launch(&template, &first).await.unwrap();
    assert!(launched.created);
    let again = world.try_launch(&template, &first).await.unwrap();
    assert_eq!((again.created, &again.listed.instance.k8s_name), (false, &launched.listed.instance.k8s_name));
    let other = request(Some("key"), &[("DATASET", "cars"), ("TOKEN", SECRET)]);
    assert!(matches!(world.try_launch(&template, &other).await, Err(ServiceError::IdempotencyKeyReused)));
    // The stored hash does not depend on secret values.
    let other = request(Some("key"), &[("DATASET", "iris"), ("TOKEN", "another")]);
    assert!(!world.try_launch(&template, &other).await.unwrap().created);
}

#[tokio::test]
async fn repeated_launch_succeeds_after_a_change_of_the_parameters() {
    let world = World::new().await;
    let template = world.template_with_parameters().await;
    let first = request(Some("key"), &[("DATASET", "iris")]);
    assert!(world.try_launch(&template, &first).await.unwrap().created);
    let mut body = body_with_parameters();
    body["parameters"][0]["choices"][0] = json!("trees");
    let update = launcher_service::TemplateUpdate { body, expected_version: None };
    world.launcher.update_template(&caller("admin"), template.template_id, update).await.unwrap();
    assert!(!world.try_launch(&template, &first).await.unwrap().created);
    let other = request(Some("other"), &[("DATASET", "iris")]);
    assert!(matches!(world.try_launch(&template, &other).await, Err(ServiceError::Invalid(_))));
}

#[tokio::test]
async fn secrets_survive_a_kill_before_the_fleet_got_them() {
    let mut world = World::new().await;
    world.stop().await;
    let template = world.template_with_parameters().await;
    let launched = world.launch_with(&template, &[("DATASET", "iris"), ("TOKEN", SECRET)]).await;
    world.kill().await;
    world.fleet.inject_faults([Fault::Unavailable, Fault::ErrorAfterSuccess]);
    world.start();
    world.workshop(&launched.k8s_name).await;
    let given = async || (world.fleet.secrets(&launched.k8s_name).reveal("TOKEN") == Some(SECRET)).then_some(());
    eventually(given).await;
    world.fleet.ready(&launched.k8s_name);
    let running = world.until(&launched.k8s_name, InstanceState::Running).await;
    assert!(world.secrets(&running).await.contains("TOKEN"));
}

#[tokio::test]
async fn end_of_the_instance_erases_its_secrets() {
    let world = World::new().await;
    let template = world.template_with_parameters().await;
    let launched = world.launch_with(&template, &[("DATASET", "iris"), ("TOKEN", SECRET)]).await;
    world.workshop(&launched.k8s_name).await;
    world.launcher.terminate(&caller("alice"), &launched.k8s_name).await.unwrap();
    assert!(world.secrets(&launched).await.is_empty());
    let ended = world.until(&launched.k8s_name, InstanceState::Terminated).await;
    assert_eq!(ended.end_reason, Some(EndReason::Owner));
    assert_eq!(ended.parameters["TOKEN"], None);
    assert_eq!(ended.parameters["DATASET"].as_deref(), Some("iris"));
    assert!(world.fleet.secrets(&launched.k8s_name).is_empty());
    assert!(!measured(&world.launcher).contains(SECRET));
}

#[tokio::test]
async fn failure_is_stored_without_the_secrets_that_the_app_printed() {
    let world = World::new().await;
    let template = world.template_with_parameters().await;
    let launched = world.launch_with(&template, &[("DATASET", "iris"), ("TOKEN", SECRET)]).await;
    world.workshop(&launched.k8s_name).await;
    let detail = FailureDetail::from(format!("no program {SECRET}"));
    let reason = FailureReason::new(FailureCode::Crashed, Some(detail));
    world.fleet.fail_because(&launched.k8s_name, reason, &format!("iris: token {SECRET} refused\n{SECRET}"));
    let failed = world.until(&launched.k8s_name, InstanceState::Failed).await;
    assert_eq!(failed.report.log_tail.as_deref(), Some("iris: token (secret) refused\n(secret)"));
    assert!(failed.reason.as_ref().unwrap().message.ends_with("no program (secret)"), "{:?}", failed.reason);
    assert!(!format!("{failed:?}").contains(SECRET), "{failed:?}");
    assert!(world.secrets(&failed).await.is_empty());
}

#[tokio::test]
async fn variable_of_the_pod_template_cannot_be_a_parameter() {
    let world = World::new().await;
    let container = json!({ "spec": { "containers": [{ "name": "app", "env": [{ "name": "SIZE", "value": "1" }] }] } });
    let body = with(body_with_parameters(), &json!({ "pod_template": container }));
    let errors = world.launcher.validate_template(&body).unwrap_err();
    assert!(errors[0].pointer.starts_with("/pod_template/spec/containers/0/env/0"), "{errors:?}");
}
