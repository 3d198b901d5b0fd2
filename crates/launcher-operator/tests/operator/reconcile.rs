//! Reconciles of the whole operator: what it changes in the cluster, reports, and leaves alone.

use std::time::Duration;

use launcher_operator::run;
use launcher_process::stop::Stop;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use tokio::join;
use tokio::time::{sleep, timeout};

use crate::cluster::{Call, Cluster, child, deletes, route_kinds, statuses, with_children};
use crate::support::{at, pod_object, running};

/// The requests, without their bodies.
fn asked(calls: &[Call]) -> Vec<&str> {
    calls.iter().map(|(what, _)| what.as_str()).collect()
}

/// A cluster with this Workshop, its resources, and a pod that is ready.
fn ready(workshop: &Value) -> Cluster {
    let pod = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    with_children(workshop).listed("workshops", workshop).by_now(workshop).relisted("pods", &pod)
}

/// A running Workshop with this status.
fn with_status(status: Value) -> Value {
    let mut workshop = running();
    workshop["status"] = status;
    workshop
}

#[tokio::test(start_paused = true)]
async fn failed_or_expired_workshop_is_deleted_and_never_started_again() {
    for status in [
        json!({ "phase": "Failed", "reason": "crashed", "observedGeneration": 1 }),
        json!({ "phase": "Failed", "reason": "invalid-spec", "observedGeneration": 2 }),
        // This Workshop was extended after it had expired.
        json!({ "phase": "Expired", "observedGeneration": 1 }),
    ] {
        let calls = ready(&with_status(status.clone())).run_operator(at("12:30:00")).await;
        assert_eq!(asked(&calls), deletes(), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn corrected_workshop_is_started_again() {
    let workshop = with_status(json!({ "phase": "Failed", "reason": "invalid-spec", "observedGeneration": 1 }));
    let calls = ready(&workshop).run_operator(at("12:30:00")).await;
    assert_eq!(statuses(&calls).next().unwrap()["phase"], "Running");
    assert!(asked(&calls).contains(&"PATCH services"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn workload_of_workshop_being_deleted_is_deleted() {
    let mut workshop = running();
    workshop["metadata"]["deletionTimestamp"] = "2026-01-01T12:29:59Z".into();
    let calls = ready(&workshop).run_operator(at("12:30:00")).await;
    assert_eq!(asked(&calls), deletes());
}

#[tokio::test(start_paused = true)]
async fn workload_is_deleted_by_uid() {
    let calls = ready(&running()).run_operator(at("13:00:01")).await;
    let deleted: Vec<_> = calls.iter().filter(|(what, _)| what.starts_with("DELETE")).collect();
    let uids: Vec<_> =
        deleted.iter().map(|(what, options)| (what.as_str(), &options["preconditions"]["uid"])).collect();
    assert_eq!(asked(&calls).into_iter().filter(|what| what.starts_with("DELETE")).collect::<Vec<_>>(), deletes());
    assert!(uids.iter().all(|(what, uid)| **uid == if *what == "DELETE pods" { "pod" } else { "child" }), "{uids:?}");
}

#[tokio::test(start_paused = true)]
async fn resource_of_another_owner_or_being_deleted_is_not_deleted() {
    let workshop = running();
    let (mut foreign, mut leaving) = (child(&workshop), child(&workshop));
    foreign["metadata"]["ownerReferences"][0]["uid"] = "another".into();
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T13:00:00Z".into();
    let cluster = ready(&workshop).relisted("services", &foreign).relisted("ingresses", &leaving);
    let calls = cluster.run_operator(at("13:00:01")).await;
    let deleted: Vec<_> = asked(&calls).into_iter().filter(|what| what.starts_with("DELETE")).collect();
    let others = deletes().into_iter().filter(|what| !["DELETE services", "DELETE ingresses"].contains(&what.as_str()));
    assert_eq!(deleted, others.collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn ready_pod_of_an_earlier_workshop_is_not_reported_for_the_next_one_of_the_same_name() {
    let mut next = with_status(Value::Null);
    next["metadata"]["uid"] = "another".into();
    let calls = ready(&running()).relisted("workshops", &next).by_now(&next).run_operator(at("12:30:00")).await;
    assert!(statuses(&calls).count() > 0 && statuses(&calls).all(|status| status["phase"] == "Starting"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn route_that_was_changed_by_hand_is_applied_again() {
    let workshop = running();
    for kind in route_kinds() {
        let mut changed = child(&workshop);
        changed["metadata"]["resourceVersion"] = "2".into();
        let cluster = ready(&workshop).changing(kind, Duration::from_secs(10), &changed);
        let calls = cluster.run_operator(at("12:30:00")).await;
        let applied = calls.iter().filter(|(what, _)| *what == format!("PATCH {kind}")).count();
        assert_eq!(applied, 2, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn unreadable_workshop_fails_and_does_not_stop_the_others() {
    let mut unreadable = running();
    unreadable["metadata"]["name"] = "broken".into();
    unreadable["metadata"]["generation"] = 9.into();
    unreadable["spec"]["port"] = "eighty".into();
    let healthy = with_status(Value::Null);
    let calls = ready(&healthy).listed("workshops", &unreadable).by_now(&unreadable).run_operator(at("12:30:00")).await;
    let written = |name: &str| {
        let mut bodies = calls.iter().filter(|(what, _)| what == "PATCH workshops/status").map(|(_, body)| body);
        bodies.find(|body| body["metadata"]["name"] == name).map(|body| body["status"].clone()).unwrap()
    };
    assert_eq!(written("intro-abcdefghij")["phase"], "Running");
    let failed = written("broken");
    assert_eq!([&failed["phase"], &failed["reason"]], ["Failed", "invalid-spec"]);
    assert_eq!(failed["observedGeneration"], 9);
    assert!(failed["message"].as_str().unwrap().contains("eighty"), "{failed}");
}

#[tokio::test(start_paused = true)]
async fn unreadable_workshop_keeps_the_time_of_its_first_readiness() {
    let mut unreadable = running();
    unreadable["spec"]["lifetimeSeconds"] = 5_000_000_000_u64.into();
    let cluster = ready(&running()).relisted("workshops", &unreadable).by_now(&unreadable);
    let calls = cluster.run_operator(at("12:30:00")).await;
    let (_, body) = calls.iter().find(|(what, _)| what == "PATCH workshops/status").unwrap();
    assert_eq!([&body["status"]["phase"], &body["status"]["readyAt"]], ["Failed", "2026-01-01T12:00:00Z"]);
    assert_eq!(body["metadata"]["resourceVersion"], "5", "the write must fail if the Workshop changes meanwhile");
}

#[tokio::test(start_paused = true)]
async fn pod_that_is_deleted_while_the_watch_is_broken_is_replaced() {
    let cluster = ready(&running()).outdating("pods", Duration::from_secs(30));
    let deletion = async {
        sleep(Duration::from_secs(10)).await; // simulated time
        cluster.clone().unlisted("pods")
    };
    let (calls, _) = join!(cluster.run_operator(at("12:30:00")), deletion);
    assert!(asked(&calls).contains(&"POST pods"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn phase_change_is_reported_once_as_event() {
    let url = "The app answers at https://intro-abcdefghij.workshops.example.org/";
    let expired = "2026-01-01T12:00:01Z";
    let mut over = running();
    over["spec"]["expiresAt"] = expired.into();
    let mut wrong = running();
    wrong["spec"]["appType"] = "nonsense".into();
    let message = "invalid-spec: The workshop's template has settings that cannot run. \
                   spec.appType is not rstudio, notebook or custom.";
    for (workshop, expected) in
        [(with_status(Value::Null), ["Normal", "Running", url]), (wrong, ["Warning", "Failed", message])]
    {
        let calls = ready(&workshop).run_operator(at("12:30:00")).await;
        let events: Vec<_> = calls.iter().filter(|(what, _)| what == "POST events").map(|(_, event)| event).collect();
        let told: Vec<_> = events
            .iter()
            .map(|event| ["type", "reason", "note"].map(|field| event[field].as_str().unwrap_or_default()))
            .collect();
        assert_eq!(told, [expected]);
        assert_eq!(events[0]["regarding"]["name"], "intro-abcdefghij");
    }
    let calls = ready(&over).run_operator(at("12:30:00")).await;
    let events: Vec<_> = calls.iter().filter(|(what, _)| what == "POST events").map(|(_, event)| event).collect();
    assert_eq!(
        events.iter().map(|event| [&event["reason"], &event["note"]]).collect::<Vec<_>>(),
        [[&json!("Expired"), &Value::Null]]
    );
    // The phase stays Running, so the status changes without an Event.
    let calls = ready(&running()).run_operator(at("12:30:00")).await;
    assert!(asked(&calls).contains(&"PATCH workshops/status") && !asked(&calls).contains(&"POST events"), "{calls:?}");
}

/// The page of metrics after a run.
async fn metrics(cluster: &Cluster) -> String {
    let operator = cluster.operator(at("12:30:00"));
    let time = Duration::from_secs(60);
    assert!(timeout(time, run(operator.clone(), Stop::new())).await.is_err(), "it ended by itself");
    let (mut registry, mut page) = (Registry::default(), String::new());
    operator.metrics().register(&mut registry);
    encode(&mut page, &registry).unwrap();
    page
}

#[tokio::test(start_paused = true)]
async fn metrics_count_workshops_transitions_failures_and_reconciles() {
    let page = metrics(&ready(&running())).await;
    for sample in [
        "operator_leading 1",
        "operator_workshops{phase=\"Running\"} 1",
        "operator_workshops{phase=\"Failed\"} 0",
        "operator_reconciles_total{outcome=\"error\"} 0",
    ] {
        assert!(page.lines().any(|line| line == sample), "{sample} is not in {page}");
    }
    assert!(!page.contains("operator_reconciles_total{outcome=\"ok\"} 0"), "{page}");
    let mut wrong = running();
    wrong["spec"]["appType"] = "nonsense".into();
    let page = metrics(&ready(&wrong)).await;
    for sample in
        ["operator_transitions_total{phase=\"Failed\"} 1", "operator_failures_total{reason=\"invalid-spec\"} 1"]
    {
        assert!(page.lines().any(|line| line == sample), "{sample} is not in {page}");
    }
    let page = metrics(&ready(&running()).refusing("services", 500, "etcdserver: request timed out")).await;
    assert!(!page.contains("operator_reconciles_total{outcome=\"error\"} 0"), "{page}");
}
