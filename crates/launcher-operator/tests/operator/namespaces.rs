//! Tests of the namespaces of classes.

use std::time::Duration;

use launcher_operator::OperatorSettings;
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, statuses};
use crate::support::{at, running, settings};

const FULL: &str = "pods \"intro-abcdefghij\" is forbidden: exceeded quota: class, requested: pods=1, used: pods=4, \
                    limited: pods=4";
const TOO_LARGE: &str = "pods \"intro-abcdefghij\" is forbidden: exceeded quota: class, requested: limits.memory=8Gi, \
                         used: limits.memory=0, limited: limits.memory=4Gi";

/// Settings of an operator in the namespace `main`, with these namespaces of classes.
fn with_classes(namespaces: &[&str]) -> OperatorSettings {
    let class_namespaces = namespaces.iter().map(ToString::to_string).collect();
    OperatorSettings { namespace: "main".to_owned(), class_namespaces, ..settings() }
}

/// A new Workshop with this name in a namespace.
fn new_workshop(name: &str, namespace: &str) -> Value {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    for (field, value) in [("name", name), ("namespace", namespace), ("uid", name)] {
        workshop["metadata"][field] = value.into();
    }
    workshop
}

/// Returns phase, and step or reason, of each written status without repetitions.
fn steps(calls: &[Call]) -> Vec<[&str; 2]> {
    let mut steps: Vec<_> = statuses(calls).map(step).collect();
    steps.dedup();
    steps
}

fn step(status: &Value) -> [&str; 2] {
    let more = status["reason"].as_str().or(status["startStep"].as_str());
    [status["phase"].as_str().unwrap(), more.unwrap_or_default()]
}

#[tokio::test(start_paused = true)]
async fn workload_is_created_in_the_namespace_of_its_workshop() {
    let names = [("intro-abcdefghij", "main"), ("exercise-abcdefghij", "class-a"), ("other-abcdefghij", "foreign")];
    let workshops = names.map(|(name, namespace)| new_workshop(name, namespace));
    let cluster = workshops.iter().fold(Cluster::default(), |cluster, workshop| {
        cluster.store("workshops", workshop.clone());
        cluster.listed("workshops", workshop)
    });
    let calls = cluster.with_settings(with_classes(&["class-a", "class-b"])).run_operator(at("12:00:00")).await;
    let pods = calls.iter().filter(|(what, _)| what == "POST pods").map(|(_, body)| &body["metadata"]);
    let mut created: Vec<_> = pods.map(|metadata| json!([metadata["name"], metadata["namespace"]])).collect();
    created.sort_by_key(ToString::to_string);
    created.dedup();
    assert_eq!(created, [json!(["exercise-abcdefghij", "class-a"]), json!(["intro-abcdefghij", "main"])]);
}

/// Runs an operator whose pods in the namespace `class-a` are refused.
async fn refused(message: &'static str, settings: OperatorSettings) -> Vec<Call> {
    let workshop = new_workshop("intro-abcdefghij", "class-a");
    let cluster = Cluster::default().listed("workshops", &workshop).by_now(&workshop);
    cluster.refusing("pods", 403, message).with_settings(settings).run_operator(at("12:00:00")).await
}

#[tokio::test(start_paused = true)]
async fn workshop_of_a_class_waits_for_the_quota_without_failing() {
    let calls = refused(FULL, with_classes(&["class-a"])).await;
    assert_eq!(steps(&calls), [["Starting", "waiting-for-quota"]]);
    let tries = calls.iter().filter(|(what, _)| what == "POST pods").count();
    assert!((20..=60).contains(&tries), "{tries}");
}

#[tokio::test(start_paused = true)]
async fn workshop_beyond_the_whole_quota_fails() {
    let calls = refused(TOO_LARGE, with_classes(&["class-a"])).await;
    assert_eq!(steps(&calls), [["Starting", "waiting-for-room"], ["Failed", "quota-exceeded"]]);
}

#[tokio::test(start_paused = true)]
async fn full_quota_fails_a_workshop_outside_of_classes() {
    let settings = OperatorSettings { namespace: "class-a".to_owned(), ..settings() };
    let settings = OperatorSettings { room_grace: Duration::from_secs(60), ..settings };
    let calls = refused(FULL, settings).await;
    assert_eq!(steps(&calls), [["Starting", "waiting-for-room"], ["Failed", "quota-exceeded"]]);
}
