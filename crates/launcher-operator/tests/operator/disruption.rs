//! Tests of pods that the cluster ends: another pod continues with files that are outside the pod.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use launcher_domain::FailureCode;
use launcher_domain::StartStep::Preparing;
use launcher_operator::diagnose::{Diagnosis, ObservedWorkload, diagnose, prune};
use launcher_operator::workload::Plan;
use serde_json::{Value, json};

use crate::cluster::{Cluster, statuses, with_routes};
use crate::diagnose::{failure, ready, waiting};
use crate::storage::with_storage;
use crate::support::{at, built, pod_object, running, settings, workshop};
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

fn diagnose_kept(pods: &[Pod], now: &str) -> Diagnosis {
    let mut pods = pods.to_vec();
    pods.iter_mut().for_each(prune);
    let observed = ObservedWorkload {
        deployment: None,
        pods: &pods,
        waiting_since: at("12:00:00"),
        pull_fails_since: None,
        crash_verdict: None,
        keeps_files: true,
    };
    diagnose(&observed, &settings(), at(now))
}

#[test]
fn workshop_with_kept_files_waits_for_another_pod_after_a_disruption() {
    for status in moves() {
        assert_eq!(diagnose_kept(&[pod(status.clone())], "12:00:01"), waiting(Preparing, "12:10:00"), "{status}");
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
    assert_eq!(failure(diagnose_kept(&[lost], "12:10:00")).reason.code, FailureCode::NodeLost);
}

#[test]
fn ended_pod_on_a_machine_that_shuts_down_is_replaced_only_with_kept_files() {
    let shut_down = moves().pop().unwrap();
    let kept =
        |status: &Value| Pod { status: serde_json::from_value(status.clone()).unwrap(), ..built(with_storage).pod };
    let pods = [kept(&shut_down)];
    assert_eq!(plan(None, &pods, &wanted(with_storage)), Plan::Delete(&pods[0]));
    assert_eq!(plan(None, &[kept(&evicted_by_kubelet())], &wanted(with_storage)), Plan::Keep);
    assert_eq!(plan(None, &[pod(shut_down)], &wanted(|_| {})), Plan::Keep);
}

#[tokio::test(start_paused = true)]
async fn workshop_with_kept_files_gets_another_pod_and_reports_the_disruption() {
    let mut seen = running();
    seen["spec"] = serde_json::to_value(workshop(with_storage).spec).unwrap();
    seen["spec"]["expiresAt"] = "2026-01-01T13:00:00Z".into();
    let mut leaving = pod_object(&disrupted("EvictionByEvictionAPI"));
    leaving["metadata"]["resourceVersion"] = "1".into();
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T12:10:00Z".into();
    let claim = json!({ "metadata": {
        "name": "work-abcdefghij", "labels": { "app": "workshop", "managed-by": "workshop-launcher" },
    }});
    let cluster: Cluster = with_routes(&seen).listed("workshops", &seen).by_now(&seen).listed("pods", &leaving);
    cluster.store("persistentvolumeclaims", claim);
    let calls = cluster.vanishing("pods", Duration::from_secs(20), &leaving).run_operator(at("12:10:01")).await;
    let first = statuses(&calls).next().unwrap();
    assert_eq!(first["phase"], "Starting");
    let crash = json!({ "at": "2026-01-01T12:10:00Z", "reason": "evicted", "filesLost": false });
    assert_eq!(first["lastCrash"], crash);
    assert_eq!(calls.iter().filter(|(what, _)| what == "POST pods").count(), 1, "{calls:?}");
    assert!(statuses(&calls).all(|status| status["phase"] == "Starting"), "{calls:?}");
}
