//! Faults of the engine while a workshop starts, restarts or ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::Method;
use bollard::query_parameters::KillContainerOptions;
use launcher_fleet::Fleet;
use launcher_fleet::engine::Part;
use launcher_workshop::Phase;

use super::support::faulty_engine::{Fault, FaultyEngine};
use super::support::fleet::{
    clean_up, container, containers, crash, open, quick, script, settings, wait_for, with_options, without_internet,
};
use super::support::{docker, engine as direct_engine, until};

const CRASH: &str = "echo the last words; exit 3";

/// Serves HTTP until SIGTERM, and then crashes.
const SERVES_AND_CRASHES: &str = "trap 'echo the last words; exit 3' TERM; \
    /bin/busybox httpd -p 127.0.0.1:$PORT -h /www; while :; do /bin/busybox sleep 0.1; done";

/// The launcher stops after the engine has removed both containers, and before it learns of the removal. For the record, a
/// kill at this moment is the same.
#[tokio::test]
async fn cause_of_a_failure_is_kept_if_the_launcher_ends_during_the_removal() {
    let home = tempfile::tempdir().unwrap();
    let engine = FaultyEngine::new(|method, path| {
        (method == Method::DELETE && path.ends_with("-sidecar")).then_some(Fault::ResponseLost)
    });
    let with_faults = with_options(without_internet(home.path()), |options| options.engine_socket = engine.socket());
    let fleet = open(with_faults).await;
    fleet.apply(&script("lab-a", SERVES_AND_CRASHES)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let app = container(home.path(), Part::App).await;
    // The third crash ends the workshop.
    crash(&fleet, "lab-a", &app).await;
    crash(&fleet, "lab-a", &app).await;
    let sigterm = KillContainerOptions { signal: "SIGTERM".to_owned() };
    docker().kill_container(&app, Some(sigterm)).await.unwrap();
    engine.until_failed().await;
    fleet.close().await;
    let removed = fleet.get("lab-a").await.unwrap().unwrap().status.unwrap();
    assert_eq!(removed.phase, Phase::Running, "the removal is not confirmed yet");
    // The data directory stays locked until the last clone of the fleet is dropped.
    drop(fleet);

    let fleet = open(without_internet(home.path())).await;

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await;
    assert_eq!(
        (failed.reason.as_deref(), failed.report.log_tail.as_deref()),
        (Some("crashed"), Some("the last words"))
    );
    assert!(failed.message.as_ref().is_some_and(|message| message.contains('3')), "{failed:?}");
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn unreadable_log_does_not_delay_the_end_of_a_workshop() {
    let home = tempfile::tempdir().unwrap();
    let engine = FaultyEngine::new(|_, path| path.ends_with("/logs").then_some(Fault::InternalError));
    let with_faults = with_options(without_internet(home.path()), |options| options.engine_socket = engine.socket());
    let fleet = open(with_faults).await;
    fleet.apply(&script("lab-a", CRASH)).await.unwrap();

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await;

    engine.until_failed().await;
    assert_eq!((failed.reason.as_deref(), failed.report.log_tail), (Some("crashed"), None));
    assert_eq!(containers(home.path()).await, []);
    clean_up(fleet, ["lab-a"]).await;
}

/// A restart of the machine with a full disk, for example.
#[tokio::test]
async fn refused_restart_is_retried_and_keeps_the_containers() {
    let home = tempfile::tempdir().unwrap();
    let is_full = Arc::new(AtomicBool::new(false));
    let full = Arc::clone(&is_full);
    let engine = FaultyEngine::new(move |_, path| {
        (full.load(Ordering::SeqCst) && path.ends_with("/start")).then_some(Fault::DiskFull)
    });
    let with_faults = with_options(settings(home.path()), |options| options.engine_socket = engine.socket());
    let fleet = open(with_faults).await;
    fleet.apply(&quick("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let before = ids(home.path()).await;
    is_full.store(true, Ordering::SeqCst);
    engine.kill_all(home.path()).await;
    engine.until_failed().await;
    let waiting = fleet.get("lab-a").await.unwrap().unwrap().status.unwrap();
    assert_eq!(waiting.phase, Phase::Starting, "{waiting:?}");

    is_full.store(false, Ordering::SeqCst);

    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(ids(home.path()).await, before);
    clean_up(fleet, ["lab-a"]).await;
}

/// The files of the owner are in the containers that exist. The image may be gone since the start.
#[tokio::test]
async fn restart_creates_no_container() {
    let home = tempfile::tempdir().unwrap();
    let creates_none = Arc::new(AtomicBool::new(false));
    let refused = Arc::clone(&creates_none);
    let engine = FaultyEngine::new(move |_, path| {
        (refused.load(Ordering::SeqCst) && path.ends_with("/containers/create")).then_some(Fault::InternalError)
    });
    let fleet = open(with_options(settings(home.path()), |options| options.engine_socket = engine.socket())).await;
    fleet.apply(&quick("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    creates_none.store(true, Ordering::SeqCst);
    engine.kill_all(home.path()).await;

    for container in &containers(home.path()).await {
        until(async || direct_engine().inspect(&container.name).await.unwrap().unwrap().running).await;
    }

    wait_for(&fleet, "lab-a", Phase::Running).await;
    clean_up(fleet, ["lab-a"]).await;
}

/// The engine reserves the name of a container before the container exists. If the launcher was killed at this moment, the
/// next one finds the name taken.
#[tokio::test]
async fn reserved_name_without_a_container_fails_no_start() {
    let home = tempfile::tempdir().unwrap();
    let is_reserved = AtomicBool::new(true);
    let engine = FaultyEngine::new(move |_, path| {
        (path.ends_with("/containers/create") && is_reserved.swap(false, Ordering::SeqCst)).then_some(Fault::NameTaken)
    });
    let fleet = open(with_options(settings(home.path()), |options| options.engine_socket = engine.socket())).await;

    fleet.apply(&quick("lab-a")).await.unwrap();

    wait_for(&fleet, "lab-a", Phase::Running).await;
    engine.until_failed().await;
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn first_start_on_a_full_disk_is_an_explained_failure() {
    let home = tempfile::tempdir().unwrap();
    let engine = FaultyEngine::new(|_, path| path.ends_with("/containers/create").then_some(Fault::DiskFull));
    let fleet = open(with_options(settings(home.path()), |options| options.engine_socket = engine.socket())).await;
    fleet.apply(&quick("lab-a")).await.unwrap();

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await;

    assert!(failed.message.as_ref().is_some_and(|message| message.contains("disk")), "{failed:?}");
    clean_up(fleet, ["lab-a"]).await;
}

/// Returns the engine's identifiers of the containers of the fleet with this data directory.
async fn ids(data_dir: &Path) -> Vec<Option<String>> {
    let mut ids = Vec::new();
    for container in containers(data_dir).await {
        ids.push(docker().inspect_container(&container.name, None).await.unwrap().id);
    }
    ids
}
