use launcher_domain::{InstanceState, TemplateContent};
use launcher_service::{LaunchRequest, ServiceError};
use serde_json::json;

use crate::{World, caller, with};

#[tokio::test]
async fn launched_instance_gets_a_workshop_and_runs() {
    let world = World::new().await;
    let alice = caller("alice");
    let launched = world.launch(&alice).await;
    assert_eq!((launched.state, launched.owner_email.as_str()), (InstanceState::Queued, "alice@example.org"));
    let workshop = world.workshop(&launched.k8s_name).await;
    assert_eq!(workshop.spec.owner, "alice@example.org");
    assert_eq!(workshop.metadata.labels.unwrap().len(), 2, "exactly app and managed-by");
    let starting = world.until(&launched.k8s_name, InstanceState::Starting).await;
    let told = &workshop.metadata.annotations.unwrap()["workshoplauncher.dev/dispatched-at"];
    assert_eq!((Some(told.parse().unwrap()), starting.report.url), (starting.dispatched_at, None));

    world.fleet.ready(&launched.k8s_name);
    let ready_at = world.workshop(&launched.k8s_name).await.status.unwrap().ready_at;
    let running = world.until(&launched.k8s_name, InstanceState::Running).await;
    assert_eq!(running.started_at, ready_at);
    assert!(running.expires_at > running.started_at && running.report.url.is_some());
}

#[tokio::test]
async fn template_edit_does_not_change_running_instance() {
    let world = World::new().await;
    let running = world.running(&caller("alice")).await;
    let admin = caller("admin");
    let template = world.launcher.template(&admin, running.template_id).await.unwrap();
    let body = with(TemplateContent::from(&template).to_json(), &json!({ "name": "Other" }));
    let update = launcher_service::TemplateUpdate { body, expected_version: None };
    world.launcher.update_template(&admin, running.template_id, update).await.unwrap();
    let now = world.launcher.instance(&admin, &running.k8s_name).await.unwrap().instance;
    assert_eq!(now.settings.name, "Jupyter");
}

#[tokio::test]
async fn repeated_launch_succeeds_after_template_is_archived() {
    let world = World::new().await;
    let alice = caller("alice");
    let template = world.template().await.template_id;
    let request = LaunchRequest { idempotency_key: Some("monday".to_owned()), ..LaunchRequest::default() };
    let first = world.launcher.launch(&alice, template, &request).await.unwrap();
    world.launcher.archive_template(&caller("admin"), template, None).await.unwrap();
    let again = world.launcher.launch(&alice, template, &request).await.unwrap();
    assert!(!again.created && again.listed.instance.k8s_name == first.listed.instance.k8s_name);
    let other = LaunchRequest { idempotency_key: Some("tuesday".to_owned()), ..LaunchRequest::default() };
    let refused = world.launcher.launch(&alice, template, &other).await.unwrap_err();
    assert!(matches!(refused, ServiceError::TemplateInactive), "{refused}");
}
