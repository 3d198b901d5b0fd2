//! Tests of the volume with the owner's files: its claim, its parts of the pod, and Workshops that must not have it.

use std::time::Duration;

use launcher_operator::build::{Manifests, build};
use launcher_operator::validate::validate;
use launcher_operator::{OperatorSettings, VOLUME_LABEL};
use launcher_workshop::{Workshop, WorkshopStorage};
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, statuses, with_routes};
use crate::support::{at, built, pod_object, running, settings, workshop};

const VOLUME: &str = "work-abcdefghij";
const CLAIMS: &str = "persistentvolumeclaims";

/// Adds the volume to a Workshop.
pub(crate) fn with_storage(workshop: &mut Workshop) {
    let [volume, size, path] = [VOLUME, "2Gi", "/home/jovyan"].map(str::to_owned);
    workshop.spec.storage = Some(WorkshopStorage { volume, size, path });
}

fn built_with(settings: &OperatorSettings, change: impl FnOnce(&mut Workshop)) -> Manifests {
    build(&validate(&workshop(change)).unwrap(), settings)
}

#[test]
fn claim_has_the_size_of_the_workshop_and_outlives_it() {
    assert_eq!(built(|_| {}).claim, None);
    let claim = |settings: &OperatorSettings| {
        let claim = serde_json::to_value(built_with(settings, with_storage).claim.unwrap()).unwrap();
        (claim["metadata"].clone(), claim["spec"].clone())
    };
    let (metadata, spec) = claim(&settings());
    let labels = json!({ "app": "workshop", "managed-by": "workshop-launcher" });
    assert_eq!(metadata, json!({ "name": VOLUME, "namespace": "workshops", "labels": labels }));
    let resources = json!({ "requests": { "storage": "2Gi" } });
    assert_eq!(spec, json!({ "accessModes": ["ReadWriteOnce"], "resources": resources }), "the default class");
    let (_, spec) = claim(&OperatorSettings { storage_class: Some("fast".to_owned()), ..settings() });
    assert_eq!(spec["storageClassName"], "fast");
}

#[test]
fn only_the_app_mounts_the_volume() {
    let pod = built(with_storage).pod;
    assert_eq!(pod.metadata.labels.unwrap()[VOLUME_LABEL], VOLUME);
    let spec = serde_json::to_value(pod.spec.unwrap()).unwrap();
    let claim = json!({ "name": "kept-work", "persistentVolumeClaim": { "claimName": VOLUME } });
    assert_eq!(spec["volumes"][1], claim);
    let mount = json!([{ "name": "kept-work", "mountPath": "/home/jovyan" }]);
    assert_eq!((&spec["containers"][0]["name"], &spec["containers"][0]["volumeMounts"]), (&json!("app"), &mount));
    assert!(!spec["containers"][1].to_string().contains("kept-work"), "{spec}");
}

#[test]
fn files_have_the_group_of_the_app_unless_the_cluster_assigns_it() {
    for (user, group) in [(Some(1001), json!(1001)), (None, Value::Null)] {
        let settings = OperatorSettings { run_as_user: user, ..settings() };
        let spec = serde_json::to_value(built_with(&settings, with_storage).pod.spec.unwrap()).unwrap();
        let context = &spec["securityContext"];
        assert_eq!((&context["fsGroup"], &context["fsGroupChangePolicy"]), (&group, &json!("OnRootMismatch")));
        assert_eq!(context["seccompProfile"]["type"], "RuntimeDefault");
        let plain = serde_json::to_value(built_with(&settings, |_| {}).pod.spec.unwrap()).unwrap();
        assert_eq!(plain["securityContext"], json!({ "seccompProfile": { "type": "RuntimeDefault" } }));
    }
}

#[test]
fn operators_group_and_mount_win_over_the_pod_template() {
    let template = json!({ "spec": {
        "volumes": [{ "name": "work", "emptyDir": {} }],
        "containers": [{ "name": "app", "volumeMounts": [
            { "name": "work", "mountPath": "/home/jovyan/" }, { "name": "work", "mountPath": "/home/jovyan/work" },
        ] }],
        "securityContext": { "fsGroup": 100, "fsGroupChangePolicy": "Always", "supplementalGroups": [5] },
    } });
    let pod = built(|workshop| {
        with_storage(workshop);
        workshop.spec.pod_template = template.as_object().cloned();
    });
    let spec = serde_json::to_value(pod.pod.spec.unwrap()).unwrap();
    let mounts = json!([
        { "name": "kept-work", "mountPath": "/home/jovyan" }, { "name": "work", "mountPath": "/home/jovyan/work" },
    ]);
    assert_eq!(spec["containers"][0]["volumeMounts"], mounts);
    let context = &spec["securityContext"];
    assert_eq!((&context["fsGroup"], &context["fsGroupChangePolicy"]), (&json!(1000), &json!("OnRootMismatch")));
    assert_eq!(context["supplementalGroups"], json!([5]));
}

/// A new Workshop with the volume.
fn new_workshop() -> Value {
    let mut workshop = running();
    workshop["spec"]["storage"] = json!({ "volume": VOLUME, "size": "2Gi", "path": "/home/jovyan" });
    workshop["spec"]["expiresAt"] = Value::Null;
    workshop["status"] = Value::Null;
    workshop
}

/// The new Workshop without a pod.
fn cluster() -> Cluster {
    let workshop = new_workshop();
    with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop)
}

fn claim(labels: &Value) -> Value {
    json!({ "metadata": { "name": VOLUME, "namespace": "workshops", "uid": "claim", "labels": labels } })
}

/// The pod of another Workshop with the volume.
fn other_pod() -> Value {
    let mut pod = pod_object(&json!({ "phase": "Running" }));
    pod["metadata"]["name"] = "other".into();
    pod["metadata"]["uid"] = "other".into();
    pod["metadata"]["resourceVersion"] = "2".into();
    pod["metadata"]["labels"] = json!({ "workshoplauncher.dev/workshop": "other", VOLUME_LABEL: VOLUME });
    pod["metadata"]["ownerReferences"][0]["name"] = "other".into();
    pod["metadata"]["ownerReferences"][0]["uid"] = "other-workshop".into();
    pod
}

/// The requests for claims and pods.
fn requests(calls: &[Call]) -> Vec<&str> {
    let about = |what: &str| what.ends_with(CLAIMS) || what == "POST pods" || what.starts_with("DELETE");
    calls.iter().map(|(what, _)| what.as_str()).filter(|what| about(what)).collect()
}

fn last(calls: &[Call]) -> [&Value; 3] {
    ["phase", "startStep", "reason"].map(|field| &statuses(calls).last().unwrap()[field])
}

#[tokio::test(start_paused = true)]
async fn missing_claim_is_created_before_the_pod() {
    let calls = cluster().run_operator(at("12:00:00")).await;
    let expected = ["GET persistentvolumeclaims", "POST persistentvolumeclaims", "POST pods"];
    assert_eq!(requests(&calls)[..3], expected);
    let (_, claim) = calls.iter().find(|(what, _)| what == "POST persistentvolumeclaims").unwrap();
    assert_eq!(claim["metadata"]["name"], VOLUME);
    assert_eq!(requests(&calls).iter().filter(|what| **what == expected[1]).count(), 1, "the next pod finds the claim");
}

#[tokio::test(start_paused = true)]
async fn existing_claim_is_kept_as_it_is() {
    let cluster = cluster();
    cluster.store(CLAIMS, claim(&json!({ "managed-by": "workshop-launcher" })));
    let calls = cluster.run_operator(at("12:00:00")).await;
    assert_eq!(requests(&calls)[..2], ["GET persistentvolumeclaims", "POST pods"]);
    assert!(!requests(&calls).contains(&"POST persistentvolumeclaims"));
}

#[tokio::test(start_paused = true)]
async fn workshop_without_storage_or_with_a_pod_causes_no_request_for_a_claim() {
    let mut plain = new_workshop();
    plain["spec"]["storage"] = Value::Null;
    let without = with_routes(&plain).listed("workshops", &plain).by_now(&plain);
    for cluster in [without, cluster().listed("pods", &pod_object(&json!({})))] {
        let calls = cluster.run_operator(at("12:00:00")).await;
        assert!(!requests(&calls).iter().any(|what| what.ends_with(CLAIMS)), "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_with_a_foreign_claim_fails_with_an_explanation() {
    for labels in [Value::Null, json!({ "app": "workshop", "managed-by": "Helm" })] {
        let cluster = cluster();
        cluster.store(CLAIMS, claim(&labels));
        let calls = cluster.run_operator(at("12:00:00")).await;
        assert_eq!(last(&calls), [&json!("Failed"), &Value::Null, &json!("invalid-spec")]);
        let message = statuses(&calls).last().unwrap()["message"].clone();
        let cause = "spec.storage.volume names the PersistentVolumeClaim work-abcdefghij, which does not have the label \
                     managed-by: workshop-launcher.";
        assert!(message.as_str().unwrap().ends_with(cause), "{message}");
        let requests = requests(&calls);
        assert!(
            !requests.contains(&"POST pods") && !requests.contains(&"DELETE persistentvolumeclaims"),
            "{requests:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_whose_claim_exceeds_the_quota_waits_and_then_fails() {
    let message = "persistentvolumeclaims \"work-abcdefghij\" is forbidden: exceeded quota: few, requested: \
                   persistentvolumeclaims=1";
    let calls = cluster().refusing(CLAIMS, 403, message).run_operator(at("12:00:00")).await;
    assert_eq!(statuses(&calls).next().unwrap()["startStep"], "waiting-for-room");
    assert_eq!(last(&calls), [&json!("Failed"), &Value::Null, &json!("quota-exceeded")]);
}

#[tokio::test(start_paused = true)]
async fn missing_permission_for_claims_is_retried_without_failure() {
    let message = "persistentvolumeclaims is forbidden: User \"operator\" cannot create resource \
                   \"persistentvolumeclaims\" in API group \"\"";
    let calls = cluster().refusing(CLAIMS, 403, message).run_operator(at("12:00:00")).await;
    assert_eq!(statuses(&calls).count(), 0);
    assert!(requests(&calls).iter().filter(|what| **what == "POST persistentvolumeclaims").count() > 5);
}

#[tokio::test(start_paused = true)]
async fn workshop_waits_until_the_pod_of_another_workshop_with_its_volume_is_gone() {
    let other = other_pod();
    let mut leaving = other.clone();
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:10Z".into();
    let cluster = cluster().listed("pods", &other).changing("pods", Duration::from_secs(10), &leaving);
    let waiting = cluster.run_operator(at("12:00:00")).await;
    // The other Workshop is gone, so the operator deletes its pod.
    assert!(requests(&waiting).iter().all(|what| *what == "DELETE pods"), "{waiting:?}");
    assert_eq!(last(&waiting), [&json!("Starting"), &json!("preparing"), &Value::Null]);
    let condition = &statuses(&waiting).last().unwrap()["conditions"][0];
    assert_eq!(condition["reason"], "VolumeInUse");
    assert_eq!(condition["message"], "the volume work-abcdefghij is in use by the workshop other");

    let calls = cluster.vanishing("pods", Duration::from_secs(10), &leaving).run_operator(at("12:00:30")).await;
    assert!(requests(&calls).contains(&"POST pods"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn workshop_whose_volume_stays_in_use_fails_after_the_start_timeout() {
    let settings = OperatorSettings { start_timeout: Duration::from_secs(90), ..settings() };
    let calls = cluster().listed("pods", &other_pod()).with_settings(settings).run_operator(at("12:00:00")).await;
    assert_eq!(last(&calls), [&json!("Failed"), &Value::Null, &json!("start-timeout")]);
    let message = statuses(&calls).last().unwrap()["message"].clone();
    let cause = "The volume work-abcdefghij is still in use by the workshop other.";
    assert!(message.as_str().unwrap().ends_with(cause), "{message}");
}

#[tokio::test(start_paused = true)]
async fn grace_period_of_a_quota_begins_after_the_wait_for_the_volume() {
    let message = "pods \"intro-abcdefghij\" is forbidden: exceeded quota: few, requested: pods=1";
    let other = other_pod();
    // The pod is gone after a minute and a half. The grace period of a quota is one minute.
    let cluster = cluster().listed("pods", &other).vanishing("pods", Duration::from_secs(90), &other);
    let calls = cluster.refusing("pods", 403, message).run_operator(at("12:00:00")).await;
    assert_eq!(last(&calls), [&json!("Starting"), &json!("waiting-for-room"), &Value::Null]);
}

#[tokio::test(start_paused = true)]
async fn volume_of_two_new_workshops_is_used_by_one_pod() {
    let mut second = new_workshop();
    second["metadata"]["name"] = "second-abcdefghij".into();
    second["metadata"]["uid"] = "0a1b2c3d-0000-4000-8000-000000000002".into();
    let calls = cluster().listed("workshops", &second).by_now(&second).run_operator(at("12:00:00")).await;
    let mut pods: Vec<_> = calls.iter().filter(|(what, _)| what == "POST pods").map(|(_, pod)| pod).collect();
    pods.dedup_by(|one, other| one["metadata"]["name"] == other["metadata"]["name"]);
    assert_eq!(pods.len(), 1, "{pods:?}");
}

#[tokio::test(start_paused = true)]
async fn pod_template_does_not_mount_the_files_of_a_user() {
    let mut workshop = new_workshop();
    workshop["spec"]["podTemplate"] = json!({ "spec": {
        "volumes": [{ "name": "theirs", "persistentVolumeClaim": { "claimName": "work-zzzzzzzzzz" } }],
    } });
    let cluster = with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop);
    let calls = cluster.run_operator(at("12:00:00")).await;
    assert_eq!(last(&calls), [&json!("Failed"), &Value::Null, &json!("invalid-spec")]);
    let message = statuses(&calls).last().unwrap()["message"].clone();
    let cause = "at /spec/volumes/0/persistentVolumeClaim: work-zzzzzzzzzz is reserved for the launcher.";
    assert!(message.as_str().unwrap().ends_with(cause), "{message}");
}
