//! Details of a failure in the Workshop status: log tails and pod events.

use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, child, statuses, with_children};
use crate::support::{at, pod_object, running};

/// A cluster with a Workshop whose app crashed repeatedly.
fn crashed() -> Cluster {
    let workshop = running();
    let pod = pod_object(&json!({ "containerStatuses": [{
        "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": 3,
        "state": { "waiting": { "reason": "CrashLoopBackOff" } },
        "lastState": { "terminated": { "exitCode": 3, "reason": "Error" } },
    }]}));
    with_children(&workshop).listed("workshops", &workshop).by_now(&workshop).relisted("pods", &pod)
}

/// The log tails of the written statuses.
fn tails(calls: &[Call]) -> Vec<&Value> {
    statuses(calls).map(|status| &status["logTail"]).collect()
}

/// The queries of the log requests.
fn log_queries(calls: &[Call]) -> Vec<&str> {
    calls.iter().filter(|(what, _)| what == "GET pods/log").filter_map(|(_, query)| query.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn log_tail_of_previous_run_is_reported() {
    let calls =
        crashed().with_log(true, "port in use\n").with_log(false, "retrying\n").run_operator(at("12:30:00")).await;
    assert_eq!(tails(&calls), ["port in use\n"]);
    let queries = log_queries(&calls);
    assert_eq!(queries.len(), 1, "{queries:?}");
    for part in ["container=app", "previous=true", "tailLines=20", "limitBytes=8192"] {
        assert!(queries[0].contains(part), "{part} is not in {}", queries[0]);
    }
}

#[tokio::test(start_paused = true)]
async fn log_tail_of_current_run_replaces_missing_previous_log() {
    let calls = crashed().with_log(false, "retrying\n").run_operator(at("12:30:00")).await;
    assert_eq!(tails(&calls), ["retrying\n"]);
}

#[tokio::test(start_paused = true)]
async fn error_text_of_node_is_not_reported_as_log() {
    const REMOVED: &str = "unable to retrieve container logs for containerd://793cd9";
    let cluster = crashed().with_log(true, REMOVED).with_log(false, " \n");
    let calls = cluster.run_operator(at("12:30:00")).await;
    assert_eq!(tails(&calls), [&Value::Null]);
    assert_eq!(log_queries(&calls).len(), 3, "the previous log may appear late");
}

/// An Event about the pod.
fn event(name: &str, message: &str, times: &Value) -> Value {
    let mut event = json!({
        "metadata": { "name": name, "namespace": "workshops" }, "involvedObject": {}, "type": "Warning",
        "reason": "FailedMount", "message": message,
    });
    event.as_object_mut().unwrap().extend(times.as_object().unwrap().clone());
    event
}

/// A cluster with a Workshop whose pod has not run for more than the start timeout.
fn stuck() -> Cluster {
    let mut workshop = running();
    let since = "2026-01-01T12:00:00Z";
    workshop["spec"]["expiresAt"] = Value::Null;
    workshop["status"] = json!({ "phase": "Starting", "conditions": [{
        "type": "Ready", "status": "False", "reason": "Starting", "message": "", "lastTransitionTime": since,
    }]});
    let mut service = child(&workshop);
    service["metadata"]["creationTimestamp"] = since.into();
    let cluster = with_children(&workshop).relisted("services", &service);
    cluster.listed("workshops", &workshop).by_now(&workshop)
}

#[tokio::test(start_paused = true)]
async fn start_timeout_names_the_last_warning_of_the_pod() {
    // The scheduler writes events with `eventTime` only.
    for (event_time, last) in [("12:05:00", "third"), ("12:07:00", "second")] {
        let event_time = json!({ "eventTime": format!("2026-01-01T{event_time}.000000Z") });
        let cluster = stuck()
            .listed("events", &event("b", "second", &event_time))
            .listed("events", &event("c", "third", &json!({ "lastTimestamp": "2026-01-01T12:06:00Z" })))
            .listed("events", &event("a", "first", &json!({ "lastTimestamp": "2026-01-01T12:04:00Z" })));
        let calls = cluster.run_operator(at("12:10:01")).await;
        let told: Vec<_> =
            statuses(&calls).map(|status| (&status["reason"], status["message"].as_str().unwrap())).collect();
        let message = format!("The workshop did not become ready in time. {last}");
        assert_eq!(told, [(&json!("start-timeout"), &*message)]);
    }
}

#[tokio::test(start_paused = true)]
async fn start_timeout_without_pod_events_has_its_standard_message() {
    let calls = stuck().run_operator(at("12:10:01")).await;
    let told: Vec<_> = statuses(&calls).map(|status| status["message"].as_str().unwrap()).collect();
    assert_eq!(told, ["The workshop did not become ready in time."]);
}

/// A cluster with a Workshop whose app has run since 12:05, and does not answer.
fn silent() -> Cluster {
    const LOG: &str = "{\"message\":\"the app listens on 0.0.0.0:8082, 127.0.0.1:5000, expected 127.0.0.1:8888\"}\n";
    let pod = pod_object(&json!({ "containerStatuses": [{
        "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
        "state": { "running": { "startedAt": "2026-01-01T12:05:00Z" } },
    }]}));
    stuck().relisted("pods", &pod).with_log(false, LOG)
}

#[tokio::test(start_paused = true)]
async fn starting_workshop_whose_app_listens_elsewhere_says_so() {
    let calls = silent().run_operator(at("12:05:30")).await;
    let told: Vec<_> = statuses(&calls).map(|status| (&status["phase"], &status["listensElsewhere"])).collect();
    // Another container of the pod listens on port 8082.
    let expected = json!({ "addresses": ["127.0.0.1:5000"], "port": 8888 });
    assert!(!told.is_empty() && told.iter().all(|told| *told == (&json!("Starting"), &expected)), "{told:?}");
    let queries = log_queries(&calls);
    assert!(queries.iter().all(|query| query.contains("container=sidecar")), "{queries:?}");
    assert!((1..=8).contains(&queries.len()), "{queries:?}");
}

#[tokio::test(start_paused = true)]
async fn start_timeout_says_on_which_address_the_app_listens() {
    let calls = silent().run_operator(at("12:10:01")).await;
    let told: Vec<_> = statuses(&calls).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let listens = "does not answer on its port. The app listens on 127.0.0.1:5000, expected 127.0.0.1:8888.";
    assert!(told[0]["message"].as_str().unwrap().ends_with(listens), "{told:?}");
    assert_eq!((&told[0]["reason"], &told[0]["retryable"]), (&json!("start-timeout"), &json!(false)));
}
