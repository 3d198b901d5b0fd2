//! From a reported pod status to the written Workshop status.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cluster::{Cluster, statuses, with_children};
use crate::support::{at, running};

/// A cluster with one Workshop and its pod with this status.
fn with_pod(workshop: &Value, status: &Value) -> Cluster {
    let pod = json!({
        "metadata": {
            "name": "intro-1", "namespace": "workshops", "uid": "pod", "creationTimestamp": "2026-01-01T12:00:00Z",
            "labels": { "workshoplauncher.dev/workshop": workshop["metadata"]["name"] },
        },
        "status": status,
    });
    with_children(workshop).listed("workshops", workshop).by_now(workshop).listed("pods", &pod)
}

#[tokio::test(start_paused = true)]
async fn failure_on_unreachable_node_is_reported_without_log() {
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
async fn start_step_in_status_follows_the_pod() {
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

#[tokio::test(start_paused = true)]
async fn image_pull_error_after_long_pull_fails_after_15_seconds() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let failing = json!({
        "conditions": [{ "type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T12:00:00Z" }],
        "containerStatuses": [{
            "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "waiting": { "reason": "ErrImagePull", "message": "pull QPS exceeded" } },
        }],
    });
    let calls = with_pod(&workshop, &failing).run_operator(at("12:00:40")).await;
    let told: Vec<_> = statuses(&calls).map(|status| (&status["phase"], &status["reason"])).collect();
    let failed = (&json!("Failed"), &json!("image-pull-failed"));
    assert_eq!(told, [(&json!("Starting"), &Value::Null), failed]);
    let when: Vec<Timestamp> = statuses(&calls).map(ready_since).collect();
    assert_eq!(when[1].duration_since(when[0]).as_secs(), 15);
}

/// When it became not ready.
fn ready_since(status: &Value) -> Timestamp {
    let ready = status["conditions"].as_array().unwrap().iter().find(|one| one["type"] == "Ready");
    ready.unwrap()["lastTransitionTime"].as_str().unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn start_timeout_excludes_time_without_operator() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    workshop["spec"]["expiresAt"] = Value::Null;
    let calls = Cluster::default().listed("workshops", &workshop).by_now(&workshop).run_operator(at("12:30:00")).await;
    let told: Vec<_> = statuses(&calls).map(|status| (&status["phase"], &status["startStep"])).collect();
    assert_eq!(told, [(&json!("Starting"), &json!("preparing"))]);
}
