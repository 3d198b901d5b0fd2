//! Tests of a local fleet that is stopped and opened again, and of its data directory.

use std::fs;
use std::process::{Command, Stdio};

use launcher_fleet::{DataDirError, Fleet, FleetError, MachineFleetError};
use launcher_workshop::Phase;

use crate::launcher_process::Launcher;
use crate::support::{Home, NONE, custom, eventually, numbered, pid_file, script, server, wait_for, wait_until_gone};

#[tokio::test]
async fn launcher_stop_ends_processes_and_next_start_restores_them() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&numbered("lab-a")).await.unwrap();
    let before = wait_for(&fleet, "lab-a", Phase::Running).await;
    fs::write(home.working("lab-a").join("work.txt"), "unsaved no more").unwrap();

    fleet.stop().await;
    assert_eq!(home.processes(), NONE);
    assert!(matches!(fleet.apply(&server("lab-b")).await, Err(FleetError::Unavailable(_))));
    drop(fleet);

    home.clock.advance(60);
    let fleet = home.open();
    let back = fleet.get("lab-a").await.unwrap().unwrap();
    assert_eq!(back.status.as_ref().unwrap().phase, Phase::Starting, "it does not run yet");
    assert_eq!(back.status.unwrap().report.url, None);
    let after = wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(after.metadata.uid, before.metadata.uid);
    let (before, after) = (before.status.unwrap(), after.status.unwrap());
    assert_eq!(after.ready_at, before.ready_at, "the lifetime is not restarted");
    assert!(after.report.url.is_some() && after.report.url == before.report.url, "{:?}", after.report.url);
    assert_eq!(fs::read_to_string(home.working("lab-a").join("work.txt")).unwrap(), "unsaved no more");
    fleet.stop().await;
}

#[tokio::test]
async fn workshop_that_expired_while_launcher_was_down_is_not_restarted() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&numbered("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    fleet.stop().await;
    drop(fleet);

    home.clock.advance(3600);
    let fleet = home.open();

    wait_for(&fleet, "lab-a", Phase::Expired).await;
    assert_eq!(fs::read_to_string(pid_file(&home, "lab-a")).unwrap().lines().count(), 1);
    fleet.stop().await;
}

#[tokio::test]
async fn failed_workshop_stays_failed_after_restart() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&script("lab-a", "echo once >> starts; exit 3")).await.unwrap();
    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await;
    fleet.stop().await;
    drop(fleet);

    let fleet = home.open();

    assert_eq!(fleet.get("lab-a").await.unwrap().unwrap().status, failed.status);
    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    fleet.stop().await;
}

#[tokio::test]
async fn orphaned_processes_are_terminated_at_start() {
    let home = Home::new();
    home.open().stop().await;
    let marker = format!("{}/orphan/0", home.fleet_id());
    let spawn = |marker: &str| {
        Command::new("sleep").arg("1000").env("WORKSHOP_LAUNCHER_ID", marker).stdin(Stdio::null()).spawn().unwrap()
    };
    let mut orphan = Launcher(spawn(&marker));
    let mut stranger = Launcher(spawn("another-fleet/orphan/0"));

    let fleet = home.open();

    eventually("the process without a record to end", || home.processes().is_empty()).await;
    assert!(!orphan.0.wait().unwrap().success());
    assert!(stranger.0.try_wait().unwrap().is_none(), "another fleet's processes are left alone");
    fleet.stop().await;
}

#[tokio::test]
async fn second_launcher_on_data_directory_is_refused() {
    let home = Home::new();
    let fleet = home.open();

    let second = home.try_open();

    match second {
        Err(MachineFleetError::DataDir(DataDirError::Locked(path))) => assert!(path.starts_with(home.path())),
        other => panic!("{other:?}"),
    }
    fleet.stop().await;
    drop(fleet);
    home.open().stop().await;
}

#[tokio::test]
async fn unreadable_record_does_not_affect_other_workshops() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&server("lab-a")).await.unwrap();
    fleet.apply(&custom("lab-b", &["sleep", "1000"])).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    fleet.stop().await;
    drop(fleet);
    fs::write(home.path().join("fleet/workshops/lab-b/state.json"), "{").unwrap();

    // Each later start keeps the record and the files beside it, so that an administrator can repair it.
    for start in 1..=2 {
        let fleet = home.open();

        wait_for(&fleet, "lab-a", Phase::Running).await;
        assert_eq!(fleet.get("lab-b").await.unwrap(), None);
        fleet.stop().await;
        let aside = fs::read_to_string(home.record("lab-b").join("state.json.unreadable"));
        assert_eq!(aside.ok().as_deref(), Some("{"), "start {start}");
    }
}
