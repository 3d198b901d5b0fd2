//! Tests of refused applies: the status during the refusal, and the failure after the grace period.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::join;
use tokio::time::sleep;

use crate::cluster::{Call, Cluster, statuses, with_children, with_routes};
use crate::pod_status::{failing_pull, ready_since};
use crate::support::{at, pod_object, running};

const QUOTA: &str = "services \"intro-abcdefghij\" is forbidden: exceeded quota: few, requested: services=1";
const RIGHT: &str = "pods is forbidden: User \"operator\" cannot create resource \"pods\" in API group \"\"";
const POD_SECURITY: &str =
    "pods \"intro-abcdefghij\" is forbidden: violates PodSecurity \"restricted:latest\": runAsNonRoot != true";
const WEBHOOK: &str = "admission webhook \"images.example.org\" denied the request: not from our registry";
const POLICY: &str = "pods \"intro-abcdefghij\" is forbidden: ValidatingAdmissionPolicy 'few' denied request";
const INVALID: &str = "Pod \"intro-abcdefghij\" is invalid: spec.containers: Invalid value";

/// A simulated API server with a new Workshop, which refuses applies of this kind.
fn refusing(kind: &'static str, code: u16, message: &'static str) -> Cluster {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    Cluster::default().listed("workshops", &workshop).by_now(&workshop).refusing(kind, code, message)
}

/// Returns the written statuses without repetitions: phase, and step or reason.
fn told(calls: &[Call]) -> Vec<(&str, &str)> {
    let mut told: Vec<_> = statuses(calls)
        .map(|status| {
            let more = [&status["reason"], &status["startStep"]].into_iter().find_map(Value::as_str);
            (status["phase"].as_str().unwrap(), more.unwrap_or_default())
        })
        .collect();
    told.dedup();
    told
}

/// Returns the transition time in the last written status.
fn last_told(calls: &[Call]) -> Timestamp {
    statuses(calls).last().unwrap()["conditions"][0]["lastTransitionTime"].as_str().unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn workshop_over_quota_waits_and_then_fails() {
    let calls = refusing("services", 403, QUOTA).run_operator(at("12:00:00")).await;
    assert_eq!(told(&calls), [("Starting", "waiting-for-room"), ("Failed", "quota-exceeded")]);
    let condition = &statuses(&calls).next().unwrap()["conditions"][0];
    assert_eq!(["type", "status", "reason"].map(|field| &condition[field]), ["Ready", "False", "Refused"]);
    assert!(condition["message"].as_str().unwrap().ends_with(QUOTA), "{condition}");
    let last = statuses(&calls).last().unwrap();
    assert!(last["message"].as_str().unwrap().ends_with(QUOTA), "{last}");
    assert!((at("12:01:00")..at("12:01:31")).contains(&last_told(&calls)), "{last}");
}

#[tokio::test(start_paused = true)]
async fn second_refusal_has_a_grace_period_of_its_own() {
    let (mut workshop, mut pod) = (running(), pod_object(&json!({})));
    workshop["status"] = Value::Null;
    pod["metadata"]["resourceVersion"] = "2".into();
    let cluster = with_children(&workshop).unlisted("services").listed("workshops", &workshop).by_now(&workshop);
    // The first refusal ends after half a minute. The operator finds the second one at the change of the pod.
    let cluster = cluster.changing("pods", Duration::from_secs(70), &pod).refusing("services", 403, QUOTA);
    let changes = async {
        sleep(Duration::from_secs(30)).await; // simulated time
        let cluster = cluster.clone().accepting("services");
        sleep(Duration::from_secs(30)).await; // simulated time
        cluster.refusing("services", 403, QUOTA)
    };
    let (calls, _) = join!(cluster.run_operator(at("12:00:00")), changes);
    let waits = ("Starting", "waiting-for-room");
    assert_eq!(told(&calls), [waits, ("Starting", "preparing"), waits]);
}

#[tokio::test(start_paused = true)]
async fn new_workshop_with_a_ready_pod_does_not_run_while_its_service_is_refused() {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let pod = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    for (code, message) in [(403, QUOTA), (500, "failed calling webhook: timeout")] {
        let cluster = with_children(&workshop).unlisted("services").relisted("pods", &pod);
        let cluster = cluster.listed("workshops", &workshop).by_now(&workshop);
        let calls = cluster.refusing("services", code, message).run_operator(at("12:00:00")).await;
        let phases: Vec<_> = told(&calls).into_iter().map(|(phase, _)| phase).collect();
        assert!(phases.contains(&"Starting") && !phases.contains(&"Running"), "{code}: {phases:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_denied_by_admission_waits_and_then_fails() {
    for (code, message) in
        [(403, WEBHOOK), (400, WEBHOOK), (403, POLICY), (403, POD_SECURITY), (422, POLICY), (422, INVALID)]
    {
        let calls = refusing("pods", code, message).run_operator(at("12:00:00")).await;
        assert_eq!(told(&calls), [("Starting", "preparing"), ("Failed", "invalid-spec")], "{code} {message}");
        let last = statuses(&calls).last().unwrap();
        assert!(last["message"].as_str().unwrap().ends_with(message), "{last}");
    }
}

#[tokio::test(start_paused = true)]
async fn missing_permission_and_webhook_outage_are_retried_without_failure() {
    for (code, message) in [(403, RIGHT), (500, "failed calling webhook: timeout")] {
        let calls = refusing("pods", code, message).run_operator(at("12:00:00")).await;
        assert_eq!(told(&calls), Vec::new(), "{code} {message}");
        let tries = calls.iter().filter(|(what, _)| what == "POST pods").count();
        assert!(tries > 5, "{tries}");
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_that_was_ready_survives_refused_apply() {
    for phase in ["Running", "Starting"] {
        let mut workshop = running();
        workshop["status"]["phase"] = phase.into();
        let pod = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
        let cluster = with_children(&workshop).relisted("pods", &pod).listed("workshops", &workshop).by_now(&workshop);
        let calls = cluster.refusing("services", 422, POLICY).run_operator(at("12:30:00")).await;
        assert_eq!(told(&calls), [("Running", "")]);
        assert!(!calls.iter().any(|(what, _)| what.starts_with("DELETE")), "{calls:?}");
        let tries = calls.iter().filter(|(what, _)| what == "PATCH services").count();
        assert!(tries > 5, "{tries}");
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_that_was_ready_times_out_without_its_service() {
    let mut workshop = running();
    workshop["status"]["phase"] = "Starting".into();
    workshop["status"]["conditions"] = json!([{
        "type": "Ready", "status": "False", "reason": "Starting", "message": "",
        "lastTransitionTime": "2026-01-01T12:20:00Z",
    }]);
    let cluster = with_children(&workshop).unlisted("services").listed("workshops", &workshop).by_now(&workshop);
    let calls = cluster.refusing("services", 422, POLICY).run_operator(at("12:29:00")).await;
    assert_eq!(told(&calls).last(), Some(&("Failed", "start-timeout")));
    assert!(statuses(&calls).all(|status| !status["conditions"].to_string().contains("Exposed")), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn workshop_that_was_ready_fails_by_its_pod_while_its_service_is_refused() {
    let workshop = running();
    let killed = json!({ "terminated": { "exitCode": 137, "reason": "OOMKilled" } });
    let pod = pod_object(&json!({ "containerStatuses": [{
        "name": "app", "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": killed,
    }]}));
    let cluster = with_children(&workshop).relisted("pods", &pod).listed("workshops", &workshop).by_now(&workshop);
    let calls = cluster.with_log(false, "killed").refusing("services", 422, POLICY).run_operator(at("12:30:00")).await;
    assert_eq!(told(&calls), [("Failed", "out-of-memory")]);
}

#[tokio::test(start_paused = true)]
async fn refused_service_delays_no_deadline_of_the_pod_and_no_expiry() {
    let (mut new, pod) = (running(), pod_object(&failing_pull()));
    new["status"] = Value::Null;
    new["spec"]["expiresAt"] = Value::Null;
    let ready = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    for (workshop, pod, from, seconds, reason) in
        [(new, pod, "12:00:40", 15, json!("image-pull-failed")), (running(), ready, "12:59:35", 25, Value::Null)]
    {
        let cluster = with_children(&workshop).unlisted("services").relisted("pods", &pod);
        let cluster = cluster.listed("workshops", &workshop).by_now(&workshop);
        let calls = cluster.refusing("services", 500, "failed calling webhook: timeout").run_operator(at(from)).await;
        let ended = statuses(&calls).find(|status| ["Failed", "Expired"].map(Value::from).contains(&status["phase"]));
        let ended = ended.unwrap();
        assert_eq!((ready_since(ended).duration_since(at(from)).as_secs(), &ended["reason"]), (seconds, &reason));
    }
}

#[tokio::test(start_paused = true)]
async fn resources_created_before_refused_apply_are_deleted_on_failure() {
    let mut workshop = running();
    workshop["status"] = json!({ "phase": "Starting" });
    let cluster = with_children(&workshop).listed("workshops", &workshop).by_now(&workshop);
    let calls = cluster.refusing("ingresses", 403, WEBHOOK).run_operator(at("12:00:00")).await;
    assert_eq!(told(&calls).last(), Some(&("Failed", "invalid-spec")));
    assert!(calls.iter().any(|(what, _)| what == "DELETE pods"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn workshop_that_was_ready_fails_without_room_for_its_next_pod() {
    let workshop = running();
    let cluster = with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop);
    let message = "pods \"intro-abcdefghij\" is forbidden: exceeded quota: few, requested: pods=1";
    let calls = cluster.refusing("pods", 403, message).run_operator(at("12:30:00")).await;
    assert_eq!(told(&calls), [("Starting", "waiting-for-room"), ("Failed", "quota-exceeded")]);
    assert_eq!(statuses(&calls).last().unwrap()["readyAt"], "2026-01-01T12:00:00Z");
}

#[tokio::test(start_paused = true)]
async fn workshop_that_was_ready_is_starting_while_its_pod_cannot_be_created() {
    let workshop = running();
    let cluster = with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop);
    let calls = cluster.refusing("pods", 403, RIGHT).run_operator(at("12:30:00")).await;
    assert_eq!(told(&calls), [("Starting", "preparing")]);
    assert_eq!(statuses(&calls).last().unwrap()["readyAt"], "2026-01-01T12:00:00Z");
}
