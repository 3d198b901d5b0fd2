//! Tests of the reconciles of downloads, on a simulated cluster.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::{Call, Cluster};
use crate::reader_pod::download;
use crate::support::at;

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
