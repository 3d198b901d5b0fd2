//! Tests of Workshops whose spec differs from the database.

use launcher_domain::{EndReason, FailureCode, InstanceState, JsonObject};
use launcher_service::LaunchRequest;
use launcher_testkit::eventually;
use serde_json::json;

use crate::{World, body, caller, with};

#[tokio::test]
async fn spec_of_workshop_changed_from_outside_is_restored() {
    let world = World::new().await;
    let running = world.running(&caller("alice")).await;
    // Wait for pending applies: only the next full resync detects a change that was made during an apply.
    world.everything_told().await;
    let before = world.fleet.workshop(&running.k8s_name).unwrap().spec;
    world.fleet.edit_spec(&running.k8s_name, |spec| spec.args = vec!["by-hand".to_owned()]);
    eventually(async || (world.fleet.workshop(&running.k8s_name)?.spec == before).then_some(())).await;
}

#[tokio::test]
async fn number_that_the_fleet_writes_differently_is_no_change_of_the_spec() {
    let size = |number: &str| -> JsonObject {
        let template = r#"{"spec": {"volumes": [{"name": "shm", "emptyDir": {"sizeLimit": NUMBER}}]}}"#;
        serde_json::from_str(&template.replace("NUMBER", number)).unwrap()
    };
    let world = World::new().await;
    let body = with(body("Jupyter"), &json!({ "pod_template": size("1000000000.0") }));
    let template = world.launcher.create_template(&caller("admin"), &body).await.unwrap().template_id;
    let launched = world.launcher.launch(&caller("alice"), template, &LaunchRequest::default()).await.unwrap();
    let name = launched.listed.instance.k8s_name;
    world.workshop(&name).await;
    world.fleet.ready(&name);
    world.until(&name, InstanceState::Running).await;
    let other = world.running(&caller("bob")).await.k8s_name;
    world.everything_told().await;
    let applied = world.fleet.applied();
    world.fleet.edit_spec(&name, |spec| spec.pod_template = Some(size("1000000000")));
    // The service handles events in order: when bob's instance has failed, it has handled the change.
    world.fleet.fail(&other, FailureCode::Crashed, "");
    world.until(&other, InstanceState::Failed).await;
    world.everything_told().await;
    assert_eq!(world.fleet.applied(), applied);
}

#[tokio::test]
async fn instance_ends_if_its_workshop_is_gone_and_an_apply_of_its_first_version_is_pending() {
    let world = World::new().await;
    let running = world.running(&caller("alice")).await;
    world.everything_told().await;
    // A Workshop that is deleted by hand refuses the repair of a change by hand. Then it vanishes while no launcher runs.
    world.fleet.remove_silently(&running.k8s_name);
    world.store.dispatch_reapply(running.instance_id).await.unwrap();
    world.fleet.relist();
    let ended = world.until(&running.k8s_name, InstanceState::Terminated).await;
    assert_eq!(ended.end_reason, Some(EndReason::Lost));
}
