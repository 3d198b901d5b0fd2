//! Tests of the restart of a Workshop by an admin: the operator replaces its pod once.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_operator::RESTARTED_AT;
use launcher_operator::workload::{Plan, is_outdated};
use serde_json::{Value, json};

use crate::cluster::{statuses, with_routes};
use crate::support::{at, running, settings};
use crate::workload::{listed, plan, pod, wanted, writes};

/// The metadata of the pod to create for the minimal Workshop after a restart at this time.
fn restarted(time: &str) -> ObjectMeta {
    wanted(|workshop| workshop.spec.restarted_at = Some(at(time)))
}

/// A pod that was created at this time, for a Workshop with this restart.
fn created(time: &str, restart: Option<&str>) -> Pod {
    let mut pod = pod(json!({ "phase": "Running" }));
    pod.metadata = restart.map_or_else(|| wanted(|_| {}), restarted);
    pod.metadata.creation_timestamp = Some(serde_json::from_value(json!(format!("2026-01-01T{time}Z"))).unwrap());
    pod
}

#[test]
fn restart_deletes_pod_from_before_it_and_keeps_the_successor() {
    let restart = "12:30:00.5";
    for (pod, is_deleted) in [
        (created("12:00:00", None), true),
        (created("12:00:00", Some("12:10:00")), true),
        // Creation times have whole seconds: this pod may be from before the restart.
        (created("12:30:00", None), true),
        (created("12:30:01", Some(restart)), false),
        (created("12:30:00", Some(restart)), false),
        // The clock of the launcher is fast: the successor seems older than the restart.
        (created("12:20:00", Some(restart)), false),
        // The launcher has an older database again.
        (created("12:30:01", Some("12:30:01")), false),
        (created("12:45:00", Some("12:44:00")), false),
    ] {
        let expected = if is_deleted { Plan::Delete(&pod) } else { Plan::Keep };
        let pods = std::slice::from_ref(&pod);
        assert_eq!(plan(pods, &restarted(restart)), expected, "{:?}", pod.metadata);
    }
}

#[test]
fn pod_is_kept_without_a_restart() {
    for restart in [None, Some("12:10:00")] {
        assert_eq!(plan(&[created("12:00:00", restart)], &wanted(|_| {})), Plan::Keep);
    }
}

#[test]
fn restart_waits_until_terminating_pod_is_gone() {
    let mut leaving = created("12:00:00", None);
    leaving.metadata.deletion_timestamp = Some(serde_json::from_value(json!("2026-01-01T12:31:00Z")).unwrap());
    assert_eq!(plan(&[leaving], &restarted("12:30:00")), Plan::Keep);
    assert_eq!(plan(&[], &restarted("12:30:00")), Plan::Create);
}

#[test]
fn restart_does_not_make_pod_outdated() {
    assert!(!is_outdated(&created("12:00:00", None), &restarted("12:30:00")));
    let annotations = restarted("12:30:00").annotations.unwrap();
    assert_eq!(annotations[RESTARTED_AT], "2026-01-01T12:30:00Z");
    assert!(!wanted(|_| {}).annotations.unwrap().contains_key(RESTARTED_AT));
}

/// The running Workshop after a restart at 12:30.
fn restarting() -> Value {
    let mut workshop = running();
    workshop["spec"]["restartedAt"] = "2026-01-01T12:30:00Z".into();
    workshop
}

/// A ready pod in the cluster, created at this time.
fn ready_pod(time: &str, restart: Option<&str>) -> Value {
    let mut pod = created(time, restart);
    let ready = json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] });
    pod.status = serde_json::from_value(ready).unwrap();
    listed(&pod)
}

#[tokio::test(start_paused = true)]
async fn restarted_workshop_gets_one_successor_which_is_kept() {
    let workshop = restarting();
    let cluster = || with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop);
    let calls = cluster().listed("pods", &ready_pod("12:00:00", None)).run_operator(at("12:30:01")).await;
    assert!(writes(&calls).iter().all(|what| *what == "DELETE pods"), "{calls:?}");
    let (_, deleted) = calls.iter().find(|(what, _)| what == "DELETE pods").unwrap();
    assert_eq!(deleted["preconditions"]["uid"], "pod");
    let status = statuses(&calls).last().unwrap();
    assert_eq!((&status["restartedAt"], &status["podOutdated"]), (&workshop["spec"]["restartedAt"], &Value::Null));

    let calls = cluster().run_operator(at("12:30:05")).await;
    let (_, successor) = calls.iter().find(|(what, _)| what == "POST pods").unwrap();
    assert_eq!(successor["metadata"]["annotations"][RESTARTED_AT], "2026-01-01T12:30:00Z");

    // Another leader, which knows nothing of the restart, keeps the successor. Its clock is not used.
    let pod = ready_pod("12:29:00", Some("12:30:00"));
    let calls = cluster().listed("pods", &pod).run_operator(at("12:31:00")).await;
    assert_eq!(writes(&calls), Vec::<&str>::new());
    assert_eq!(statuses(&calls).last().unwrap()["phase"], "Running");
}

#[tokio::test(start_paused = true)]
async fn restart_in_stale_cache_replaces_no_pod() {
    let seen = ready_pod("12:00:00", None);
    let cluster = with_routes(&running()).listed("workshops", &restarting()).by_now(&running()).listed("pods", &seen);
    assert_eq!(writes(&cluster.run_operator(at("12:30:01")).await), Vec::<&str>::new());
}

#[tokio::test(start_paused = true)]
async fn outdated_pod_that_awaits_its_restart_is_not_reported_as_outdated() {
    let mut settings = settings();
    settings.sidecar_image = "registry.example.org/sidecar:2".to_owned();
    for (workshop, outdated) in [(running(), json!(true)), (restarting(), Value::Null)] {
        let cluster = with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop);
        let cluster = cluster.with_settings(settings.clone()).listed("pods", &ready_pod("12:00:00", None));
        let calls = cluster.run_operator(at("12:30:01")).await;
        assert_eq!(statuses(&calls).last().unwrap()["podOutdated"], outdated);
    }
}

#[tokio::test(start_paused = true)]
async fn expired_workshop_is_not_restarted() {
    let workshop = restarting();
    let cluster = with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop);
    let calls = cluster.listed("pods", &ready_pod("12:00:00", None)).run_operator(at("13:00:01")).await;
    assert_eq!(statuses(&calls).last().unwrap()["phase"], "Expired");
    assert!(!writes(&calls).contains(&"POST pods"), "{calls:?}");
}
