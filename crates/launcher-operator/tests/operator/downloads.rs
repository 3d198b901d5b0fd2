//! Tests of downloads: the pod that reads a volume, and the reconciles on a simulated cluster.

use std::time::Duration;

use launcher_operator::OperatorSettings;
use launcher_operator::build::reader_pod;
use launcher_workshop::WorkshopDownload;
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster};
use crate::support::{at, settings};

const DOWNLOADS: &str = "workshopdownloads";

fn claim(labels: Value) -> Value {
    json!({ "metadata": { "name": "work-abcdefghij", "uid": "claim", "labels": labels } })
}

/// A cluster with a download and the claim of its volume.
fn cluster() -> Cluster {
    let cluster = Cluster::default().listed(DOWNLOADS, &download());
    cluster.store(DOWNLOADS, download());
    cluster.store("persistentvolumeclaims", claim(json!({ "managed-by": "workshop-launcher" })));
    cluster
}

fn pod(status: Value) -> Value {
    json!({
        "metadata": {
            "name": "work-abcdefghij-01234567", "namespace": "workshops", "uid": "pod",
            "labels": { "app": "workshop-download", "workshoplauncher.dev/volume": "work-abcdefghij" },
            "ownerReferences": [{
                "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "WorkshopDownload", "uid": "download",
                "name": "work-abcdefghij-01234567",
            }],
        },
        "spec": { "nodeName": "a", "containers": [] },
        "status": status,
    })
}

/// The first requests of an operator that starts at this time.
async fn calls(cluster: &Cluster, time: &str) -> Vec<Call> {
    let mut calls = cluster.run_operator(at(time)).await;
    calls.truncate(4);
    calls
}

fn names(calls: &[Call]) -> Vec<&str> {
    calls.iter().map(|(what, _)| what.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn pod_is_created_for_a_download_of_the_operators_volume() {
    let calls = calls(&cluster(), "12:00:01").await;
    let expected = ["GET workshopdownloads", "GET persistentvolumeclaims", "POST pods"];
    assert_eq!(names(&calls)[..3], expected);
    assert_eq!(calls[2].1["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"], "work-abcdefghij");
}

#[tokio::test(start_paused = true)]
async fn foreign_or_missing_claim_is_not_read() {
    let foreign = cluster();
    foreign.store("persistentvolumeclaims", claim(json!({ "managed-by": "Helm" })));
    let missing = Cluster::default().listed(DOWNLOADS, &download());
    missing.store(DOWNLOADS, download());
    for cluster in [foreign, missing] {
        let calls = calls(&cluster, "12:00:01").await;
        let expected = ["GET workshopdownloads", "GET persistentvolumeclaims", "DELETE workshopdownloads"];
        assert_eq!(names(&calls)[..3], expected);
        assert_eq!(calls[2].1["preconditions"]["uid"], "download");
        assert!(!names(&calls).contains(&"POST pods"));
    }
}

#[tokio::test(start_paused = true)]
async fn download_that_is_gone_gets_no_pod() {
    let cluster = Cluster::default().listed(DOWNLOADS, &download());
    let calls = calls(&cluster, "12:00:01").await;
    assert!(names(&calls).iter().all(|name| *name == "GET workshopdownloads"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn ready_pod_is_reported() {
    let status = json!({
        "phase": "Running", "podIP": "10.0.0.7", "conditions": [{ "type": "Ready", "status": "True" }],
    });
    let calls = calls(&cluster().listed("pods", &pod(status)), "12:00:01").await;
    assert_eq!(calls[0].0, "PATCH workshopdownloads/status");
    assert_eq!(calls[0].1["status"], json!({ "address": "10.0.0.7:8080" }));
}

#[tokio::test(start_paused = true)]
async fn ended_pod_and_its_download_are_deleted_by_uid() {
    let calls = calls(&cluster().listed("pods", &pod(json!({ "phase": "Succeeded" }))), "12:00:01").await;
    assert_eq!(names(&calls)[..2], ["DELETE pods", "DELETE workshopdownloads"]);
    let uids: Vec<_> = calls[..2].iter().map(|(_, body)| &body["preconditions"]["uid"]).collect();
    assert_eq!(uids, ["pod", "download"]);
}

#[tokio::test(start_paused = true)]
async fn download_that_a_killed_launcher_left_is_deleted() {
    let calls = calls(&cluster(), "12:05:00").await;
    assert_eq!(names(&calls)[..1], ["DELETE workshopdownloads"]);
}

#[tokio::test(start_paused = true)]
async fn refused_pod_is_reported_with_the_reason() {
    let cluster = cluster().refusing("pods", 403, "exceeded quota: few");
    let calls = calls(&cluster, "12:00:01").await;
    assert_eq!(calls[3].0, "PATCH workshopdownloads/status");
    assert_eq!(calls[3].1["status"], json!({ "message": "exceeded quota: few" }));
}

#[tokio::test(start_paused = true)]
async fn missing_definition_of_downloads_does_not_stop_the_operator() {
    let cluster = Cluster::default().without_kind(DOWNLOADS);
    let operator = cluster.operator(at("12:00:00"));
    let stop = launcher_process::stop::Stop::new();
    let ran = tokio::time::timeout(Duration::from_secs(120), launcher_operator::run(operator.clone(), stop)).await;
    assert!(ran.is_err(), "it ended by itself");
    assert!(operator.ready().is_ok());
}

const DIGEST: &str = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";

fn download() -> Value {
    json!({
        "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "WorkshopDownload",
        "metadata": {
            "name": "work-abcdefghij-01234567", "namespace": "workshops", "uid": "download", "resourceVersion": "3",
            "creationTimestamp": "2026-01-01T12:00:00Z",
        },
        "spec": { "volume": "work-abcdefghij", "tokenSha256": DIGEST },
    })
}

fn built_pod(settings: &OperatorSettings) -> Value {
    let download: WorkshopDownload = serde_json::from_value(download()).unwrap();
    serde_json::to_value(reader_pod(&download, settings)).unwrap()
}

#[test]
fn pod_belongs_to_the_download_and_is_no_pod_of_a_workshop() {
    let metadata = built_pod(&settings())["metadata"].clone();
    assert_eq!(metadata["name"], "work-abcdefghij-01234567");
    let labels = json!({
        "app": "workshop-download", "managed-by": "workshop-launcher", "workshoplauncher.dev/volume": "work-abcdefghij",
    });
    assert_eq!(metadata["labels"], labels);
    let owner = &metadata["ownerReferences"][0];
    assert_eq!((&owner["kind"], &owner["uid"]), (&json!("WorkshopDownload"), &json!("download")));
    assert_eq!(owner["blockOwnerDeletion"], Value::Null, "would need a permission for finalizers");
}

#[test]
fn pod_is_admitted_by_the_restricted_profile_and_has_no_credentials() {
    let spec = built_pod(&settings())["spec"].clone();
    let container = &spec["containers"][0];
    assert_eq!(spec["automountServiceAccountToken"], false);
    assert_eq!(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    let expected = json!({
        "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] }, "privileged": false,
        "readOnlyRootFilesystem": true, "runAsNonRoot": true, "runAsUser": 1000,
    });
    assert_eq!(container["securityContext"], expected);
    assert_eq!(container["resources"]["limits"], json!({ "cpu": "1", "memory": "64Mi" }));
    assert_eq!(container["env"].as_array().unwrap().len(), 3, "{container}");
    assert!(!spec.to_string().contains("secret"), "{spec}");
}

#[test]
fn files_have_the_user_and_the_group_of_workshops_unless_the_cluster_assigns_them() {
    for (user, expected) in [(Some(1001), json!(1001)), (None, Value::Null)] {
        let spec = built_pod(&OperatorSettings { run_as_user: user, ..settings() })["spec"].clone();
        assert_eq!(spec["containers"][0]["securityContext"]["runAsUser"], expected);
        assert_eq!(spec["securityContext"]["fsGroup"], expected);
        assert_eq!(spec["securityContext"]["fsGroupChangePolicy"], "OnRootMismatch");
    }
}

#[test]
fn pod_reads_one_volume_on_the_node_that_has_it() {
    let spec = built_pod(&settings())["spec"].clone();
    let volume = json!([{ "name": "kept-work", "persistentVolumeClaim": { "claimName": "work-abcdefghij" } }]);
    assert_eq!(spec["volumes"], volume);
    let mount = json!([{ "name": "kept-work", "mountPath": "/kept-work", "readOnly": true }]);
    assert_eq!(spec["containers"][0]["volumeMounts"], mount);
    let terms = &spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let labels = json!({ "workshoplauncher.dev/volume": "work-abcdefghij" });
    assert_eq!(terms[0]["labelSelector"]["matchLabels"], labels);
    assert_eq!(terms[0]["topologyKey"], "kubernetes.io/hostname");
}

#[test]
fn program_is_ready_when_it_can_send_and_ends_without_a_client() {
    let container = built_pod(&settings())["spec"]["containers"][0].clone();
    let variable = |name: &str, value: &str| json!({ "name": name, "value": value });
    let env = json!([
        variable("SERVICE_ARCHIVE_DIRECTORY", "/kept-work"),
        variable("SERVICE_ARCHIVE_TOKEN_SHA256", DIGEST),
        variable("SERVICE_ARCHIVE_WAIT", "60"),
    ]);
    assert_eq!(container["env"], env);
    assert_eq!(container["readinessProbe"]["httpGet"], json!({ "path": "/ready", "port": 8080 }));
}

#[test]
fn pod_ends_without_the_operator() {
    let spec = built_pod(&settings())["spec"].clone();
    assert_eq!((&spec["restartPolicy"], &spec["activeDeadlineSeconds"]), (&json!("Never"), &json!(21600)));
}

#[test]
fn pod_has_the_placement_and_the_images_of_workshops() {
    let mut settings = settings();
    settings.node_selector.insert("pool".to_owned(), "workshops".to_owned());
    let spec = built_pod(&settings)["spec"].clone();
    assert_eq!(spec["nodeSelector"], json!({ "pool": "workshops" }));
    assert_eq!(spec["imagePullSecrets"], json!([{ "name": "registry" }]));
    let container = &spec["containers"][0];
    assert_eq!(container["image"], "registry.example.org/sidecar:1");
    assert_eq!((&container["args"], &container["imagePullPolicy"]), (&json!(["archive"]), &json!("IfNotPresent")));
}
