//! Life of a container: create, start, stop, remove, list, log.

use std::time::{Duration, Instant};

use bollard::models::HostConfig;
use bollard::query_parameters::KillContainerOptions;
use launcher_fleet::engine::{EngineError, FoundContainer, Part};

use super::support::{TestFleet, docker, host_config};

/// Exits with 7 after SIGTERM.
const ENDS_AT_SIGTERM: &str = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";

#[tokio::test]
async fn container_runs_stops_and_disappears() {
    let fleet = TestFleet::new().await;
    let name = fleet.name("app");
    fleet.engine.create(&name, fleet.body(&["/bin/sh", "-c", ENDS_AT_SIGTERM])).await.unwrap();
    let created = fleet.state(&name).await;
    assert!(!created.running && !created.started, "{created:?}");
    assert_eq!((created.exit_code, created.finished_at, created.error), (None, None, None));

    fleet.engine.start(&name).await.unwrap();
    fleet.engine.start(&name).await.unwrap();
    let started = fleet.state(&name).await;
    assert!(started.running && started.started, "{started:?}");
    assert_eq!((started.exit_code, started.finished_at), (None, None));

    fleet.logged(&name, "ready").await;
    fleet.engine.stop(&name, Duration::from_secs(20)).await.unwrap();
    fleet.engine.stop(&name, Duration::from_secs(20)).await.unwrap();
    let stopped = fleet.state(&name).await;
    assert!(!stopped.running && stopped.started, "{stopped:?}");
    assert_eq!(stopped.exit_code, Some(7));
    assert!(stopped.finished_at.is_some() && !stopped.oom_killed);

    fleet.engine.remove(&name).await.unwrap();
    assert_eq!(fleet.engine.inspect(&name).await.unwrap(), None);
    fleet.engine.remove(&name).await.unwrap();
    fleet.engine.stop(&name, Duration::from_secs(20)).await.unwrap();
}

#[tokio::test]
async fn container_that_ignores_sigterm_is_killed_after_grace() {
    let fleet = TestFleet::new().await;
    let name = fleet.run("app", "trap '' TERM; echo ready; while :; do sleep 1; done").await;
    fleet.logged(&name, "ready").await;
    let begun = Instant::now();
    fleet.engine.stop(&name, Duration::from_secs(2)).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(fleet.state(&name).await.exit_code, Some(137));
}

#[tokio::test]
async fn create_is_idempotent_for_the_same_uid_and_part() {
    let fleet = TestFleet::new().await;
    let name = fleet.name("app");
    let body = fleet.body(&["/bin/sleep", "1000"]);
    fleet.engine.create(&name, body.clone()).await.unwrap();
    fleet.engine.create(&name, body.clone()).await.unwrap();

    for (uid, part) in [("uid-2", Part::App), ("uid-1", Part::Sidecar)] {
        let mut other = body.clone();
        other.labels = Some(fleet.labels("lab", uid, part));
        let error = fleet.engine.create(&name, other).await.unwrap_err();
        assert!(matches!(error, EngineError::Conflict(_)), "{error}");
    }
}

#[tokio::test]
async fn verify_compares_uid_and_part_of_an_existing_container() {
    let fleet = TestFleet::new().await;
    let name = fleet.run("app", "sleep 1000").await;
    let labels = fleet.body(&[]).labels.unwrap();

    fleet.engine.verify(&name, &labels).await.unwrap();

    let other = fleet.labels("lab-a", "another-uid", Part::App);
    let refused = fleet.engine.verify(&name, &other).await;
    assert!(matches!(refused, Err(EngineError::Conflict(_))), "{refused:?}");
    let missing = fleet.engine.verify(&fleet.name("none"), &labels).await;
    assert!(matches!(missing, Err(EngineError::NotFound(_))), "{missing:?}");
}

#[tokio::test]
async fn running_container_is_removed_by_concurrent_calls_with_its_volumes() {
    let fleet = TestFleet::new().await;
    let name = fleet.name("app");
    let mut body = fleet.body(&["/bin/sleep", "1000"]);
    body.volumes = Some(vec!["/volume".to_owned()]);
    fleet.engine.create(&name, body).await.unwrap();
    fleet.engine.start(&name).await.unwrap();
    let mounts = docker().inspect_container(&name, None).await.unwrap().mounts.unwrap();
    let volume = mounts[0].name.clone().unwrap();

    let remove = || fleet.engine.remove(&name);
    let (first, second, third) = tokio::join!(remove(), remove(), remove());

    assert_eq!((first, second, third), (Ok(()), Ok(()), Ok(())));
    assert_eq!(fleet.engine.inspect(&name).await.unwrap(), None);
    assert!(docker().inspect_volume(&volume).await.is_err());
}

#[tokio::test]
async fn list_has_containers_of_the_fleet_in_all_states_and_apps_first() {
    let (fleet, other) = (TestFleet::new().await, TestFleet::new().await);
    other.run("app", "sleep 1000").await;
    let app = fleet.run("app", "true").await;
    fleet.ended(&app).await;
    let sidecar = fleet.name("sidecar");
    let mut body = fleet.body(&["/bin/sleep", "1000"]);
    body.labels = Some(fleet.labels("lab", "uid-1", Part::Sidecar));
    fleet.engine.create(&sidecar, body).await.unwrap();

    let found = fleet.engine.list(&fleet.id).await.unwrap();

    let of = |name, part| FoundContainer { name, workshop: "lab".to_owned(), uid: "uid-1".to_owned(), part };
    assert_eq!(found, [of(app, Part::App), of(sidecar, Part::Sidecar)]);
}

#[tokio::test]
async fn log_tail_is_plain_text_of_both_outputs() {
    let fleet = TestFleet::new().await;
    // Each output waits for a signal: the engine does not keep the order of two outputs.
    let script = r#"trap 'printf "\033[31mred\033[0m\n\n" >&2' USR1; trap 'printf "no newline"; exit' USR2;
                   for i in $(seq 150); do echo line $i; done; while :; do sleep 0.05; done"#;
    let name = fleet.run("app", script).await;
    let signal = async |signal: &str| {
        docker().kill_container(&name, Some(KillContainerOptions { signal: signal.to_owned() })).await.unwrap();
    };
    fleet.logged(&name, "line 150").await;
    signal("SIGUSR1").await;
    fleet.logged(&name, "red").await;
    signal("SIGUSR2").await;
    fleet.ended(&name).await;

    let tail = fleet.engine.log_tail(&name).await.unwrap().unwrap();

    let lines: Vec<&str> = tail.lines().collect();
    assert_eq!(lines.len(), 20, "{tail}");
    assert_eq!(lines[17..], ["line 150", "red", "no newline"]);
    assert_eq!(fleet.engine.log_tail(&fleet.name("none")).await.unwrap(), None);
}

#[tokio::test]
async fn container_without_output_has_no_log_tail() {
    let fleet = TestFleet::new().await;
    let name = fleet.run("app", "true").await;
    fleet.ended(&name).await;
    assert_eq!(fleet.engine.log_tail(&name).await.unwrap(), None);
}

#[tokio::test]
async fn sidecar_is_removed_after_its_app() {
    let fleet = TestFleet::new().await;
    let sidecar = fleet.run("sidecar", "sleep 1000").await;
    let app = fleet.name("app");
    let mut body = fleet.body(&["/bin/sleep", "1000"]);
    let host = HostConfig { network_mode: Some(format!("container:{sidecar}")), ..host_config() };
    body.host_config = Some(host);
    fleet.engine.create(&app, body).await.unwrap();
    fleet.engine.start(&app).await.unwrap();

    fleet.engine.stop(&sidecar, Duration::ZERO).await.unwrap();
    fleet.engine.remove(&app).await.unwrap();
    fleet.engine.remove(&sidecar).await.unwrap();

    assert_eq!(fleet.engine.list(&fleet.id).await.unwrap(), []);
}
