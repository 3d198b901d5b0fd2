use std::time::Duration;

use serde_json::{Value, json};

use super::*;

const CREATED: &str = "2026-01-01T12:00:00Z";

fn download(status: Value) -> WorkshopDownload {
    let object = json!({
        "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "WorkshopDownload",
        "metadata": { "name": "work-a-1", "uid": "download", "creationTimestamp": CREATED },
        "spec": { "volume": "work-a", "tokenSha256": "0".repeat(64) },
        "status": status,
    });
    serde_json::from_value(object).unwrap()
}

fn new() -> WorkshopDownload {
    download(json!({}))
}

fn was_ready() -> WorkshopDownload {
    download(json!({ "address": "10.0.0.1:8080" }))
}

fn pod(app: &str, node: Option<&str>, status: Value) -> Pod {
    let owner = if app == APP_LABEL { "workshop" } else { "download" };
    let object = json!({
        "metadata": {
            "name": app, "labels": { "app": app },
            "ownerReferences": [{ "apiVersion": "a", "kind": "b", "name": "c", "uid": owner }],
        },
        "spec": { "nodeName": node, "containers": [] },
        "status": status,
    });
    serde_json::from_value(object).unwrap()
}

fn reader(node: Option<&str>, status: Value) -> Pod {
    pod("workshop-download", node, status)
}

fn ready(ip: &str) -> Value {
    json!({ "phase": "Running", "podIP": ip, "conditions": [{ "type": "Ready", "status": "True" }] })
}

fn unschedulable() -> Value {
    json!({ "conditions": [{ "type": "PodScheduled", "status": "False", "message": "no room" }] })
}

/// The next step at this age in seconds.
fn step<'a>(download: &WorkshopDownload, pods: &'a [Pod], age: u64) -> Step<'a> {
    next_step(download, pods, CREATED.parse::<Timestamp>().unwrap() + Duration::from_secs(age))
}

fn reason(step: Step<'_>) -> Option<&'static str> {
    match step {
        Step::End { reason, .. } => Some(reason),
        Step::Create | Step::Report(_) => None,
    }
}

fn message(step: Step<'_>) -> Option<String> {
    match step {
        Step::Report(status) => status.message,
        Step::Create | Step::End { .. } => None,
    }
}

#[test]
fn pod_is_created_once_and_soon() {
    assert_eq!(step(&new(), &[], 0), Step::Create);
    assert_eq!(step(&new(), &[pod(APP_LABEL, Some("a"), json!({}))], 0), Step::Create);
    assert_eq!(reason(step(&new(), &[], 91)), Some("it never had a pod"));
    assert_eq!(reason(step(&was_ready(), &[], 1)), Some("its pod is gone"));
}

#[test]
fn ready_pod_is_reported_with_its_address() {
    for (ip, address) in [("10.0.0.7", "10.0.0.7:8080"), ("fd00::7", "[fd00::7]:8080")] {
        let pods = [reader(Some("a"), ready(ip))];
        let status = WorkshopDownloadStatus { address: Some(address.parse().unwrap()), message: None };
        assert_eq!(step(&new(), &pods, 1), Step::Report(status));
    }
    let loaded = [reader(Some("a"), json!({ "phase": "Running" }))];
    let Step::Report(status) = step(&was_ready(), &loaded, 600) else { panic!("a busy pod may miss a probe") };
    assert_eq!(Some(status), was_ready().status);
}

#[test]
fn obstacle_of_a_pod_is_reported_until_the_start_is_over() {
    let waiting = json!({ "containerStatuses": [{
        "name": "archive", "image": "", "imageID": "", "ready": false, "restartCount": 0,
        "state": { "waiting": { "reason": "ImagePullBackOff" } },
    }] });
    for (status, expected) in [
        (unschedulable(), "no room"),
        (waiting, "the pod is starting: ImagePullBackOff"),
        (json!({}), "the pod is starting"),
    ] {
        let pods = [reader(None, status)];
        assert_eq!(message(step(&new(), &pods, 90)).as_deref(), Some(expected));
        assert_eq!(reason(step(&new(), &pods, 91)), Some("its pod was never ready"));
    }
}

#[test]
fn ended_pod_ends_the_download() {
    for phase in ["Succeeded", "Failed"] {
        let pods = [reader(Some("a"), json!({ "phase": phase }))];
        assert_eq!(reason(step(&was_ready(), &pods, 1)), Some("its pod has ended"));
    }
    let mut leaving = reader(Some("a"), ready("10.0.0.7"));
    leaving.metadata.deletion_timestamp = serde_json::from_value(json!(CREATED)).unwrap();
    assert_eq!(reason(step(&was_ready(), &[leaving], 1)), Some("its pod has ended"));
}

#[test]
fn download_ends_at_its_maximum_age() {
    let pods = [reader(Some("a"), ready("10.0.0.7"))];
    let most = u64::try_from(MAX_DOWNLOAD_SECONDS).unwrap();
    assert_eq!(reason(step(&was_ready(), &pods, most)), None);
    assert_eq!(reason(step(&was_ready(), &pods, most + 1)), Some("it is too old"));
}

#[test]
fn launch_that_needs_the_volume_elsewhere_ends_the_download() {
    let workshops = [
        (pod(APP_LABEL, Some("a"), json!({})), None),
        (pod(APP_LABEL, None, json!({})), None),
        (pod(APP_LABEL, Some("b"), json!({})), Some("a launch needs the volume")),
        (pod(APP_LABEL, None, unschedulable()), Some("a launch needs the volume")),
    ];
    for (workshop, expected) in workshops {
        let node = workshop.spec.as_ref().unwrap().node_name.clone();
        let pods = [workshop, reader(Some("a"), ready("10.0.0.7"))];
        assert_eq!(reason(step(&was_ready(), &pods, 1)), expected, "workshop on {node:?}");
        assert!(!matches!(step(&was_ready(), &pods, 1), Step::End { pod, .. } if pod != Some(&pods[1])));
    }
    let mut leaving = pod(APP_LABEL, Some("b"), json!({}));
    leaving.metadata.deletion_timestamp = serde_json::from_value(json!(CREATED)).unwrap();
    assert_eq!(reason(step(&was_ready(), &[leaving, reader(Some("a"), ready("10.0.0.7"))], 1)), None);
}
