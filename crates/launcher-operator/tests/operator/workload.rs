//! Tests of the pod of a Workshop: when the operator creates it, keeps it, and creates it again after its end.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_operator::build::{SPEC_DIGEST, TEMPLATE_DIGEST, build};
use launcher_operator::validate::validate;
use launcher_operator::workload::{self, Plan, is_outdated};
use launcher_workshop::Workshop;
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, statuses, with_children, with_routes};
use crate::parameters::with_secrets;
use crate::storage::with_storage;
use crate::support::{at, built, running, settings, workshop};

/// The plan at a time long after the creation of the pods.
pub(crate) fn plan<'a>(pods: &'a [Pod], wanted: &ObjectMeta) -> Plan<'a> {
    workload::plan(pods, wanted, Timestamp::MAX)
}

pub(crate) fn wanted(change: impl FnOnce(&mut Workshop)) -> ObjectMeta {
    built(change).pod.metadata
}

/// The pod of the minimal Workshop in the cluster, with this status.
pub(crate) fn pod(status: Value) -> Pod {
    Pod { status: serde_json::from_value(status).unwrap(), ..built(|_| {}).pod }
}

fn note(pod: &mut Pod, name: &str, value: &str) {
    pod.metadata.annotations.get_or_insert_default().insert(name.to_owned(), value.to_owned());
}

fn change_args(workshop: &mut Workshop) {
    workshop.spec.args = vec!["serve".to_owned()];
}

#[test]
fn pod_is_created_if_there_is_none_and_kept_otherwise() {
    assert_eq!(plan(&[], &wanted(|_| {})), Plan::Create);
    for phase in ["Pending", "Running", "Unknown"] {
        assert_eq!(plan(&[pod(json!({ "phase": phase }))], &wanted(|_| {})), Plan::Keep, "{phase}");
    }
}

#[test]
fn ended_pod_is_deleted_unless_it_was_disrupted() {
    for phase in ["Failed", "Succeeded"] {
        let pods = [pod(json!({ "phase": phase, "reason": "OutOfcpu" }))];
        assert_eq!(plan(&pods, &wanted(|_| {})), Plan::Delete(&pods[0]));
    }
    let evicted = pod(json!({ "phase": "Failed", "reason": "Evicted" }));
    assert_eq!(plan(&[evicted], &wanted(|_| {})), Plan::Keep);
}

#[test]
fn successor_waits_until_terminating_pod_is_gone() {
    let mut leaving = pod(json!({ "phase": "Failed" }));
    leaving.metadata.deletion_timestamp = Some(serde_json::from_value(json!("2026-01-01T12:00:00Z")).unwrap());
    assert_eq!(plan(&[leaving], &wanted(change_args)), Plan::Keep);
}

#[test]
fn pod_that_ended_at_once_is_replaced_after_ten_seconds() {
    let mut ended = pod(json!({ "phase": "Failed", "reason": "UnexpectedAdmissionError" }));
    ended.metadata.creation_timestamp = Some(serde_json::from_value(json!("2026-01-01T12:00:00Z")).unwrap());
    let pods = [ended];
    let wanted = wanted(|_| {});
    assert_eq!(workload::plan(&pods, &wanted, at("12:00:09")), Plan::Keep);
    assert_eq!(workload::plan(&pods, &wanted, at("12:00:10")), Plan::Delete(&pods[0]));
}

#[test]
fn pod_of_changed_workshop_is_deleted() {
    let pods = [pod(json!({ "phase": "Running" }))];
    assert_eq!(plan(&pods, &wanted(change_args)), Plan::Delete(&pods[0]));
}

#[test]
fn pod_of_another_owner_is_not_deleted() {
    let pods = [pod(json!({ "phase": "Failed" }))];
    let again = wanted(|workshop| workshop.metadata.uid = Some("another".to_owned()));
    assert_eq!(plan(&pods, &again), Plan::Keep);
}

#[test]
fn pod_with_missing_or_newer_digest_is_kept() {
    let mut without = pod(json!({}));
    without.metadata.annotations = None;
    let mut newer = pod(json!({}));
    note(&mut newer, SPEC_DIGEST, "2-00");
    for pod in [without, newer] {
        assert_eq!(plan(&[pod], &wanted(change_args)), Plan::Keep);
    }
}

#[test]
fn pod_of_other_settings_is_kept_and_outdated() {
    let pods = [pod(json!({ "phase": "Running" }))];
    assert!(!is_outdated(&pods[0], &wanted(|workshop| workshop.spec.lifetime_seconds = 60)));
    let mut settings = settings();
    settings.sidecar_image = "registry.example.org/sidecar:2".to_owned();
    let upgraded = build(&validate(&workshop(|_| {})).unwrap(), &settings).pod.metadata;
    assert_eq!(plan(&pods, &upgraded), Plan::Keep);
    assert!(is_outdated(&pods[0], &upgraded));
}

#[test]
fn digest_changes_with_pod_fields_and_not_with_lifetime() {
    let digest = |change: fn(&mut Workshop)| wanted(change).annotations.unwrap()[SPEC_DIGEST].clone();
    let before = digest(|_| {});
    // Pods of running workshops have this value. If it changes, increase VERSION in build/digest.rs.
    assert_eq!(before, "1-96652f0acc3f392e4a99a34831bf7270");
    assert_eq!(before, digest(|workshop| workshop.spec.expires_at = Some(at("18:00:00"))));
    assert_eq!(before, digest(|workshop| workshop.spec.lifetime_seconds = 60));
    assert_eq!(before, digest(|workshop| workshop.spec.restarted_at = Some(at("18:00:00"))));
    let changes: [fn(&mut Workshop); 10] = [
        change_args,
        |workshop| workshop.spec.image = "registry.example.org/app:2".to_owned(),
        |workshop| workshop.spec.owner = "bob@example.org".to_owned(),
        |workshop| workshop.spec.app_type = "notebook".to_owned(),
        |workshop| workshop.spec.port = 8787,
        |workshop| workshop.spec.command = vec!["serve".to_owned()],
        |workshop| workshop.spec.resources.memory_limit = "4Gi".to_owned(),
        |workshop| drop(workshop.spec.env.insert("A".to_owned(), "1".to_owned())),
        with_storage,
        with_secrets,
    ];
    for change in changes {
        assert_ne!(before, digest(change));
    }
}

/// A simulated API server with a running Workshop without a pod.
fn without_pod() -> Cluster {
    let workshop = running();
    with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop)
}

/// A pod as the cluster lists it, with the expiry of the running Workshop.
pub(crate) fn listed(pod: &Pod) -> Value {
    let mut listed = serde_json::to_value(pod).unwrap();
    listed["metadata"]["uid"] = "pod".into();
    listed["metadata"]["resourceVersion"] = "2".into();
    listed["metadata"]["annotations"]["workshoplauncher.dev/expires-at"] = "2026-01-01T13:00:00Z".into();
    listed
}

pub(crate) fn writes(calls: &[Call]) -> Vec<&str> {
    let all = calls.iter().map(|(what, _)| what.as_str());
    all.filter(|what| what.ends_with(" pods")).collect()
}

#[tokio::test(start_paused = true)]
async fn lost_pod_is_created_again_with_the_name_of_its_workshop_and_the_settings_of_the_new_leader() {
    let mut settings = settings();
    settings.sidecar_image = "registry.example.org/sidecar:2".to_owned();
    let calls = without_pod().with_settings(settings).run_operator(at("12:30:00")).await;
    let (_, created) = calls.iter().find(|(what, _)| what == "POST pods").unwrap();
    assert_eq!(created["metadata"]["name"], "intro-abcdefghij");
    assert_eq!(created["spec"]["containers"][1]["image"], "registry.example.org/sidecar:2");
    assert_eq!(created["metadata"]["ownerReferences"][0]["kind"], "Workshop");
    assert_eq!(statuses(&calls).next().unwrap()["phase"], "Starting");
}

#[tokio::test(start_paused = true)]
async fn ended_pod_is_deleted_by_uid_and_not_created_before_it_is_gone() {
    let calls = without_pod()
        .listed("pods", &listed(&pod(json!({ "phase": "Failed", "reason": "OutOfcpu" }))))
        .run_operator(at("12:30:00"))
        .await;
    let pods: Vec<_> = calls.iter().filter(|(what, _)| what.ends_with(" pods")).collect();
    assert!(!pods.is_empty() && pods.iter().all(|(what, _)| what == "DELETE pods"), "{pods:?}");
    assert_eq!(pods[0].1["preconditions"]["uid"], "pod");
}

#[tokio::test(start_paused = true)]
async fn pod_in_use_is_not_changed_by_new_leader_with_other_settings() {
    let mut settings = settings();
    settings.sidecar_image = "registry.example.org/sidecar:2".to_owned();
    let ready = pod(json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    for (settings, outdated) in [(settings, json!(true)), (crate::support::settings(), Value::Null)] {
        let cluster = without_pod().with_settings(settings).listed("pods", &listed(&ready));
        let calls = cluster.run_operator(at("12:30:00")).await;
        assert_eq!(writes(&calls), Vec::<&str>::new());
        let status = statuses(&calls).last().unwrap();
        assert_eq!((&status["phase"], &status["podOutdated"]), (&json!("Running"), &outdated));
    }
}

#[tokio::test(start_paused = true)]
async fn existing_pod_without_labels_gets_its_labels_again() {
    let mut unlabelled = listed(&pod(json!({})));
    unlabelled["metadata"]["labels"] = json!({});
    let cluster = without_pod().refusing("pods", 409, "already exists");
    cluster.store("pods", unlabelled);
    let calls = cluster.run_operator(at("12:30:00")).await;
    let (_, patch) = calls.iter().find(|(what, _)| what == "PATCH pods").unwrap();
    assert_eq!((&patch["metadata"]["uid"], &patch["metadata"]["labels"]["app"]), (&json!("pod"), &json!("workshop")));
}

#[test]
fn pod_that_lost_its_label_gets_it_again() {
    let mut unlabelled = pod(json!({ "phase": "Running" }));
    unlabelled.metadata.labels = None;
    assert_eq!(plan(&[unlabelled], &wanted(|_| {})), Plan::Create);
}

#[tokio::test(start_paused = true)]
async fn pod_name_of_another_owner_is_tried_again() {
    let mut foreign = listed(&pod(json!({})));
    foreign["metadata"]["ownerReferences"] = json!([]);
    foreign["metadata"]["labels"] = json!({});
    let cluster = without_pod().refusing("pods", 409, "already exists");
    cluster.store("pods", foreign);
    let calls = cluster.run_operator(at("12:30:00")).await;
    assert!(writes(&calls).iter().all(|what| *what == "POST pods"), "{calls:?}");
    assert!(writes(&calls).len() > 3, "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn pod_that_appears_after_the_end_is_deleted() {
    let mut workshop = running();
    workshop["status"] = json!({ "phase": "Expired", "observedGeneration": 2 });
    let late = listed(&pod(json!({})));
    let cluster = with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop);
    let calls = cluster.changing("pods", Duration::from_secs(10), &late).run_operator(at("12:30:00")).await;
    assert_eq!(writes(&calls), ["DELETE pods"]);
}

#[tokio::test(start_paused = true)]
async fn changed_workshop_in_stale_cache_keeps_its_pod() {
    let (mut stale, current) = (running(), running());
    stale["spec"]["args"] = json!(["by-hand"]);
    let seen = listed(&pod(json!({ "phase": "Running" })));
    let cluster = || with_routes(&current).listed("workshops", &stale).listed("pods", &seen);
    assert_eq!(writes(&cluster().by_now(&current).run_operator(at("12:30:00")).await), Vec::<&str>::new());
    assert!(writes(&cluster().by_now(&stale).run_operator(at("12:30:00")).await).contains(&"DELETE pods"));
}

#[test]
fn pod_has_digest_of_everything_that_determines_it() {
    let digest = |change: fn(&mut Workshop)| wanted(change).annotations.unwrap()[TEMPLATE_DIGEST].clone();
    assert_eq!(digest(|_| {}), digest(|workshop| workshop.spec.lifetime_seconds = 60));
    assert_ne!(digest(|_| {}), digest(change_args));
}

#[tokio::test(start_paused = true)]
async fn complete_workload_is_not_created_again() {
    let workshop = running();
    let cluster = with_children(&workshop).listed("workshops", &workshop).by_now(&workshop);
    assert!(!writes(&cluster.run_operator(at("12:30:00")).await).contains(&"POST pods"));
}
