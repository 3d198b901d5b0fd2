//! Tests of pods that the cluster ends: another pod continues with files that are outside the pod.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use launcher_domain::FailureCode;
use launcher_domain::StartStep::Preparing;
use launcher_operator::workload::Plan;
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, child, statuses, with_routes};
use crate::diagnose::{Diagnosis, diagnose_kept, failure, ready, waiting};
use crate::storage::with_storage;
use crate::support::{at, built, pod_object, running, workshop};
use crate::workload::{plan, pod, wanted};

/// The status of a pod that the cluster ends for this reason.
fn disrupted(why: &str) -> Value {
    json!({ "conditions": [
        { "type": "DisruptionTarget", "status": "True", "reason": why, "lastTransitionTime": "2026-01-01T12:10:00Z" },
        { "type": "Ready", "status": "False" },
    ]})
}

/// Statuses of pods whose Workshop continues in another pod: drained, preempted, lost, and on a machine that shuts down.
fn moves() -> Vec<Value> {
    let mut shut_down = disrupted("TerminationByKubelet");
    shut_down["phase"] = "Failed".into();
    shut_down["reason"] = "Terminated".into();
    let drained = ["EvictionByEvictionAPI", "PreemptionByScheduler", "DeletionByTaintManager", "DeletionByPodGC"];
    drained.map(disrupted).into_iter().chain([json!({ "reason": "NodeLost" }), shut_down]).collect()
}

/// Status of a pod that the kubelet evicted, for example because its files exceed their limit.
fn evicted_by_kubelet() -> Value {
    let mut status = disrupted("TerminationByKubelet");
    status["phase"] = "Failed".into();
    status["reason"] = "Evicted".into();
    status
}

#[test]
fn workshop_with_kept_files_waits_for_another_pod_after_a_disruption() {
    for status in moves() {
        // The start timeout of the next pod counts from the end of a pod that has ended.
        let until = if status["phase"] == "Failed" { "12:20:00" } else { "12:10:00" };
        assert_eq!(diagnose_kept(&[pod(status.clone())], "12:00:01"), waiting(Preparing, until), "{status}");
    }
    let next = pod(json!({ "conditions": ready("True") }));
    assert_eq!(diagnose_kept(&[next], "12:00:01"), Diagnosis::Ready);
}

#[test]
fn workshop_with_kept_files_fails_if_the_kubelet_evicted_its_pod() {
    let reason = failure(diagnose_kept(&[pod(evicted_by_kubelet())], "12:00:01")).reason;
    assert_eq!(reason.code, FailureCode::Evicted);
}

#[test]
fn pod_that_stays_on_a_lost_node_fails_its_workshop_as_node_lost_after_the_start_timeout() {
    let mut lost = pod(disrupted("DeletionByTaintManager"));
    lost.metadata.deletion_timestamp = Some(serde_json::from_value(json!("2026-01-01T12:10:00Z")).unwrap());
    assert_eq!(failure(diagnose_kept(&[lost], "12:20:00")).reason.code, FailureCode::NodeLost);
}

#[test]
fn ended_pod_on_a_machine_that_shuts_down_is_replaced_only_with_kept_files() {
    let shut_down = moves().pop().unwrap();
    let kept =
        |status: &Value| Pod { status: serde_json::from_value(status.clone()).unwrap(), ..built(with_storage).pod };
    let pods = [kept(&shut_down)];
    assert_eq!(plan(&pods, &wanted(with_storage)), Plan::Delete(&pods[0]));
    assert_eq!(plan(&[kept(&evicted_by_kubelet())], &wanted(with_storage)), Plan::Keep);
    assert_eq!(plan(&[pod(shut_down)], &wanted(|_| {})), Plan::Keep);
}

/// A running Workshop whose files are on a volume.
fn kept_workshop() -> Value {
    let mut seen = running();
    seen["spec"] = serde_json::to_value(workshop(with_storage).spec).unwrap();
    seen["spec"]["expiresAt"] = "2026-01-01T13:00:00Z".into();
    seen
}

/// A cluster with this Workshop and one pod with this status.
fn cluster_with(seen: &Value, status: &Value) -> (Cluster, Value) {
    let mut pod = pod_object(status);
    pod["metadata"]["resourceVersion"] = "1".into();
    let claim = json!({ "metadata": {
        "name": "work-abcdefghij", "labels": { "app": "workshop", "managed-by": "workshop-launcher" },
    }});
    let cluster = with_routes(seen).listed("workshops", seen).by_now(seen).listed("pods", &pod);
    cluster.store("persistentvolumeclaims", claim);
    (cluster, pod)
}

fn count(calls: &[Call], what: &str) -> usize {
    calls.iter().filter(|(one, _)| one == what).count()
}

#[tokio::test(start_paused = true)]
async fn workshop_with_kept_files_gets_another_pod_and_reports_the_disruption() {
    let crash = |reason: &str| json!({ "at": "2026-01-01T12:10:00Z", "reason": reason, "filesLost": false });
    let seen = kept_workshop();
    let (cluster, mut leaving) = cluster_with(&seen, &disrupted("EvictionByEvictionAPI"));
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T12:10:00Z".into();
    let cluster = cluster.relisted("pods", &leaving).vanishing("pods", Duration::from_secs(20), &leaving);
    let calls = cluster.run_operator(at("12:10:01")).await;
    assert_eq!(statuses(&calls).next().unwrap()["lastCrash"], crash("evicted"));
    assert_eq!(count(&calls, "POST pods"), 1, "{calls:?}");
    assert!(statuses(&calls).all(|status| status["phase"] == "Starting"), "{calls:?}");

    // The cluster deletes the pod of a lost node at once: the operator sees only its last version.
    let (cluster, mut lost) = cluster_with(&seen, &json!({ "conditions": ready("True") }));
    lost["status"] = disrupted("DeletionByPodGC");
    let calls = cluster.vanishing("pods", Duration::from_secs(20), &lost).run_operator(at("12:09:40")).await;
    let reported: Vec<_> = statuses(&calls).filter(|status| status["lastCrash"] == crash("node-lost")).collect();
    assert_eq!(reported.first().map(|status| &status["phase"]), Some(&json!("Starting")), "{calls:?}");
    assert!(count(&calls, "POST pods") > 0, "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn reported_disruption_is_forgotten_after_a_crash_of_the_next_pod() {
    let mut seen = kept_workshop();
    let move_at = "2026-01-01T12:10:00Z";
    seen["status"]["lastCrash"] = json!({ "at": "2026-01-01T12:30:00Z", "reason": "crashed", "filesLost": false });
    // The operator learns of the old pod again: its watch reports the end late.
    let (cluster, mut lost) = cluster_with(&seen, &json!({ "conditions": ready("True") }));
    lost["status"] = disrupted("DeletionByPodGC");
    assert_eq!(lost["status"]["conditions"][0]["lastTransitionTime"], move_at);
    let calls = cluster.vanishing("pods", Duration::from_secs(20), &lost).run_operator(at("12:40:00")).await;
    assert!(statuses(&calls).all(|status| status["lastCrash"]["reason"] == "crashed"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn announced_disruption_of_a_ready_pod_is_not_reported() {
    let seen = kept_workshop();
    let mut announced = disrupted("PreemptionByScheduler");
    announced["conditions"][1]["status"] = "True".into();
    let (cluster, _) = cluster_with(&seen, &announced);
    let calls = cluster.run_operator(at("12:10:01")).await;
    assert!(
        statuses(&calls).all(|status| status["phase"] == "Running" && status["lastCrash"] == Value::Null),
        "{calls:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn next_pod_has_the_whole_start_timeout_after_the_disruption() {
    let mut seen = kept_workshop();
    // The node was lost ten minutes after the app had lost its readiness.
    seen["status"] = json!({
        "phase": "Starting", "readyAt": "2026-01-01T12:00:00Z",
        "lastCrash": { "at": "2026-01-01T12:10:00Z", "reason": "node-lost", "filesLost": false },
        "conditions": [{
            "type": "Ready", "status": "False", "reason": "Starting", "message": "preparing",
            "lastTransitionTime": "2026-01-01T12:01:00Z",
        }],
    });
    let mut service = child(&seen);
    service["metadata"]["creationTimestamp"] = "2026-01-01T12:00:00Z".into();
    let (cluster, _) = cluster_with(&seen, &json!({ "conditions": ready("False") }));
    let cluster = cluster.relisted("services", &service);
    let calls = cluster.run_operator(at("12:15:00")).await;
    assert!(statuses(&calls).all(|status| status["phase"] == "Starting"), "{calls:?}");
    let calls = cluster.run_operator(at("12:20:00")).await;
    assert_eq!(statuses(&calls).last().unwrap()["reason"], "start-timeout", "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn workshop_without_kept_files_fails_if_its_pod_vanishes_with_its_node() {
    let seen = running();
    let (cluster, mut lost) = cluster_with(&seen, &json!({ "conditions": ready("True") }));
    lost["status"] = disrupted("DeletionByPodGC");
    let calls = cluster.vanishing("pods", Duration::from_secs(20), &lost).run_operator(at("12:09:40")).await;
    let last = statuses(&calls).last().unwrap();
    assert_eq!((&last["phase"], &last["reason"]), (&json!("Failed"), &json!("node-lost")), "{calls:?}");
    assert_eq!(count(&calls, "POST pods"), 0, "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn pod_that_is_deleted_by_hand_is_created_again_without_a_report() {
    let seen = running();
    let (cluster, pod) = cluster_with(&seen, &json!({ "conditions": ready("True") }));
    let calls = cluster.vanishing("pods", Duration::from_secs(20), &pod).run_operator(at("12:09:40")).await;
    assert!(count(&calls, "POST pods") > 0, "{calls:?}");
    assert!(statuses(&calls).all(|status| status["lastCrash"] == Value::Null), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn cancelled_disruption_is_not_reported_when_the_pod_is_deleted_by_hand() {
    let seen = kept_workshop();
    let mut announced = disrupted("PreemptionByScheduler");
    announced["conditions"][1]["status"] = "True".into();
    let (cluster, mut pod) = cluster_with(&seen, &announced);
    pod["metadata"]["resourceVersion"] = "2".into();
    pod["status"]["conditions"][0]["status"] = "False".into();
    let after = Duration::from_secs(10);
    let calls = cluster.changing("pods", after, &pod).vanishing("pods", after, &pod).run_operator(at("12:10:01")).await;
    assert!(count(&calls, "POST pods") > 0, "{calls:?}");
    assert!(statuses(&calls).all(|status| status["lastCrash"] == Value::Null), "{calls:?}");
}
