//! Tests of the isolation init container, which waits until the network policies are enforced, and of its diagnosis.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use launcher_domain::{FailureCode, StartStep};
use launcher_operator::diagnose::{DetailSource, Failure};
use launcher_operator::prune_pod;
use serde_json::{Value, json};

use crate::diagnose::{Diagnosis, diagnose_pods};
use crate::support::{at, pod, settings};

#[test]
fn isolation_init_container_has_sidecar_image_and_restrictions() {
    let mut settings = settings();
    settings.wait_for_isolation = true;
    settings.isolation_timeout = Duration::from_secs(120);
    for profile in ["restricted", "baseline"] {
        let pod = pod(&settings, profile);
        let init = pod.init_containers.unwrap();
        assert_eq!(init.len(), 1);
        assert_eq!(init[0].image, pod.containers[1].image);
        assert_eq!(init[0].args.as_deref(), Some(&["wait-isolated".to_owned()][..]));
        let env = serde_json::to_value(&init[0].env).unwrap();
        assert_eq!(env, json!([{ "name": "SERVICE_ISOLATION_TIMEOUT", "value": "120" }]));
        let context = init[0].security_context.as_ref().unwrap();
        assert_eq!(
            context,
            pod.containers[1].security_context.as_ref().unwrap(),
            "the init container has the sidecar's security context"
        );
        // The same requests as the sidecar's: the init container must not increase the pod's requests.
        let requests = |resources: &Option<_>| serde_json::to_value(resources).unwrap()["requests"].clone();
        assert_eq!(requests(&init[0].resources), requests(&pod.containers[1].resources));
    }
}

#[test]
fn pod_without_isolation_setting_has_no_init_container() {
    assert_eq!(pod(&settings(), "restricted").init_containers, None);
}

#[test]
fn user_namespaces_setting_applies_to_baseline_pods_only() {
    let mut settings = settings();
    assert_eq!(pod(&settings, "baseline").host_users, None);
    settings.user_namespaces = true;
    assert_eq!(pod(&settings, "baseline").host_users, Some(false));
    assert_eq!(pod(&settings, "restricted").host_users, None);
}

/// A pod whose isolation init container is in this state, and whose app waits for it.
fn waits(state: &Value, last: &Value) -> Pod {
    waits_for("isolation", state, last)
}

/// A pod whose init container with this name is in this state, and whose app waits for it.
fn waits_for(init: &str, state: &Value, last: &Value) -> Pod {
    let status = |name: &str, state: &Value, last: &Value| {
        json!({
            "name": name, "image": "i", "imageID": "", "ready": false, "restartCount": i32::from(!last.is_null()),
            "state": state, "lastState": last,
        })
    };
    let waiting = json!({ "waiting": { "reason": "PodInitializing" } });
    let mut pod = serde_json::from_value(json!({
        "metadata": { "name": "intro-1", "creationTimestamp": "2026-01-01T12:00:00Z" },
        "status": {
            "conditions": [{ "type": "PodReadyToStartContainers", "status": "True" }],
            "initContainerStatuses": [status(init, state, last)],
            "containerStatuses": [status("app", &waiting, &Value::Null), status("sidecar", &waiting, &Value::Null)],
        },
    }))
    .unwrap();
    prune_pod(&mut pod);
    pod
}

fn diagnose_pod(pod: &Pod) -> Diagnosis {
    diagnose_pods(std::slice::from_ref(pod), "12:00:05")
}

fn failed(pod: &Pod) -> Failure {
    let Diagnosis::Failed(failure) = diagnose_pod(pod) else { unreachable!("not failed: {:?}", diagnose_pod(pod)) };
    failure
}

#[test]
fn pod_that_is_not_isolated_at_timeout_fails_with_remedy() {
    let ended = json!({ "terminated": { "exitCode": 3, "reason": "Error", "message": "network-not-isolated" } });
    for (state, last) in [(&ended, &Value::Null), (&json!({ "running": {} }), &ended)] {
        let Failure { reason, details, .. } = failed(&waits(state, last));
        assert_eq!(reason.code, FailureCode::NetworkNotIsolated);
        assert_eq!(reason.code.as_str(), "network-not-isolated");
        assert!(reason.remedy.contains("network policies"), "{}", reason.remedy);
        assert_eq!(
            details,
            Some(DetailSource::Log { pod: "intro-1".to_owned(), container: "isolation".to_owned(), has_ended: false })
        );
    }
}

#[test]
fn crash_of_isolation_check_is_reported_as_network_check() {
    let ended = json!({ "terminated": { "exitCode": 2, "reason": "Error" } });
    let reason = failed(&waits(&json!({ "waiting": { "reason": "CrashLoopBackOff" } }), &ended)).reason;
    assert_eq!(reason.code, FailureCode::Crashed);
    assert!(reason.message.contains("network check"), "{}", reason.message);
}

#[test]
fn init_container_of_the_pod_template_is_named_if_it_crashes() {
    let ended = json!({ "terminated": { "exitCode": 2, "reason": "Error" } });
    let pod = waits_for("fetch", &json!({ "waiting": { "reason": "CrashLoopBackOff" } }), &ended);
    let Failure { reason, details, .. } = failed(&pod);
    assert_eq!(reason.code, FailureCode::Crashed);
    assert!(reason.message.contains("The init container fetch terminated repeatedly with exit code 2."), "{reason:?}");
    assert_eq!(
        details,
        Some(DetailSource::Log { pod: "intro-1".to_owned(), container: "fetch".to_owned(), has_ended: false })
    );
}

#[test]
fn start_step_is_preparing_until_the_pod_is_isolated() {
    for init in ["isolation", "fetch"] {
        let step = |state: Value| match diagnose_pod(&waits_for(init, &state, &Value::Null)) {
            Diagnosis::Waiting { step, .. } => step,
            other => unreachable!("{other:?}"),
        };
        assert_eq!(step(json!({ "running": {} })), StartStep::Preparing);
        assert_eq!(step(json!({ "terminated": { "exitCode": 0 } })), StartStep::PullingImage);
    }
}

#[test]
fn image_pull_error_of_init_container_is_tolerated_for_15_seconds() {
    let pulls = json!({ "waiting": { "reason": "ErrImagePull", "message": "not found" } });
    let Diagnosis::Waiting { until, .. } = diagnose_pod(&waits(&pulls, &Value::Null)) else {
        unreachable!("not waiting")
    };
    assert_eq!(until, at("12:00:20"), "15 seconds after it was first seen");
}
