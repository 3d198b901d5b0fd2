//! The expiry of a workshop in its pod: the annotation that the operator writes, and the file that the sidecar reads.

use launcher_workshop::{Workshop, WorkshopStatus};
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, statuses, with_children};
use crate::support::{at, built, pod, pod_object, running, settings};

const EXPIRES_AT: &str = "workshoplauncher.dev/expires-at";

/// A cluster with a running Workshop that expires at 13:00, and its ready pod with these annotations.
fn cluster(annotations: Value) -> Cluster {
    cluster_of(&running(), annotations)
}

fn cluster_of(workshop: &Value, annotations: Value) -> Cluster {
    let mut ready = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    ready["metadata"]["annotations"] = annotations;
    with_children(workshop).listed("workshops", workshop).by_now(workshop).relisted("pods", &ready)
}

fn pod_patches(calls: &[Call]) -> Vec<&Value> {
    calls.iter().filter(|(what, _)| what.as_str() == "PATCH pods").map(|(_, body)| body).collect()
}

#[tokio::test(start_paused = true)]
async fn expiry_is_written_to_the_pod_after_its_creation() {
    for before in ["", "2026-01-01T12:30:00Z"] {
        let calls = cluster(json!({ EXPIRES_AT: before, "other": "x" })).run_operator(at("12:30:00")).await;
        let patches = pod_patches(&calls);
        let expected = json!({ "metadata": { "annotations": { EXPIRES_AT: "2026-01-01T13:00:00Z" } } });
        assert!(!patches.is_empty() && patches.iter().all(|patch| **patch == expected), "{patches:?}");
        assert_eq!(statuses(&calls).last().unwrap()["frameUrl"], format!("https://{}/_launcher/frame", host()));
    }
}

#[test]
fn new_pod_has_the_lifetime_or_a_known_expiry() {
    let noted = |change: fn(&mut Workshop)| built(change).pod.metadata.annotations.unwrap()[EXPIRES_AT].clone();
    assert_eq!(noted(|workshop| workshop.spec.lifetime_seconds = 5400), "+5400");
    let extended = |workshop: &mut Workshop| workshop.spec.expires_at = Some(at("15:00:00"));
    assert_eq!(noted(extended), "2026-01-01T15:00:00Z");
    let replaced = |workshop: &mut Workshop| {
        workshop.spec.lifetime_seconds = 3600;
        workshop.status = Some(WorkshopStatus { ready_at: Some(at("12:00:00")), ..WorkshopStatus::default() });
    };
    assert_eq!(noted(replaced), "2026-01-01T13:00:00Z", "a pod that replaces another one");
}

#[tokio::test(start_paused = true)]
async fn lifetime_in_the_pod_is_replaced_when_the_workshop_has_been_ready_for_a_minute() {
    let mut workshop = running();
    workshop["spec"]["expiresAt"] = Value::Null;
    workshop["spec"]["lifetimeSeconds"] = 3600.into();
    for (now, is_replaced) in [("12:00:59", false), ("12:01:00", true)] {
        let calls = cluster_of(&workshop, json!({ EXPIRES_AT: "+3600" })).run_operator(at(now)).await;
        assert_eq!(!pod_patches(&calls).is_empty(), is_replaced, "{now}");
    }
}

#[tokio::test(start_paused = true)]
async fn extension_replaces_the_lifetime_in_the_pod_at_once() {
    let mut workshop = running();
    workshop["spec"]["expiresAt"] = "2026-01-01T15:00:00Z".into();
    workshop["spec"]["lifetimeSeconds"] = 3600.into();
    let calls = cluster_of(&workshop, json!({ EXPIRES_AT: "+3600" })).run_operator(at("12:00:30")).await;
    let expected = json!({ "metadata": { "annotations": { EXPIRES_AT: "2026-01-01T15:00:00Z" } } });
    assert_eq!(pod_patches(&calls).first(), Some(&&expected), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn pod_with_current_expiry_is_not_patched() {
    let calls = cluster(json!({ EXPIRES_AT: "2026-01-01T13:00:00Z" })).run_operator(at("12:30:00")).await;
    assert_eq!(pod_patches(&calls), Vec::<&Value>::new());
}

#[tokio::test(start_paused = true)]
async fn refused_write_of_expiry_does_not_prevent_the_end() {
    let cluster = cluster(json!({ EXPIRES_AT: "" })).refusing("pods", 403, "pods is forbidden");
    let calls = cluster.run_operator(at("12:59:30")).await;
    assert!(statuses(&calls).any(|status| status["phase"] == "Expired"), "{calls:?}");
}

#[test]
fn only_the_sidecar_mounts_the_file_with_the_expiry() {
    let pod = serde_json::to_value(pod(&settings(), "restricted")).unwrap();
    let field = |name: &str| json!({ "fieldPath": format!("metadata.annotations['{name}']") });
    let source = json!({ "items": [
        { "path": "expires-at", "fieldRef": field(EXPIRES_AT) },
        { "path": "last-crash", "fieldRef": field("workshoplauncher.dev/last-crash") },
    ] });
    assert_eq!(pod["volumes"], json!([{ "name": "expiry", "downwardAPI": source }]));
    assert_eq!(pod["containers"][0]["volumeMounts"], Value::Null);
    let mount = json!({ "name": "expiry", "mountPath": "/etc/workshop-launcher/expiry", "readOnly": true });
    assert_eq!(pod["containers"][1]["volumeMounts"], json!([mount]));
    let env = pod["containers"][1]["env"].as_array().unwrap();
    for (name, value) in [
        ("SERVICE_EXPIRY_FILE", "/etc/workshop-launcher/expiry/expires-at"),
        ("SERVICE_LAST_CRASH_FILE", "/etc/workshop-launcher/expiry/last-crash"),
        ("SERVICE_WORKSHOP_PAGE_URL", "https://launcher.example.org/instances/intro-abcdefghij"),
    ] {
        assert!(env.contains(&json!({ "name": name, "value": value })), "{name} in {env:?}");
    }
}

fn host() -> &'static str {
    "intro-abcdefghij.workshops.example.org"
}
