//! Tests that the operator completes the deletion of a Workshop in the foreground, and only after its resources are gone.

use std::time::Duration;

use launcher_operator::build::plurals;
use serde_json::{Value, json};

use crate::cluster::{Cluster, child, deletes, with_children};
use crate::support::{at, pod_object, running};

/// A Workshop that is being deleted in the foreground, changed by `change`.
fn leaving(change: impl FnOnce(&mut Value)) -> Value {
    let mut workshop = running();
    workshop["metadata"]["deletionTimestamp"] = "2026-01-01T12:29:59Z".into();
    workshop["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
    change(&mut workshop);
    workshop
}

/// The options of each deletion of a Workshop that the operator requests.
async fn deletions(cluster: Cluster) -> Vec<Value> {
    let calls = cluster.run_operator(at("12:30:00")).await;
    calls.into_iter().filter(|(what, _)| what == "DELETE workshops").map(|(_, options)| options).collect()
}

#[tokio::test(start_paused = true)]
async fn workshop_without_resources_is_deleted_by_uid_in_the_background() {
    let workshop = leaving(|_| {});
    let deleted = deletions(Cluster::default().listed("workshops", &workshop).by_now(&workshop)).await;
    assert_eq!(deleted[0]["propagationPolicy"], "Background");
    assert_eq!(deleted[0]["preconditions"]["uid"], workshop["metadata"]["uid"]);
}

#[tokio::test(start_paused = true)]
async fn workshop_is_deleted_when_its_last_resource_is_gone() {
    let workshop = leaving(|_| {});
    let cluster = || Cluster::default().listed("workshops", &workshop).by_now(&workshop);
    let mut pod = pod_object(&json!({}));
    // The watch continues after this version. Without it, the operator would list the pods again.
    pod["metadata"]["resourceVersion"] = "1".into();
    for kind in plurals() {
        let resource = if kind == "pods" { pod.clone() } else { child(&workshop) };
        assert_eq!(deletions(cluster().listed(kind, &resource)).await, Vec::<Value>::new(), "{kind}");
        let gone = cluster().listed(kind, &resource).vanishing(kind, Duration::from_secs(1), &resource);
        assert_eq!(deletions(gone).await.len(), 1, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_with_a_pod_that_the_watch_has_not_reported_is_not_deleted() {
    let workshop = leaving(|_| {});
    let cluster = Cluster::default().listed("workshops", &workshop).by_now(&workshop);
    cluster.store("pods", pod_object(&json!({})));
    assert_eq!(deletions(cluster).await, Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn resources_of_an_earlier_workshop_with_the_same_name_do_not_keep_the_workshop() {
    let workshop = leaving(|workshop| workshop["metadata"]["uid"] = "another".into());
    let earlier = running();
    let cluster = Cluster::default().listed("workshops", &workshop).by_now(&workshop);
    let deleted = deletions(cluster.listed("services", &child(&earlier)).listed("ingresses", &child(&earlier))).await;
    assert_eq!(deleted[0]["preconditions"]["uid"], "another");
}

#[tokio::test(start_paused = true)]
async fn workshop_is_left_to_the_cluster_without_the_finalizer_of_the_foreground_or_with_secret_parameters() {
    for workshop in [
        running(),
        leaving(|workshop| workshop["metadata"]["finalizers"] = Value::Null),
        leaving(|workshop| workshop["metadata"]["finalizers"] = json!(["orphan"])),
        leaving(|workshop| workshop["spec"]["secretEnv"] = json!(["PASSWORD"])),
    ] {
        let cluster = Cluster::default().listed("workshops", &workshop).by_now(&workshop);
        assert_eq!(deletions(cluster).await, Vec::<Value>::new(), "{workshop}");
    }
}

#[tokio::test(start_paused = true)]
async fn workload_of_a_workshop_in_the_foreground_is_deleted_first() {
    let workshop = leaving(|_| {});
    let calls = with_children(&workshop).listed("workshops", &workshop).by_now(&workshop);
    let calls = calls.run_operator(at("12:30:00")).await;
    let asked: Vec<_> = calls.iter().map(|(what, _)| what.as_str()).collect();
    assert_eq!(asked, deletes());
}

#[tokio::test(start_paused = true)]
async fn service_that_the_garbage_collector_deletes_in_the_foreground_is_deleted_in_the_background() {
    let workshop = leaving(|_| {});
    for (finalizers, expected) in [(json!(["foregroundDeletion"]), 1), (json!(["example.org/other"]), 0)] {
        let mut service = child(&workshop);
        service["metadata"]["deletionTimestamp"] = "2026-01-01T12:29:59Z".into();
        service["metadata"]["finalizers"] = finalizers;
        let cluster = Cluster::default().listed("workshops", &workshop).by_now(&workshop).listed("services", &service);
        let calls = cluster.run_operator(at("12:30:00")).await;
        let deleted: Vec<_> = calls.iter().filter(|(what, _)| what == "DELETE services").collect();
        assert_eq!(deleted.len(), expected, "{service}");
        assert!(deleted.iter().all(|(_, options)| options["propagationPolicy"] == "Background"), "{deleted:?}");
    }
}
