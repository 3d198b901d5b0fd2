//! Tests of the diagnosis: pods as the cluster reports them, and the diagnosed state.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use launcher_domain::FailureCode;
use launcher_domain::StartStep::{self, Preparing, PullingImage, RestartingApp, StartingApp, WaitingForRoom};
use launcher_domain::instance::ObservedPhase;
use launcher_operator::diagnose::{self, DetailSource, Failure, Look};
use launcher_operator::prune_pod;
use launcher_workshop::lifecycle::{Action, Decision, Routes, decide};
use launcher_workshop::{Phase, WorkshopStorage};
use serde_json::{Value, json};

use crate::support::{at, settings, workshop};

pub(crate) const START: &str = "12:00:00";

pub(crate) fn pod(status: Value) -> Pod {
    serde_json::from_value(json!({
        "metadata": { "name": "intro-1", "creationTimestamp": "2026-01-01T12:00:00Z" },
        "status": status,
    }))
    .unwrap()
}

pub(crate) fn app(state: Value, last: Value) -> Pod {
    pod(json!({
        "conditions": [{ "type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T12:00:00Z" }],
        "containerStatuses": [{
            "name": "app", "image": "i", "imageID": "", "ready": false,
            "restartCount": i32::from(!last.is_null()), "state": state, "lastState": last,
        }],
    }))
}

/// The decision about a workload.
#[derive(Debug, PartialEq)]
pub(crate) enum Diagnosis {
    Ready,
    Waiting { step: StartStep, until: Timestamp, stuck_pod: Option<String>, silent_pod: Option<String> },
    Failed(Failure),
}

/// Diagnoses pods as the operator caches them.
pub(crate) fn diagnose_pods(pods: &[Pod], now: &str) -> Diagnosis {
    diagnose_since(None, pods, now)
}

/// Diagnoses the pods of a workshop with kept files.
pub(crate) fn diagnose_kept(pods: &[Pod], now: &str) -> Diagnosis {
    decide_by(true, None, pods, now)
}

/// Diagnoses pods as the operator caches them. Their image pull has failed since the time `failed`; `None` if no pull
/// fails.
fn diagnose_since(failed: Option<&str>, pods: &[Pod], now: &str) -> Diagnosis {
    decide_by(false, failed, pods, now)
}

fn decide_by(keeps_files: bool, failed: Option<&str>, pods: &[Pod], now: &str) -> Diagnosis {
    let mut pods = pods.to_vec();
    pods.iter_mut().for_each(prune_pod);
    let storage = WorkshopStorage { volume: "work".to_owned(), size: "1Gi".to_owned(), path: "/work".to_owned() };
    let workshop = workshop(|workshop| workshop.spec.storage = keeps_files.then_some(storage));
    let look = Look {
        workshop: &workshop,
        pods: &pods,
        gone: None,
        created: Some(at(START)),
        seen: at(START),
        pull_fails_since: failed.map(at),
        routes: Routes::Own,
    };
    let diagnose::Diagnosis { workload, stuck_pod, silent_pod, .. } = diagnose::diagnose(look, &settings(), at(now));
    let Decision { status, action } = decide(&workshop, workload.into(), at(now));
    match (status.phase, action, status.observation().phase) {
        (Phase::Running, ..) => Diagnosis::Ready,
        (Phase::Failed, Action::Explain(failure), _) => Diagnosis::Failed(failure),
        (Phase::Failed, _, ObservedPhase::Failed(reason)) => Diagnosis::Failed(reason.into()),
        (Phase::Starting, Action::WaitUntil(Some(until)), _) => {
            Diagnosis::Waiting { step: status.report.start_step.unwrap(), until, stuck_pod, silent_pod }
        }
        other => unreachable!("{other:?}"),
    }
}

pub(crate) fn waiting(step: StartStep, until: &str) -> Diagnosis {
    Diagnosis::Waiting { step, until: at(until), stuck_pod: None, silent_pod: None }
}

pub(crate) fn failure(diagnosis: Diagnosis) -> Failure {
    let Diagnosis::Failed(failure) = diagnosis else { unreachable!("not failed: {diagnosis:?}") };
    failure
}

pub(crate) fn ready(status: &str) -> Value {
    json!([{ "type": "Ready", "status": status }])
}

#[test]
fn workload_is_ready_if_ready_condition_of_its_pod_is_true() {
    assert_eq!(diagnose_pods(&[pod(json!({ "conditions": ready("True") }))], "12:00:01"), Diagnosis::Ready);
    let not = diagnose_pods(&[pod(json!({ "conditions": ready("False") }))], "12:00:01");
    assert_eq!(not, waiting(Preparing, "12:10:00"));
    assert_eq!(diagnose_pods(&[], "12:00:01"), waiting(Preparing, "12:10:00"));
}

#[test]
fn terminating_pod_is_not_ready() {
    let mut leaving = pod(json!({ "conditions": ready("True") }));
    leaving.metadata.deletion_timestamp = leaving.metadata.creation_timestamp.clone();
    assert_eq!(diagnose_pods(&[leaving], "12:00:01"), waiting(Preparing, "12:10:00"));
}

#[test]
fn image_pull_error_fails_after_15_seconds() {
    let pod = app(json!({ "waiting": { "reason": "ImagePullBackOff", "message": "not found" } }), json!(null));
    let pods = std::slice::from_ref(&pod);
    // The pull failed 40 seconds after the start. The grace period begins at the failure.
    assert_eq!(diagnose_pods(pods, "12:00:40"), waiting(Preparing, "12:00:55"));
    let seen = Some("12:00:40");
    assert_eq!(diagnose_since(seen, pods, "12:00:54"), waiting(Preparing, "12:00:55"));
    let failure = failure(diagnose_since(seen, pods, "12:00:55"));
    assert_eq!(failure.reason.code, FailureCode::ImagePullFailed);
    assert!(failure.reason.message.ends_with("not found"), "{}", failure.reason.message);
}

#[test]
fn invalid_image_name_fails_at_once() {
    let pod = app(json!({ "waiting": { "reason": "InvalidImageName" } }), json!(null));
    assert_eq!(failure(diagnose_pods(&[pod], START)).reason.code, FailureCode::ImagePullFailed);
}

#[test]
fn app_in_crash_loop_fails_with_exit_code_and_log() {
    let pod = app(
        json!({ "waiting": { "reason": "CrashLoopBackOff" } }),
        json!({ "terminated": { "exitCode": 3, "reason": "Error" } }),
    );
    let failure = failure(diagnose_pods(&[pod], "12:00:05"));
    assert_eq!(failure.reason.code, FailureCode::Crashed);
    assert!(failure.reason.message.contains("exit code 3"), "{}", failure.reason.message);
    assert_eq!(
        failure.details,
        Some(DetailSource::Log { pod: "intro-1".to_owned(), container: "app".to_owned(), has_ended: false })
    );
}

#[test]
fn app_that_exited_once_is_reported_as_restarting() {
    let pod = app(json!({ "running": {} }), json!({ "terminated": { "exitCode": 0, "reason": "Completed" } }));
    assert_eq!(diagnose_pods(&[pod], "12:00:05"), waiting(RestartingApp, "12:10:00"));
}

#[test]
fn container_with_missing_command_fails_as_invalid_spec() {
    let pod = app(
        json!({ "waiting": { "reason": "CrashLoopBackOff" } }),
        json!({ "terminated": { "exitCode": 128, "reason": "StartError", "message": "exec: \"nope\": not found" } }),
    );
    assert_eq!(failure(diagnose_pods(&[pod], "12:00:05")).reason.code, FailureCode::InvalidSpec);
}

#[test]
fn oom_killed_app_fails_even_after_its_restart() {
    let killed = json!({ "terminated": { "exitCode": 137, "reason": "OOMKilled" } });
    for (state, last) in [(killed.clone(), json!(null)), (json!({ "running": {} }), killed)] {
        assert_eq!(failure(diagnose_pods(&[app(state, last)], "12:00:05")).reason.code, FailureCode::OutOfMemory);
    }
}

#[test]
fn unschedulable_pod_fails_after_one_minute() {
    let pod = pod(json!({ "conditions": [{
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/1 nodes are available", "lastTransitionTime": "2026-01-01T12:01:00Z",
    }]}));
    assert_eq!(diagnose_pods(std::slice::from_ref(&pod), "12:01:59"), waiting(WaitingForRoom, "12:02:00"));
    let failure = failure(diagnose_pods(&[pod], "12:02:00"));
    assert_eq!(failure.reason.code, FailureCode::Unschedulable);
    assert!(failure.reason.message.contains("0/1 nodes"), "{}", failure.reason.message);
}

#[test]
fn evicted_or_lost_pod_fails_with_its_reason() {
    for (status, code) in [
        (json!({ "phase": "Failed", "reason": "Evicted", "message": "low on memory" }), FailureCode::Evicted),
        (json!({ "reason": "NodeLost" }), FailureCode::NodeLost),
        (disrupted("DeletionByTaintManager"), FailureCode::NodeLost),
        (disrupted("PreemptionByScheduler"), FailureCode::Evicted),
        (disrupted("EvictionByEvictionAPI"), FailureCode::Evicted),
    ] {
        assert_eq!(failure(diagnose_pods(&[pod(status)], "12:00:05")).reason.code, code);
    }
}

fn disrupted(reason: &str) -> Value {
    json!({ "conditions": [{ "type": "DisruptionTarget", "status": "True", "reason": reason }] })
}

#[test]
fn terminating_pod_with_ready_replacement_is_ready() {
    let mut gone = pod(json!({ "conditions": ready("False") }));
    gone.metadata.deletion_timestamp = gone.metadata.creation_timestamp.clone();
    let next = pod(json!({ "conditions": ready("True") }));
    assert_eq!(diagnose_pods(&[gone, next], "12:00:05"), Diagnosis::Ready);
}

#[test]
fn unresponsive_app_times_out_with_its_log() {
    let pod = app(json!({ "running": { "startedAt": "2026-01-01T12:09:50Z" } }), json!(null));
    assert_eq!(diagnose_pods(std::slice::from_ref(&pod), "12:09:59"), waiting(StartingApp, "12:10:00"));
    let failure = failure(diagnose_pods(&[pod], "12:10:00"));
    assert_eq!(failure.reason.code, FailureCode::StartTimeout);
    assert!(failure.reason.message.contains("does not answer"), "{}", failure.reason.message);
    assert!(matches!(failure.details, Some(DetailSource::Log { .. })));
}

#[test]
fn listening_sockets_of_an_app_are_searched_after_20_seconds_and_every_30_seconds() {
    let pod = app(json!({ "running": { "startedAt": "2026-01-01T12:01:00Z" } }), json!(null));
    let pods = std::slice::from_ref(&pod);
    assert_eq!(diagnose_pods(pods, "12:01:19"), waiting(StartingApp, "12:01:20"));
    let silent = |until| Diagnosis::Waiting {
        step: StartingApp,
        until: at(until),
        stuck_pod: None,
        silent_pod: Some("intro-1".to_owned()),
    };
    assert_eq!(diagnose_pods(pods, "12:01:20"), silent("12:01:50"));
    assert_eq!(diagnose_pods(pods, "12:09:45"), silent("12:10:00"));
}

#[test]
fn pod_that_never_runs_times_out_with_its_events() {
    let pod = app(json!({ "waiting": { "reason": "ContainerCreating" } }), json!(null));
    let failure = failure(diagnose_pods(&[pod], "12:10:00"));
    assert_eq!(failure.reason.code, FailureCode::StartTimeout);
    assert_eq!(failure.details, Some(DetailSource::Events { pod: "intro-1".to_owned() }));
}

#[test]
fn start_step_is_derived_from_pod_status() {
    let creating = app(json!({ "waiting": { "reason": "ContainerCreating" } }), json!(null));
    let mut pulling = creating.clone();
    let sandbox = json!({ "type": "PodReadyToStartContainers", "status": "True" });
    let conditions = &mut pulling.status.as_mut().unwrap().conditions;
    conditions.get_or_insert_default().push(serde_json::from_value(sandbox).unwrap());
    let running = app(json!({ "running": {} }), json!(null));
    let ended = app(json!({ "terminated": { "exitCode": 1 } }), json!(null));
    for (pod, step) in [(creating, Preparing), (pulling, PullingImage), (running, StartingApp), (ended, RestartingApp)]
    {
        assert_eq!(diagnose_pods(&[pod], "12:00:05"), waiting(step, "12:10:00"));
    }
}
