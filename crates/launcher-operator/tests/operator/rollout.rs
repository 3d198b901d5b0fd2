//! Pod templates of running workshops: kept through an upgrade of the operator, replaced when the Workshop changes.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_operator::build::SPEC_DIGEST;
use launcher_operator::rollout::{APPLIED_GENERATION, Rollout, at_generation, decide};
use launcher_workshop::Workshop;
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, with_children};
use crate::support::{at, built, running};

fn wanted(change: impl FnOnce(&mut Workshop)) -> ObjectMeta {
    built(change).deployment.metadata
}

/// The Deployment of the minimal Workshop as the operator left it, at this generation.
fn left_at(generation: i64) -> ObjectMeta {
    let mut left = at_generation(built(|_| {}).deployment, Some(generation)).metadata;
    left.generation = Some(generation);
    left
}

fn change_image(workshop: &mut Workshop) {
    workshop.spec.image = "registry.example.org/app:2".to_owned();
}

#[test]
fn workshop_that_was_ready_keeps_its_template() {
    assert_eq!(decide(Some(&left_at(1)), &wanted(|_| {}), true), Rollout::Keep);
    assert_eq!(decide(Some(&left_at(7)), &wanted(|_| {}), true), Rollout::Keep);
}

#[test]
fn workshop_that_was_never_ready_gets_the_present_template() {
    assert_eq!(decide(Some(&left_at(1)), &wanted(|_| {}), false), Rollout::Apply);
    assert_eq!(decide(None, &wanted(|_| {}), true), Rollout::Apply);
}

#[test]
fn changed_workshop_gets_the_present_template() {
    assert_eq!(decide(Some(&left_at(1)), &wanted(change_image), true), Rollout::Apply);
}

#[test]
fn deployment_changed_by_hand_is_applied_again() {
    let mut edited = left_at(1);
    edited.generation = Some(2);
    assert_eq!(decide(Some(&edited), &wanted(|_| {}), true), Rollout::Apply);
}

#[test]
fn deployment_of_another_workshop_is_applied_again() {
    let again = wanted(|workshop| workshop.metadata.uid = Some("another".to_owned()));
    assert_eq!(decide(Some(&left_at(1)), &again, true), Rollout::Apply);
}

#[test]
fn deployment_without_annotations_or_with_another_digest_version_is_adopted() {
    let mut older = left_at(3);
    older.annotations = None;
    assert_eq!(decide(Some(&older), &wanted(|_| {}), true), Rollout::Adopt);
    let mut newer = left_at(3);
    newer.annotations.as_mut().unwrap().insert(SPEC_DIGEST.to_owned(), "2-00".to_owned());
    assert_eq!(decide(Some(&newer), &wanted(|_| {}), true), Rollout::Adopt);
}

#[test]
fn digest_covers_the_pod_and_not_the_lifetime() {
    let digest = |change: fn(&mut Workshop)| wanted(change).annotations.unwrap()[SPEC_DIGEST].clone();
    let before = digest(|_| {});
    // This value is in the Deployments of running workshops: a change of it needs a new VERSION in build/digest.rs.
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

/// A cluster with a running Workshop, and its Deployment as `change` says.
fn cluster(change: impl FnOnce(&mut Value)) -> Cluster {
    let workshop = running();
    let mut deployment = serde_json::to_value(left_at(1)).unwrap();
    deployment["uid"] = "child".into();
    deployment["resourceVersion"] = "1".into();
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
async fn new_leader_writes_nothing_to_a_running_workshops_deployment() {
    let calls = cluster(|_| {}).operated(at("12:30:00")).await;
    assert_eq!(patches(&calls), Vec::<&Value>::new());
}

#[tokio::test(start_paused = true)]
async fn deployment_of_an_older_operator_gets_annotations_and_keeps_its_spec() {
    let calls = cluster(|metadata| {
        metadata["annotations"] = Value::Null;
        metadata["generation"] = 4.into();
    })
    .operated(at("12:30:00"))
    .await;
    let patches = patches(&calls);
    assert!(!patches.is_empty());
    for patch in patches {
        assert_eq!(patch["spec"], Value::Null);
        assert_eq!(patch["metadata"]["annotations"][APPLIED_GENERATION], "4");
        assert_eq!(patch["metadata"]["annotations"][SPEC_DIGEST], wanted(|_| {}).annotations.unwrap()[SPEC_DIGEST]);
    }
}

#[tokio::test(start_paused = true)]
async fn deployment_changed_by_hand_gets_its_spec_back() {
    let calls = cluster(|metadata| metadata["generation"] = 2.into()).operated(at("12:30:00")).await;
    assert_eq!(patches(&calls)[0]["spec"]["replicas"], 1);
}
