//! Tests of the whole operator: from the status of a pod to the status that the operator writes.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cluster::{Cluster, route_kinds, statuses, with_children};
use crate::support::{at, pod_object, running, settings};

/// A simulated API server with one Workshop whose pod has this status.
fn with_pod(workshop: &Value, status: &Value) -> Cluster {
    with_children(workshop).listed("workshops", workshop).by_now(workshop).relisted("pods", &pod_object(status))
}

#[tokio::test(start_paused = true)]
async fn failure_of_pod_on_unreachable_node_is_reported_without_log() {
    let workshop = running();
    let crashed = json!({ "containerStatuses": [{
        "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": 3,
        "state": { "waiting": { "reason": "CrashLoopBackOff" } },
        "lastState": { "terminated": { "exitCode": 3, "reason": "Error" } },
    }]});
    let calls = with_pod(&workshop, &crashed).run_operator(at("12:30:00")).await;
    let told: Vec<_> =
        statuses(&calls).map(|status| (&status["phase"], &status["reason"], &status["logTail"])).collect();
    assert_eq!(told, [(&json!("Failed"), &json!("crashed"), &Value::Null)]);
}

#[tokio::test(start_paused = true)]
async fn start_step_in_workshop_status_follows_pod_status() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let app = |restarts: u32, state: Value| {
        json!({
            "conditions": [{ "type": "PodReadyToStartContainers", "status": "True" }],
            "containerStatuses": [{
                "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": restarts, "state": state,
            }],
        })
    };
    for (status, step) in [
        (app(0, json!({ "waiting": { "reason": "ContainerCreating" } })), "pulling-image"),
        (app(0, json!({ "running": {} })), "starting-app"),
        (app(1, json!({ "running": {} })), "restarting-app"),
    ] {
        let calls = with_pod(&workshop, &status).run_operator(at("12:00:05")).await;
        let told: Vec<_> = statuses(&calls).map(|status| (&status["phase"], &status["startStep"])).collect();
        assert_eq!(told, [(&json!("Starting"), &json!(step))]);
    }
}

/// The status of a pod whose image pull fails.
pub(crate) fn failing_pull() -> Value {
    json!({
        "conditions": [{ "type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T12:00:00Z" }],
        "containerStatuses": [{
            "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "waiting": { "reason": "ErrImagePull", "message": "pull QPS exceeded" } },
        }],
    })
}

#[tokio::test(start_paused = true)]
async fn image_pull_that_fails_late_still_has_15_seconds_to_recover() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let calls = with_pod(&workshop, &failing_pull()).run_operator(at("12:00:40")).await;
    let told: Vec<_> = statuses(&calls).map(|status| (&status["phase"], &status["reason"])).collect();
    let failed = (&json!("Failed"), &json!("image-pull-failed"));
    assert_eq!(told, [(&json!("Starting"), &Value::Null), failed]);
    let when: Vec<Timestamp> = statuses(&calls).map(ready_since).collect();
    assert_eq!(when[1].duration_since(when[0]).as_secs(), 15);
}

#[tokio::test(start_paused = true)]
async fn image_pull_that_fails_again_has_15_seconds_again() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let cluster = with_pod(&workshop, &failing_pull())
        .changing("pods", Duration::from_secs(10), &pod_at("2", &json!({})))
        .changing("pods", Duration::from_secs(20), &pod_at("3", &failing_pull()));
    let calls = cluster.run_operator(at("12:00:40")).await;
    let failed = statuses(&calls).find(|status| status["phase"] == "Failed").unwrap();
    assert_eq!(ready_since(failed).duration_since(at("12:00:40")).as_secs(), 45);
}

#[tokio::test(start_paused = true)]
async fn next_workshop_of_the_same_name_has_grace_periods_of_its_own() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let mut next = workshop.clone();
    next["metadata"]["uid"] = "next".into();
    let mut pod = pod_object(&failing_pull());
    let cluster = with_children(&workshop).listed("workshops", &workshop).by_now(&next).relisted("pods", &pod);
    pod["metadata"]["uid"] = "next pod".into();
    pod["metadata"]["resourceVersion"] = "2".into();
    pod["metadata"]["ownerReferences"][0]["uid"] = "next".into();
    let after = Duration::from_secs(10);
    let calls =
        cluster.changing("workshops", after, &next).changing("pods", after, &pod).run_operator(at("12:00:40")).await;
    let failed = statuses(&calls).find(|status| status["phase"] == "Failed").unwrap();
    assert_eq!(ready_since(failed).duration_since(at("12:00:40")).as_secs(), 25);
}

/// Returns the last transition time of the condition `Ready`.
pub(crate) fn ready_since(status: &Value) -> Timestamp {
    let ready = status["conditions"].as_array().unwrap().iter().find(|one| one["type"] == "Ready");
    ready.unwrap()["lastTransitionTime"].as_str().unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn start_timeout_does_not_count_time_without_operator() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    workshop["spec"]["expiresAt"] = Value::Null;
    let calls = Cluster::default().listed("workshops", &workshop).by_now(&workshop).run_operator(at("12:30:00")).await;
    let told: Vec<_> = statuses(&calls).map(|status| (&status["phase"], &status["startStep"])).collect();
    assert_eq!(told, [(&json!("Starting"), &json!("preparing"))]);
}

#[tokio::test(start_paused = true)]
async fn change_of_pod_updates_the_status_without_another_apply() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let mut ready = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    ready["metadata"]["resourceVersion"] = "2".into();
    let cluster = with_pod(&workshop, &json!({}));
    let calls = cluster.changing("pods", Duration::from_secs(30), &ready).run_operator(at("12:00:05")).await;
    let told: Vec<_> = statuses(&calls).map(|status| (&status["phase"], &status["url"])).collect();
    let url = json!("https://intro-abcdefghij.workshops.example.org/");
    assert_eq!(told, [(&json!("Starting"), &Value::Null), (&json!("Running"), &url)]);
    let ready_at: Timestamp = statuses(&calls).last().unwrap()["readyAt"].as_str().unwrap().parse().unwrap();
    assert_eq!(ready_at.duration_since(at("12:00:05")).as_secs(), 30);
    let expiries: Vec<_> = statuses(&calls).map(|status| &status["expiresAt"]).collect();
    assert_eq!(expiries, [&Value::Null, &workshop["spec"]["expiresAt"]]);
    for kind in route_kinds() {
        assert_eq!(calls.iter().filter(|(what, _)| *what == format!("PATCH {kind}")).count(), 1, "{kind}");
    }
}

/// A pod in this step of the start, whose resource version is `version`.
fn pod_at(version: &str, status: &Value) -> Value {
    let mut pod = pod_object(status);
    pod["metadata"]["resourceVersion"] = version.into();
    pod
}

#[tokio::test(start_paused = true)]
async fn step_of_a_start_is_written_after_two_seconds_and_readiness_at_once() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let ready = json!({ "conditions": [{ "type": "Ready", "status": "True" }] });
    for (after, phases) in [(1900, &["Running"][..]), (2100, &["Starting", "Running"])] {
        let cluster =
            with_pod(&workshop, &json!({})).changing("pods", Duration::from_millis(after), &pod_at("2", &ready));
        let calls = cluster.run_operator(at("12:00:05")).await;
        assert_eq!(statuses(&calls).map(|status| status["phase"].as_str().unwrap()).collect::<Vec<_>>(), phases);
        let ready_at: Timestamp = statuses(&calls).last().unwrap()["readyAt"].as_str().unwrap().parse().unwrap();
        assert_eq!(ready_at.duration_since(at("12:00:05")).as_millis(), i128::from(after));
    }
}

#[tokio::test(start_paused = true)]
async fn steps_are_written_later_if_many_workshops_start_together() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let name = workshop["metadata"]["name"].clone();
    let ready = json!({ "conditions": [{ "type": "Ready", "status": "True" }] });
    // The operator waits for half a second for each of 20 Workshops, and at most for 15 seconds.
    for (others, after, phases) in [
        (19, 9900, &["Running"][..]),
        (19, 10_100, &["Starting", "Running"]),
        (199, 14_900, &["Running"]),
        (199, 15_100, &["Starting", "Running"]),
    ] {
        let mut cluster =
            with_pod(&workshop, &json!({})).changing("pods", Duration::from_millis(after), &pod_at("2", &ready));
        for number in 0..others {
            let mut other = workshop.clone();
            other["metadata"]["name"] = format!("other-{number}").into();
            other["metadata"]["uid"] = format!("other-{number}").into();
            cluster = cluster.listed("workshops", &other).by_now(&other);
        }
        let calls = cluster.run_operator(at("12:00:05")).await;
        let written =
            calls.iter().filter(|(what, body)| what == "PATCH workshops/status" && body["metadata"]["name"] == name);
        let told: Vec<_> = written.map(|(_, body)| body["status"]["phase"].as_str().unwrap()).collect();
        assert_eq!(told, phases, "{others} others, ready after {after} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn steps_that_follow_each_other_quickly_are_written_once_in_two_seconds() {
    let mut workshop = running();
    workshop["status"] = json!({
        "phase": "Starting", "startStep": "scheduling", "observedGeneration": workshop["metadata"]["generation"],
        "conditions": [{
            "type": "Ready", "status": "False", "reason": "Starting", "message": "scheduling",
            "lastTransitionTime": "2026-01-01T12:00:00Z",
        }],
    });
    let app = |state: Value| {
        json!({
            "conditions": [{ "type": "PodReadyToStartContainers", "status": "True" }],
            "containerStatuses": [{
                "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": state,
            }],
        })
    };
    let [pulling, starting] =
        [json!({ "waiting": { "reason": "ContainerCreating" } }), json!({ "running": {} })].map(app);
    let cluster = with_pod(&workshop, &pulling).changing("pods", Duration::from_secs(1), &pod_at("2", &starting));
    let calls = cluster.run_operator(at("12:00:05")).await;
    assert_eq!(statuses(&calls).map(|status| &status["startStep"]).collect::<Vec<_>>(), [&json!("starting-app")]);
}

#[tokio::test(start_paused = true)]
async fn crash_at_the_begin_of_a_start_is_written_at_once() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let crashed = json!({ "containerStatuses": [{
        "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": 3,
        "state": { "waiting": { "reason": "CrashLoopBackOff" } },
        "lastState": { "terminated": { "exitCode": 3, "reason": "Error" } },
    }]});
    let cluster = with_pod(&workshop, &json!({})).changing("pods", Duration::from_millis(500), &pod_at("2", &crashed));
    let calls = cluster.with_log(true, "the last line").run_operator(at("12:00:05")).await;
    let told: Vec<_> = statuses(&calls).map(|status| (&status["phase"], &status["reason"])).collect();
    assert_eq!(told, [(&json!("Failed"), &json!("crashed"))]);
}

/// The status, reason and message of a condition.
fn condition<'a>(status: &'a Value, kind: &str) -> [&'a str; 3] {
    let found = status["conditions"].as_array().unwrap().iter().find(|one| one["type"] == kind).unwrap();
    ["status", "reason", "message"].map(|field| found[field].as_str().unwrap())
}

#[tokio::test(start_paused = true)]
async fn conditions_of_running_workshop_name_its_exposure() {
    let (ready, mut workshop) = (json!({ "conditions": [{ "type": "Ready", "status": "True" }] }), running());
    workshop["status"] = Value::Null;
    let ingress = settings();
    let (mut external, mut none) = (settings(), settings());
    external.workshops_routed_elsewhere = true;
    none.ingress_annotations.clear();
    let url = json!("https://intro-abcdefghij.workshops.example.org/");
    let no_gate = "No Ingress: the operator's settings name no auth middleware.";
    for (settings, url, exposed) in [
        (ingress, &url, ["True", "IngressApplied", ""]),
        (external, &url, ["True", "RoutedElsewhere", ""]),
        (none, &Value::Null, ["False", "NoGate", no_gate]),
    ] {
        let calls = with_pod(&workshop, &ready).with_settings(settings).run_operator(at("12:00:05")).await;
        let status = statuses(&calls).next().unwrap();
        assert_eq!(condition(status, "Ready"), ["True", "Answers", ""]);
        assert_eq!((condition(status, "Exposed"), &status["url"]), (exposed, url));
        assert_eq!(
            (&status["observedGeneration"], &status["conditions"][0]["observedGeneration"]),
            (&json!(2), &json!(2))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_without_exposure_loses_its_ingress() {
    let (ready, workshop) = (json!({ "conditions": [{ "type": "Ready", "status": "True" }] }), running());
    let mut settings = settings();
    settings.ingress_annotations.clear();
    let calls = with_pod(&workshop, &ready).with_settings(settings).run_operator(at("12:00:05")).await;
    let changes: Vec<_> =
        calls.iter().map(|(what, _)| what.as_str()).filter(|what| what.ends_with("ingresses")).collect();
    assert!(!changes.is_empty() && changes.iter().all(|what| *what == "DELETE ingresses"), "{changes:?}");
}
