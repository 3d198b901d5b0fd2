//! Apps that crash, and start again in their containers.

use std::path::Path;

use bollard::query_parameters::KillContainerOptions;
use launcher_domain::{Crash, FailureCode};
use launcher_fleet::Fleet;
use launcher_fleet::engine::Part;
use launcher_workshop::{Phase, WorkshopStatus};

use super::support::fleet::{clean_up, container, crash, open, script, wait_for, without_internet};
use super::support::{docker, engine, poll, until};

/// Counts its starts in a file, writes the count to the log, and serves HTTP.
const COUNTS_STARTS: &str = "echo start >> /tmp/starts; echo \"start $(/bin/busybox wc -l < /tmp/starts)\"; \
    exec /bin/busybox httpd -f -p 127.0.0.1:$PORT -h /www";

async fn id(name: &str) -> Option<String> {
    docker().inspect_container(name, None).await.unwrap().id
}

/// Waits until the app has found the file of its first start: its log then has this second number.
async fn until_second_start(app: &str) {
    until(async || engine().log_tail(app).await.unwrap().unwrap_or_default().ends_with("start 2")).await;
}

/// Waits until the file with the last crash for the frame page has content, and returns it.
async fn of_frame_page(data_dir: &Path) -> String {
    let file = data_dir.join("fleet/workshops/lab-a/sidecar/last-crash");
    poll(async || std::fs::read_to_string(&file).ok().filter(|text| !text.is_empty())).await
}

fn reported(status: &WorkshopStatus) -> (FailureCode, bool) {
    let crash = status.report.last_crash.clone().unwrap();
    (crash.code, crash.files_lost)
}

#[tokio::test]
async fn killed_app_runs_again_in_its_container_with_its_files() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;
    fleet.apply(&script("lab-a", COUNTS_STARTS)).await.unwrap();
    let before = wait_for(&fleet, "lab-a", Phase::Running).await;
    let (app, sidecar) = (container(home.path(), Part::App).await, container(home.path(), Part::Sidecar).await);
    let ids = [id(&app).await, id(&sidecar).await];

    let again = crash(&fleet, "lab-a", &app).await;

    assert_eq!(before.report.last_crash, None);
    assert!(matches!(reported(&again), (FailureCode::Crashed | FailureCode::OutOfMemory, false)), "{again:?}");
    assert_eq!((again.ready_at, &again.report.url), (before.ready_at, &before.report.url));
    assert_eq!([id(&app).await, id(&sidecar).await], ids);
    until_second_start(&app).await;
    let shown = Crash::from_text(&of_frame_page(home.path()).await);
    assert_eq!(shown, again.report.last_crash);
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn third_crash_within_ten_minutes_fails_with_the_last_output() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;
    fleet.apply(&script("lab-a", COUNTS_STARTS)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let app = container(home.path(), Part::App).await;
    crash(&fleet, "lab-a", &app).await;
    let second = crash(&fleet, "lab-a", &app).await;

    docker().kill_container(&app, None::<KillContainerOptions>).await.unwrap();

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await;
    assert!(failed.report.log_tail.as_ref().is_some_and(|tail| tail.ends_with("start 3")), "{failed:?}");
    assert_eq!(failed.report.last_crash, second.report.last_crash);
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn app_that_crashes_while_no_launcher_runs_starts_again() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;
    fleet.apply(&script("lab-a", COUNTS_STARTS)).await.unwrap();
    let before = wait_for(&fleet, "lab-a", Phase::Running).await;
    let app = container(home.path(), Part::App).await;
    fleet.close().await;
    // The data directory stays locked until the last clone of the fleet is dropped.
    drop(fleet);
    docker().kill_container(&app, None::<KillContainerOptions>).await.unwrap();

    let fleet = open(without_internet(home.path())).await;

    let again = poll(async || {
        let status = wait_for(&fleet, "lab-a", Phase::Running).await;
        status.report.last_crash.is_some().then_some(status)
    })
    .await;
    assert_eq!(again.ready_at, before.ready_at);
    until_second_start(&app).await;
    clean_up(fleet, ["lab-a"]).await;
}
