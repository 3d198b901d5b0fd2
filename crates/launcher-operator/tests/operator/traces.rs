//! Tests of the steps in the trace of a start.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use launcher_operator::traces::{Step, steps};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use serde_json::{Value, json};

use crate::support::{at, workshop};

fn launched() -> Workshop {
    workshop(|workshop| workshop.metadata.creation_timestamp = Some(Time(at("12:00:00"))))
}

fn pod(conditions: &[(&str, &str)], state: Value) -> Pod {
    let conditions: Vec<_> = conditions
        .iter()
        .map(|(kind, time)| json!({ "type": kind, "status": "True", "lastTransitionTime": format!("2026-01-01T{time}Z") }))
        .collect();
    serde_json::from_value(json!({
        "metadata": { "name": "intro-1", "creationTimestamp": "2026-01-01T12:00:01Z" },
        "status": { "conditions": conditions, "containerStatuses": [{
            "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": state,
        }] },
    }))
    .unwrap()
}

fn step(name: &'static str, from: &str, to: &str) -> Step {
    Step { name, from: at(from), to: at(to), failure: None }
}

fn status(phase: Phase, reason: Option<&str>) -> WorkshopStatus {
    WorkshopStatus { phase, reason: reason.map(str::to_owned), ..WorkshopStatus::default() }
}

fn now() -> Timestamp {
    at("12:00:20")
}

#[test]
fn trace_of_successful_start_has_all_steps() {
    let runs = json!({ "running": { "startedAt": "2026-01-01T12:00:15Z" } });
    let all = [("PodScheduled", "12:00:02"), ("PodReadyToStartContainers", "12:00:04")];
    let told = steps(&launched(), &[pod(&all, runs.clone())], &status(Phase::Running, None), now());
    let expected = [
        step("schedule", "12:00:00", "12:00:02"),
        step("prepare", "12:00:02", "12:00:04"),
        step("pull-image", "12:00:04", "12:00:15"),
        step("start-app", "12:00:15", "12:00:20"),
    ];
    assert_eq!(told, expected);
    let told = steps(&launched(), &[pod(&all[..1], runs)], &status(Phase::Running, None), now());
    assert_eq!(told[1], step("pull-image", "12:00:02", "12:00:15"), "a time that is missing costs its own step only");
}

#[test]
fn trace_has_isolation_step_when_pod_waits_for_isolation() {
    let runs = json!({ "running": { "startedAt": "2026-01-01T12:00:15Z" } });
    let conditions = [("PodScheduled", "12:00:02"), ("PodReadyToStartContainers", "12:00:04")];
    let with = |ended: Value, app: Value| {
        let mut pod = serde_json::to_value(pod(&conditions, app)).unwrap();
        pod["status"]["initContainerStatuses"] = json!([{
            "name": "isolation", "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": ended,
        }]);
        serde_json::from_value::<Pod>(pod).unwrap()
    };
    let ended = json!({ "terminated": { "exitCode": 0, "finishedAt": "2026-01-01T12:00:06Z" } });
    let told = steps(&launched(), &[with(ended, runs)], &status(Phase::Running, None), now());
    assert_eq!(told[2..4], [step("isolate", "12:00:04", "12:00:06"), step("pull-image", "12:00:06", "12:00:15")]);
    let never = with(json!({ "terminated": { "exitCode": 3 } }), json!({}));
    let told = steps(&launched(), &[never], &status(Phase::Failed, Some("network-not-isolated")), now());
    let last = told.last().unwrap();
    assert_eq!((last.name, last.failure.as_deref()), ("isolate", Some("network-not-isolated")));
}

#[test]
fn trace_has_a_step_for_course_material_after_the_isolation() {
    let runs = json!({ "running": { "startedAt": "2026-01-01T12:00:15Z" } });
    let conditions = [("PodScheduled", "12:00:02"), ("PodReadyToStartContainers", "12:00:04")];
    let ended = |name: &str, at: &str| {
        let state = json!({ "terminated": { "exitCode": 0, "finishedAt": format!("2026-01-01T{at}Z") } });
        json!({ "name": name, "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": state })
    };
    let mut pod = serde_json::to_value(pod(&conditions, runs)).unwrap();
    pod["status"]["initContainerStatuses"] =
        json!([ended("isolation", "12:00:06"), ended("course-material", "12:00:09")]);
    let told = steps(&launched(), &[serde_json::from_value(pod).unwrap()], &status(Phase::Running, None), now());
    let expected = [
        step("isolate", "12:00:04", "12:00:06"),
        step("load-material", "12:00:06", "12:00:09"),
        step("pull-image", "12:00:09", "12:00:15"),
    ];
    assert_eq!(told[2..5], expected);
}

#[test]
fn trace_begins_at_dispatch_time_if_in_same_second_as_creation() {
    let pod = pod(&[("PodScheduled", "12:00:00"), ("PodReadyToStartContainers", "12:00:04")], json!({}));
    let first = |dispatched: &str| {
        let mut workshop = launched();
        let dispatched = format!("2026-01-01T{dispatched}Z");
        workshop.metadata.annotations = Some([("workshoplauncher.dev/dispatched-at".to_owned(), dispatched)].into());
        steps(&workshop, std::slice::from_ref(&pod), &status(Phase::Running, None), now()).remove(0)
    };
    assert_eq!(first("12:00:00.7"), step("schedule", "12:00:00.7", "12:00:00.7"));
    for other in ["11:59:59.9", "12:00:01.2", "some"] {
        assert_eq!(first(other), step("schedule", "12:00:00", "12:00:00"), "{other}");
    }
}

#[test]
fn trace_of_failed_start_ends_with_failed_step() {
    let pulls = json!({ "waiting": { "reason": "ImagePullBackOff" } });
    let pod = pod(&[("PodScheduled", "12:00:02"), ("PodReadyToStartContainers", "12:00:04")], pulls);
    let told = steps(&launched(), &[pod], &status(Phase::Failed, Some("image-pull-failed")), now());
    let failed = Step { failure: Some("image-pull-failed".to_owned()), ..step("pull-image", "12:00:04", "12:00:20") };
    assert_eq!(told.last(), Some(&failed));
    let told = steps(&launched(), &[], &status(Phase::Failed, Some("quota-exceeded")), now());
    assert_eq!((told.len(), told[0].name), (1, "schedule"), "without a pod, the trace has only the step schedule");
}

#[test]
fn trace_steps_of_start_are_recorded_once() {
    let mut before = launched();
    before.status = Some(WorkshopStatus { ready_at: Some(at("12:00:10")), ..status(Phase::Starting, None) });
    assert_eq!(steps(&before, &[], &status(Phase::Running, None), now()), []);
    assert_eq!(steps(&launched(), &[], &status(Phase::Starting, None), now()), []);
    before.status = Some(status(Phase::Failed, Some("invalid-spec")));
    assert_eq!(steps(&before, &[], &status(Phase::Failed, Some("invalid-spec")), now()), []);
}
