//! Tests of data directories that were copied or moved.

use std::fs;

use launcher_fleet::Fleet;
use launcher_workshop::Phase;
use serde_json::Value;

use crate::launcher_process::{Launcher, done, role};
use crate::support::{Home, server, wait_for, wait_until_gone};

/// In the launcher process that a test kills: runs one workshop and waits for the kill. In the process of the test:
/// does nothing.
async fn run_one_in_its_role() {
    if let Some(home) = role() {
        let fleet = home.open();
        fleet.apply(&server("lab-a")).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        done(&home).await;
    }
}

#[tokio::test]
async fn copy_of_data_directory_keeps_original_processes_running() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&server("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let copy = home.copy();
    fleet.apply(&server("lab-b")).await.unwrap();
    wait_for(&fleet, "lab-b", Phase::Running).await;
    let processes = home.processes();
    assert_eq!(processes.len(), 2);

    let copied = copy.open();

    assert_eq!(copied.identity().await.unwrap(), fleet.identity().await.unwrap(), "its rows were copied with it");
    wait_for(&copied, "lab-a", Phase::Running).await;
    assert_eq!(copy.processes().len(), 1, "the copy starts its own process");
    copied.delete("lab-a", None).await.unwrap();
    wait_until_gone(&copied, "lab-a").await;
    copied.stop().await;
    assert_eq!(home.processes(), processes);
    assert!(home.working("lab-a").exists());
    assert_eq!(fleet.get("lab-a").await.unwrap().unwrap().status.unwrap().phase, Phase::Running);
    fleet.stop().await;
}

#[tokio::test]
async fn copy_adopts_only_processes_started_in_the_copy() {
    run_one_in_its_role().await;
    let home = Home::new();
    let test = "copies::copy_adopts_only_processes_started_in_the_copy";
    Launcher::start(&home, test).await.kill();
    let copy = home.copy();
    fs::remove_file(copy.path().join("done")).unwrap();
    Launcher::start(&copy, test).await.kill();
    let (originals, copys) = (home.processes(), copy.processes());
    assert_eq!((originals.len(), copys.len()), (1, 1));
    assert_ne!(originals, copys);

    let copied = copy.open();

    wait_for(&copied, "lab-a", Phase::Running).await;
    assert_eq!(copy.processes(), copys, "what was started in the copy is adopted there");
    let fleet = home.open();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(home.processes(), originals);
    copied.stop().await;
    fleet.stop().await;
}

#[tokio::test]
async fn moved_data_directory_keeps_its_workshops() {
    run_one_in_its_role().await;
    let (home, moved) = (Home::new(), Home::empty());
    Launcher::start(&home, "copies::moved_data_directory_keeps_its_workshops").await.kill();
    let processes = home.processes();
    fs::rename(home.path(), moved.path()).unwrap();

    let fleet = moved.open();

    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(moved.processes(), processes);
    fleet.stop().await;
}

#[tokio::test]
async fn data_directory_without_identity_keeps_workshops_and_gets_identity() {
    run_one_in_its_role().await;
    let home = Home::new();
    let test = "copies::data_directory_without_identity_keeps_workshops_and_gets_identity";
    Launcher::start(&home, test).await.kill();
    let processes = home.processes();
    // Remove the identity of the data directory: earlier launcher versions did not write this file.
    fs::remove_file(home.path().join("fleet/place.json")).unwrap();

    let fleet = home.open();

    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(home.processes(), processes);
    let copy = home.copy();
    copy.open().stop().await;
    assert_eq!(home.processes(), processes);
    fleet.stop().await;
}

/// After a restart of the machine, the file system of the data directory may have another device number.
#[tokio::test]
async fn changed_device_number_keeps_workshops() {
    run_one_in_its_role().await;
    let home = Home::new();
    Launcher::start(&home, "copies::changed_device_number_keeps_workshops").await.kill();
    let processes = home.processes();
    let path = home.path().join("fleet/place.json");
    let mut identity: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let device = identity["device"].as_u64().unwrap();
    identity["device"] = (device + 1).into();
    fs::write(&path, identity.to_string()).unwrap();

    let fleet = home.open();

    wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(home.processes(), processes);
    let stored: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(stored["device"], device, "the new number is stored");
    fleet.stop().await;
}
