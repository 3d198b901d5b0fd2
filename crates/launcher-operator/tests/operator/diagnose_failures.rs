//! Failure codes, texts and details of a diagnosis.

use k8s_openapi::api::core::v1::Pod;
use launcher_domain::FailureCode;
use launcher_domain::StartStep::{Preparing, WaitingForRoom};
use launcher_operator::diagnose::{DetailSource, Failure};
use launcher_operator::prune_pod;
use serde_json::{Value, json};

use crate::diagnose::{Diagnosis, START, app, diagnose_pods, failure, pod, ready, waiting};

#[test]
fn workshop_with_container_config_error_or_image_never_pulled_fails_at_once_with_kubelet_message() {
    for (reason, code) in [
        ("CreateContainerConfigError", FailureCode::InvalidSpec),
        ("InvalidImageName", FailureCode::ImagePullFailed),
        ("ErrImageNeverPull", FailureCode::ImagePullFailed),
    ] {
        let pod = app(json!({ "waiting": { "reason": reason, "message": "image\n  is   wrong" } }), json!(null));
        let Failure { reason, details, .. } = failure(diagnose_pods(&[pod], START));
        assert_eq!((reason.code, details), (code, None));
        assert!(reason.message.ends_with(" image is wrong"), "{}", reason.message);
    }
}

#[test]
fn container_waits_while_the_kubelet_syncs_its_cache_and_fails_if_the_secret_is_missing() {
    let waiting_for = |message: &str| {
        let waits = json!({ "waiting": { "reason": "CreateContainerConfigError", "message": message } });
        diagnose_pods(&[app(waits, json!(null))], START)
    };
    for message in [
        "failed to sync secret cache: timed out waiting for the condition",
        "failed to sync configmap cache: timed out waiting for the condition",
    ] {
        assert_eq!(waiting_for(message), waiting(Preparing, "12:10:00"), "{message}");
    }
    for message in ["secret \"course\" not found", "couldn't find key token in Secret workshops/course"] {
        assert_eq!(failure(waiting_for(message)).reason.code, FailureCode::InvalidSpec, "{message}");
    }
}

#[test]
fn app_waits_a_minute_for_the_secret_with_its_launch_parameters() {
    let message = "secret \"intro-1-parameters\" not found";
    let waits = json!({ "waiting": { "reason": "CreateContainerConfigError", "message": message } });
    let pods = [app(waits, json!(null))];
    assert_eq!(diagnose_pods(&pods, "12:00:59"), waiting(Preparing, "12:01:00"));
    let reason = failure(diagnose_pods(&pods, "12:01:00")).reason;
    assert_eq!(reason.code, FailureCode::StartTimeout);
    assert!(reason.message.contains("intro-1-parameters"), "{}", reason.message);
    // The minute begins when the pod has a node.
    let mut late = pods[0].clone();
    let scheduled = &mut late.status.as_mut().unwrap().conditions.as_mut().unwrap()[0];
    scheduled.last_transition_time = Some(serde_json::from_value(json!("2026-01-01T12:00:30Z")).unwrap());
    assert_eq!(diagnose_pods(&[late], "12:01:00"), waiting(Preparing, "12:01:30"));
}

#[test]
fn failure_text_of_crash_names_the_container_and_its_exit_code() {
    for (container, part) in [("app", "app"), ("sidecar", "sidecar")] {
        let pod = pod(json!({ "containerStatuses": [{
            "name": container, "image": "i", "imageID": "", "ready": false, "restartCount": 1,
            "state": { "waiting": { "reason": "CrashLoopBackOff" } },
            "lastState": { "terminated": { "exitCode": 7, "reason": "Error" } },
        }]}));
        let Failure { reason, details, .. } = failure(diagnose_pods(&[pod], START));
        let detail = format!("The {part} terminated repeatedly with exit code 7.");
        assert_eq!(reason.message, format!("The workshop's program stopped unexpectedly. {detail}"));
        assert_eq!(
            details,
            Some(DetailSource::Log { pod: "intro-1".to_owned(), container: container.to_owned(), has_ended: false })
        );
    }
}

#[test]
fn crash_loop_without_last_termination_fails_with_log() {
    let pod = app(json!({ "waiting": { "reason": "CrashLoopBackOff" } }), json!(null));
    let Failure { reason, details, .. } = failure(diagnose_pods(&[pod], START));
    assert_eq!(reason.message, "The workshop's program stopped unexpectedly.");
    assert_eq!(
        details,
        Some(DetailSource::Log { pod: "intro-1".to_owned(), container: "app".to_owned(), has_ended: false })
    );
}

#[test]
fn command_that_cannot_start_fails_with_the_message_of_the_runtime() {
    for (reason, message, expected) in [
        ("StartError", json!("exec: \"nope\": not found"), "exec: \"nope\": not found"),
        ("ContainerCannotRun", json!(null), "The command cannot be started."),
    ] {
        let ended = json!({ "terminated": { "exitCode": 128, "reason": reason, "message": message } });
        let pod = app(json!({ "waiting": { "reason": "CrashLoopBackOff" } }), ended);
        let reason = failure(diagnose_pods(&[pod], START)).reason;
        assert_eq!(reason.message, format!("The workshop's template has settings that cannot run. {expected}"));
    }
}

#[test]
fn oom_kill_of_sidecar_loses_no_work_and_is_no_failure() {
    let pod = pod(json!({ "conditions": ready("True"), "containerStatuses": [{
        "name": "sidecar", "image": "i", "imageID": "", "ready": true, "restartCount": 1,
        "state": { "running": {} }, "lastState": { "terminated": { "exitCode": 137, "reason": "OOMKilled" } },
    }]}));
    assert_eq!(diagnose_pods(&[pod], START), Diagnosis::Ready);
}

#[test]
fn failure_of_evicted_or_lost_pod_has_message_of_pod_or_its_condition() {
    let why = |reason: &str, message: Value| json!([{ "type": "DisruptionTarget", "status": "True", "reason": reason, "message": message }]);
    for (status, detail) in [
        (json!({ "reason": "Evicted", "message": "low on memory" }), " low on memory"),
        (json!({ "conditions": why("TerminationByKubelet", json!("the node shuts down")) }), " the node shuts down"),
        (json!({ "reason": "NodeLost", "message": "gone", "conditions": why("DeletionByPodGC", json!("x")) }), " gone"),
        (json!({ "conditions": why("DeletionByPodGC", json!(null)) }), "The cluster lost the node of this workshop."),
    ] {
        let message = failure(diagnose_pods(&[pod(status)], START)).reason.message;
        assert!(message.ends_with(detail), "{message}");
    }
}

#[test]
fn disruption_that_was_cancelled_or_is_unknown_is_no_failure() {
    for (status, reason) in [("False", "PreemptionByScheduler"), ("True", "SomethingNew")] {
        let pod = pod(json!({ "conditions": [
            { "type": "DisruptionTarget", "status": status, "reason": reason },
            { "type": "Ready", "status": "True" },
        ]}));
        assert_eq!(diagnose_pods(&[pod], START), Diagnosis::Ready);
    }
}

#[test]
fn evicted_pod_fails_even_with_ready_replacement() {
    let mut gone = pod(json!({ "reason": "Evicted" }));
    gone.metadata.deletion_timestamp = gone.metadata.creation_timestamp.clone();
    let next = pod(json!({ "conditions": ready("True") }));
    assert_eq!(failure(diagnose_pods(&[next, gone], START)).reason.code, FailureCode::Evicted);
}

#[test]
fn crash_of_terminating_pod_is_no_failure_of_its_successor() {
    let ended = json!({ "terminated": { "exitCode": 3, "reason": "Error" } });
    let mut leaving = app(json!({ "waiting": { "reason": "CrashLoopBackOff" } }), ended);
    leaving.metadata.deletion_timestamp = leaving.metadata.creation_timestamp.clone();
    assert_eq!(diagnose_pods(&[leaving], "12:00:01"), waiting(Preparing, "12:10:00"));
}

#[test]
fn pod_that_waits_for_scheduling_gates_is_not_unschedulable() {
    let pod = pod(json!({ "conditions": [{
        "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
        "lastTransitionTime": "2026-01-01T12:00:00Z",
    }]}));
    assert_eq!(diagnose_pods(&[pod], "12:05:00"), waiting(Preparing, "12:10:00"));
}

#[test]
fn unschedulable_pod_without_transition_time_waits_from_its_creation() {
    let pod = pod(json!({ "conditions": [{ "type": "PodScheduled", "status": "False", "reason": "Unschedulable" }] }));
    assert_eq!(diagnose_pods(&[pod], "12:00:30"), waiting(WaitingForRoom, "12:01:00"));
}

#[test]
fn long_message_of_the_cluster_is_cut_to_300_characters() {
    for (length, cut) in [(300, false), (301, true)] {
        let message = "é".repeat(length);
        let pod = app(json!({ "waiting": { "reason": "InvalidImageName", "message": message } }), json!(null));
        let message = failure(diagnose_pods(&[pod], START)).reason.message;
        assert_eq!(message.matches('é').count(), 300);
        assert_eq!(message.ends_with('…'), cut);
    }
}

#[test]
fn start_timeout_without_pod_has_no_details() {
    let Failure { reason, details, .. } = failure(diagnose_pods(&[], "12:10:00"));
    assert_eq!((reason.code, details), (FailureCode::StartTimeout, None));
    assert_eq!(reason.message, "The workshop did not become ready in time.");
}

#[test]
fn pruned_pod_keeps_only_what_the_diagnosis_reads() {
    let owners =
        json!([{ "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "name": "intro", "uid": "u" }]);
    let mut pod: Pod = serde_json::from_value(json!({
        "metadata": {
            "name": "intro", "labels": {
                "workshoplauncher.dev/workshop": "intro", "workshoplauncher.dev/volume": "work-a", "app": "workshop",
            },
            "annotations": { "a": "b" }, "managedFields": [{ "manager": "kubelet" }],
            "ownerReferences": owners,
        },
        "spec": { "containers": [{ "name": "app" }] },
        "status": {
            "podIP": "10.0.0.7", "phase": "Failed", "reason": "Evicted", "message": "low on memory",
            "conditions": [{ "type": "Ready", "status": "True" }, { "type": "Initialized", "status": "True" }],
            "initContainerStatuses": [{ "name": "isolation", "image": "i", "imageID": "x", "ready": true, "restartCount": 0 }],
            "containerStatuses": [{
                "name": "app", "image": "i", "imageID": "x", "ready": true, "restartCount": 2, "containerID": "c",
                "state": { "running": {} }, "lastState": { "terminated": { "exitCode": 3 } },
            }],
        },
    }))
    .unwrap();
    prune_pod(&mut pod);
    let container = |name: &str| json!({ "name": name, "image": "", "imageID": "", "ready": false, "restartCount": 0 });
    let mut app = container("app");
    app["restartCount"] = 2.into();
    app["state"] = json!({ "running": {} });
    app["lastState"] = json!({ "terminated": { "exitCode": 3 } });
    let expected = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "intro",
            "labels": { "workshoplauncher.dev/workshop": "intro", "workshoplauncher.dev/volume": "work-a" },
            "ownerReferences": owners,
        },
        "status": {
            "phase": "Failed", "reason": "Evicted", "message": "low on memory", "conditions": [{ "type": "Ready", "status": "True" }],
            "initContainerStatuses": [container("isolation")], "containerStatuses": [app],
        },
    });
    assert_eq!(serde_json::to_value(&pod).unwrap(), expected);
}
