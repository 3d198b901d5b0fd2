//! Tests of pod templates of running workshops: an upgrade of the operator keeps them, and a changed Workshop replaces
//! them.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_operator::build::SPEC_DIGEST;
use launcher_operator::rollout::{APPLIED_REVISION, REVISION, Rollout, annotations, decide, has_annotations};
use launcher_workshop::Workshop;
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, with_children};
use crate::support::{at, built, pod_object, running};

fn wanted(change: impl FnOnce(&mut Workshop)) -> ObjectMeta {
    built(change).deployment.metadata
}

/// Metadata of the minimal Workshop's Deployment, with the annotations of the operator and the Deployment controller.
fn left() -> ObjectMeta {
    let mut left = wanted(|_| {});
    left.annotations = Some(annotations(Rollout::Whole, None, &left));
    note(&mut left, REVISION, "1");
    left
}

fn note(metadata: &mut ObjectMeta, name: &str, value: &str) {
    metadata.annotations.get_or_insert_default().insert(name.to_owned(), value.to_owned());
}

fn change_image(workshop: &mut Workshop) {
    workshop.spec.image = "registry.example.org/app:2".to_owned();
}

#[test]
fn workshop_that_was_ready_keeps_its_pod_template() {
    assert_eq!(decide(Some(&left()), &wanted(|_| {}), true), Rollout::AllButTemplate);
}

#[test]
fn workshop_that_was_never_ready_gets_current_pod_template() {
    assert_eq!(decide(Some(&left()), &wanted(|_| {}), false), Rollout::Whole);
    assert_eq!(decide(None, &wanted(|_| {}), true), Rollout::Whole);
}

#[test]
fn changed_workshop_gets_current_pod_template() {
    assert_eq!(decide(Some(&left()), &wanted(change_image), true), Rollout::Whole);
}

#[test]
fn pod_template_changed_by_hand_is_applied_again() {
    let mut edited = left();
    note(&mut edited, REVISION, "2");
    assert_eq!(decide(Some(&edited), &wanted(|_| {}), true), Rollout::Whole);
}

#[test]
fn revision_of_new_pod_template_is_recorded_after_its_apply() {
    let mut live = left();
    live.annotations = Some(annotations(Rollout::Whole, Some(&live), &wanted(change_image)));
    assert_eq!(live.annotations.as_ref().unwrap()[APPLIED_REVISION], "");
    note(&mut live, REVISION, "2");
    let rollout = decide(Some(&live), &wanted(change_image), true);
    assert_eq!(rollout, Rollout::AllButTemplate);
    let noted = annotations(rollout, Some(&live), &wanted(change_image));
    assert_eq!(noted[APPLIED_REVISION], "2");
}

#[test]
fn deployment_with_missing_or_other_annotation_lacks_wanted_annotations() {
    let expected = BTreeMap::from([("name".to_owned(), "wanted".to_owned())]);
    let mut live = ObjectMeta::default();
    assert!(!has_annotations(&live, &expected));
    note(&mut live, "name", "other");
    assert!(!has_annotations(&live, &expected));
    note(&mut live, "name", "wanted");
    assert!(has_annotations(&live, &expected));
}

#[test]
fn deployment_of_earlier_workshop_with_same_name_is_replaced() {
    let again = wanted(|workshop| workshop.metadata.uid = Some("another".to_owned()));
    assert_eq!(decide(Some(&left()), &again, true), Rollout::Whole);
}

#[test]
fn deployment_with_missing_or_newer_digest_keeps_its_pod_template() {
    let mut older = left();
    older.annotations = None;
    assert_eq!(decide(Some(&older), &wanted(|_| {}), true), Rollout::AllButTemplate);
    let mut newer = left();
    note(&mut newer, SPEC_DIGEST, "2-00");
    assert_eq!(decide(Some(&newer), &wanted(|_| {}), true), Rollout::AllButTemplate);
}

#[test]
fn digest_changes_with_pod_fields_and_not_with_lifetime() {
    let digest = |change: fn(&mut Workshop)| wanted(change).annotations.unwrap()[SPEC_DIGEST].clone();
    let before = digest(|_| {});
    // Deployments of running workshops have this value. If it changes, increase VERSION in build/digest.rs.
    assert_eq!(before, "1-ca0f8e1d0d35fdefff9efc84b63b4fc9");
    assert_eq!(before, digest(|workshop| workshop.spec.expires_at = Some(at("18:00:00"))));
    assert_eq!(before, digest(|workshop| workshop.spec.lifetime_seconds = 60));
    let changes: [fn(&mut Workshop); 8] = [
        change_image,
        |workshop| workshop.spec.owner = "bob@example.org".to_owned(),
        |workshop| workshop.spec.app_type = "notebook".to_owned(),
        |workshop| workshop.spec.port = 8787,
        |workshop| workshop.spec.command = vec!["serve".to_owned()],
        |workshop| workshop.spec.args = vec!["serve".to_owned()],
        |workshop| workshop.spec.resources.memory_limit = "4Gi".to_owned(),
        |workshop| drop(workshop.spec.env.insert("A".to_owned(), "1".to_owned())),
    ];
    for change in changes {
        assert_ne!(before, digest(change));
    }
}

/// A simulated API server with a running Workshop whose Deployment has this change.
fn cluster(change: impl FnOnce(&mut ObjectMeta)) -> Cluster {
    let workshop = running();
    let mut deployment = left();
    deployment.uid = Some("child".to_owned());
    deployment.resource_version = Some("1".to_owned());
    change(&mut deployment);
    with_children(&workshop)
        .listed("workshops", &workshop)
        .by_now(&workshop)
        .relisted("deployments", &json!({ "metadata": deployment }))
}

fn patches(calls: &[Call]) -> Vec<&Value> {
    calls.iter().filter(|(what, _)| what == "PATCH deployments").map(|(_, body)| body).collect()
}

#[tokio::test(start_paused = true)]
async fn new_leader_restores_deployment_of_running_workshop_except_pod_template() {
    let unlike: fn(&mut ObjectMeta) = |metadata| metadata.annotations = None;
    for change in [|_: &mut ObjectMeta| {}, unlike] {
        let calls = cluster(change).run_operator(at("12:30:00")).await;
        let patches = patches(&calls);
        assert!(!patches.is_empty());
        for patch in patches {
            assert_eq!(patch["spec"]["template"], Value::Null);
            assert_eq!(patch["spec"]["replicas"], 1);
            assert_eq!(patch["spec"]["strategy"], json!({ "type": "Recreate", "rollingUpdate": null }));
            assert_eq!(patch["metadata"]["labels"]["app"], "workshop");
            assert_eq!(patch["metadata"]["annotations"][SPEC_DIGEST], wanted(|_| {}).annotations.unwrap()[SPEC_DIGEST]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pod_template_changed_by_hand_is_restored_by_apply() {
    let calls = cluster(|metadata| note(metadata, REVISION, "2")).run_operator(at("12:30:00")).await;
    assert_eq!(patches(&calls)[0]["spec"]["template"]["spec"]["containers"][0]["name"], "app");
}

#[tokio::test(start_paused = true)]
async fn workshop_with_ready_pod_but_without_status_keeps_its_pod_template() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let pod = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    let cluster = cluster(|_| {}).relisted("workshops", &workshop).by_now(&workshop).listed("pods", &pod);
    let calls = cluster.run_operator(at("12:30:00")).await;
    let patches = patches(&calls);
    assert!(!patches.is_empty() && patches.iter().all(|patch| patch["spec"]["template"].is_null()), "{patches:?}");
}

#[tokio::test(start_paused = true)]
async fn running_workshop_with_changed_spec_gets_current_pod_template() {
    let mut workshop = running();
    workshop["spec"]["image"] = "registry.example.org/app:2".into();
    let calls = cluster(|_| {}).relisted("workshops", &workshop).by_now(&workshop).run_operator(at("12:30:00")).await;
    let image = &patches(&calls)[0]["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "registry.example.org/app:2");
}
