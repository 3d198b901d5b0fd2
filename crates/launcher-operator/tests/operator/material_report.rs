//! Tests of the report about course material: from the init container into the status of the Workshop.

use launcher_operator::OperatorSettings;
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, statuses, with_children, with_routes};
use crate::material::material;
use crate::support::{at, pod_object, running, settings};

/// A new Workshop with material.
fn new_workshop() -> Value {
    let mut workshop = running();
    workshop["spec"]["material"] = material();
    workshop["spec"]["expiresAt"] = Value::Null;
    workshop["status"] = Value::Null;
    workshop
}

/// A pod whose init container is in this state, and whose app waits for it, or runs and is ready.
fn pod_with(state: &Value, last: &Value, is_ready: bool) -> Value {
    let status = |name: &str, state: &Value, last: &Value| {
        json!({
            "name": name, "image": "i", "imageID": "", "ready": false, "restartCount": i32::from(!last.is_null()),
            "state": state, "lastState": last,
        })
    };
    let ready = if is_ready { "True" } else { "False" };
    let app = if is_ready { json!({ "running": {} }) } else { json!({ "waiting": { "reason": "PodInitializing" } }) };
    pod_object(&json!({
        "phase": if is_ready { "Running" } else { "Pending" },
        "conditions": [
            { "type": "PodReadyToStartContainers", "status": "True" }, { "type": "Ready", "status": ready },
        ],
        "initContainerStatuses": [status("course-material", state, last)],
        "containerStatuses": [status("app", &app, &Value::Null)],
    }))
}

fn ended(exit_code: i32, message: &str) -> Value {
    json!({ "terminated": { "exitCode": exit_code, "reason": "Completed", "message": message } })
}

fn cluster(workshop: &Value, pod: &Value) -> Cluster {
    with_children(workshop).listed("workshops", workshop).by_now(workshop).relisted("pods", pod)
}

fn last(calls: &[Call]) -> Value {
    statuses(calls).last().unwrap().clone()
}

async fn status_with(workshop: &Value, pod: &Value) -> Value {
    last(&cluster(workshop, pod).run_operator(at("12:00:05")).await)
}

#[tokio::test(start_paused = true)]
async fn report_of_the_init_container_is_in_the_status() {
    let report = json!({ "sources": [
        { "target": "stats-101", "outcome": "updated", "version": "0123abc", "conflicts": ["week1/a.ipynb"],
          "conflictCount": 12, "message": null },
        { "target": "data", "outcome": "failed", "version": null, "conflicts": [], "conflictCount": 0,
          "message": "The server does not answer." },
    ] });
    let status = status_with(&new_workshop(), &pod_with(&ended(0, &format!("{report}\n")), &Value::Null, true)).await;
    assert_eq!(status["phase"], "Running");
    let expected = json!({ "sources": [
        { "target": "stats-101", "outcome": "updated", "version": "0123abc", "conflicts": ["week1/a.ipynb"],
          "conflictCount": 12 },
        { "target": "data", "outcome": "failed", "conflictCount": 0, "message": "The server does not answer." },
    ] });
    assert_eq!(status["material"], expected);
}

#[tokio::test(start_paused = true)]
async fn hostile_report_is_bounded_and_names_only_targets_of_the_workshop() {
    let long = "\u{202e}".repeat(700);
    let of = |target: &str| {
        json!({
            "target": target, "outcome": "placed", "version": "1", "conflicts": [long], "conflictCount": 1,
        })
    };
    let report = json!({ "sources": [of("data"), of("other")] }).to_string();
    assert!(report.len() < 4500, "{}", report.len());
    let status = status_with(&new_workshop(), &pod_with(&ended(0, &report), &Value::Null, true)).await;
    let sources = status["material"]["sources"].as_array().unwrap();
    assert!(sources.iter().all(|source| source["target"] != "other"), "{sources:?}");
    assert!(!status.to_string().contains('\u{202e}'), "{status}");
    assert!(status.to_string().len() < 8000, "{status}");
}

#[tokio::test(start_paused = true)]
async fn unreadable_report_is_a_failure_of_all_sources_and_not_of_the_workshop() {
    for message in ["", "panicked at", "{\"sources\": [{\"target\": \"../../etc\", \"outcome\": \"placed\"}]}"] {
        let status = status_with(&new_workshop(), &pod_with(&ended(0, message), &Value::Null, true)).await;
        assert_eq!(status["phase"], "Running");
        let sources = status["material"]["sources"].as_array().unwrap();
        let outcomes: Vec<_> = sources.iter().map(|one| (&one["target"], &one["outcome"])).collect();
        assert_eq!(outcomes, [(&json!("stats-101"), &json!("failed")), (&json!("data"), &json!("failed"))]);
    }
}

#[tokio::test(start_paused = true)]
async fn report_stays_in_the_status_of_a_workshop_whose_pod_has_none() {
    let mut workshop = new_workshop();
    let material = json!({ "sources": [{ "target": "data", "outcome": "placed", "conflictCount": 0 }] });
    workshop["status"] = json!({ "phase": "Starting", "material": material });
    for pod in [pod_with(&json!({ "running": {} }), &Value::Null, false), pod_object(&json!({}))] {
        assert_eq!(status_with(&workshop, &pod).await["material"], material);
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_starts_without_material_if_the_operator_has_no_image() {
    let workshop = new_workshop();
    let settings = OperatorSettings { material_image: None, ..settings() };
    let ready = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    let calls = cluster(&workshop, &ready).with_settings(settings).run_operator(at("12:00:05")).await;
    let status = last(&calls);
    assert_eq!(status["phase"], "Running");
    for source in status["material"]["sources"].as_array().unwrap() {
        assert_eq!(source["outcome"], "failed");
        assert!(source["message"].as_str().unwrap().contains("SERVICE_MATERIAL_IMAGE"), "{source}");
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_without_material_has_no_report() {
    let mut workshop = new_workshop();
    workshop["spec"]["material"] = Value::Null;
    let calls = with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop);
    assert_eq!(last(&calls.run_operator(at("12:00:00")).await)["material"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn start_step_names_the_material_while_it_is_loaded_and_loaded_again_after_a_kill() {
    let killed = ended(137, "");
    let running = json!({ "running": {} });
    for (state, last) in [(&running, &Value::Null), (&killed, &Value::Null), (&running, &killed)] {
        let status = status_with(&new_workshop(), &pod_with(state, last, false)).await;
        assert_eq!((&status["phase"], &status["startStep"]), (&json!("Starting"), &json!("loading-material")));
        assert_eq!(status["material"], Value::Null, "no report yet");
    }
    let loaded = pod_with(&ended(0, "{\"sources\": []}"), &Value::Null, false);
    assert_eq!(status_with(&new_workshop(), &loaded).await["startStep"], "pulling-image");
}

#[tokio::test(start_paused = true)]
async fn program_that_cannot_run_at_all_is_an_explained_failure() {
    let waiting = json!({ "waiting": { "reason": "CrashLoopBackOff" } });
    let cluster = cluster(&new_workshop(), &pod_with(&waiting, &ended(2, ""), false)).with_log(true, "the log");
    let status = last(&cluster.run_operator(at("12:00:05")).await);
    assert_eq!((&status["phase"], &status["reason"]), (&json!("Failed"), &json!("crashed")));
    let message = status["message"].as_str().unwrap();
    assert!(
        message.contains("The init container course-material terminated repeatedly with exit code 2."),
        "{message}"
    );
}
