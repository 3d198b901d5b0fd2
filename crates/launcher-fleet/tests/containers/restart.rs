//! A fleet that is closed and opened again, and containers that it does not know.

use std::sync::Arc;
use std::time::Duration;

use launcher_fleet::Fleet;
use launcher_fleet::engine::Part;
use launcher_testkit::TestClock;
use launcher_workshop::Phase;

use super::support::fleet::{
    clean_up, containers, data_dir_id, open, open_at, quick, settings, wait_for, without_internet,
};
use super::support::{TestFleet, poll, until};

/// More than the interval of the fleet's searches for orphans.
const SEARCH_INTERVAL: Duration = Duration::from_secs(301);

#[tokio::test]
async fn adopted_workshop_gets_the_present_address_of_the_launcher() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(settings(home.path())).await;
    fleet.apply(&quick("lab-a")).await.unwrap();
    let before = wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(before.report.url.as_deref(), Some("http://lab-a.localhost:8000/"));
    fleet.close().await;
    drop(fleet);
    let mut moved = settings(home.path());
    moved.machine.origins.public_origin = "https://launcher.example.org".parse().unwrap();
    "workshops.example.net".clone_into(&mut moved.machine.origins.workshop_domain);

    let fleet = open(moved).await;

    let after = poll(async || {
        let status = wait_for(&fleet, "lab-a", Phase::Running).await;
        (status.report.url != before.report.url).then_some(status)
    })
    .await;
    assert_eq!(after.report.url.as_deref(), Some("https://lab-a.workshops.example.net/"));
    assert!(after.report.frame_url.is_some_and(|url| url.starts_with("https://lab-a.workshops.example.net/")));
    assert_eq!(after.ready_at, before.ready_at);
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn workshop_that_expired_while_no_launcher_ran_ends_at_the_start() {
    let (home, clock) = (tempfile::tempdir().unwrap(), Arc::new(TestClock::default()));
    let fleet = open_at(without_internet(home.path()), clock.clone()).await;
    fleet.apply(&quick("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    fleet.close().await;
    drop(fleet);
    clock.advance(Duration::from_hours(1));

    let fleet = open_at(without_internet(home.path()), clock).await;

    wait_for(&fleet, "lab-a", Phase::Expired).await;
    until(async || containers(home.path()).await.is_empty()).await;
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn orphans_are_removed_at_the_start_and_while_the_fleet_is_open() {
    let (home, other) = (tempfile::tempdir().unwrap(), TestFleet::new().await);
    let fleet = open(without_internet(home.path())).await;
    fleet.apply(&quick("lab-a")).await.unwrap();
    let before = wait_for(&fleet, "lab-a", Phase::Running).await;
    let foreign = other.run("app", "sleep 1000").await;
    let run_orphan = async |suffix: &str| {
        let orphan = other.name(suffix);
        let mut body = other.body(&["/bin/sleep", "1000"]);
        let mut labels = other.labels("ghost", "uid-of-no-workshop", Part::App);
        labels.insert("workshoplauncher.dev/fleet".to_owned(), data_dir_id(home.path()));
        body.labels = Some(labels);
        other.engine.create(&orphan, body).await.unwrap();
        other.engine.start(&orphan).await.unwrap();
        orphan
    };
    // Podman answers with an error during the removal.
    let until_removed = async |orphan: &str| until(async || other.engine.inspect(orphan).await == Ok(None)).await;

    fleet.close().await;
    drop(fleet);
    let of_the_start = run_orphan("orphan-1").await;
    let fleet = open(without_internet(home.path())).await;
    until_removed(&of_the_start).await;
    let later = run_orphan("orphan-2").await;
    tokio::time::pause();
    tokio::time::advance(SEARCH_INTERVAL).await;
    tokio::time::resume();
    until_removed(&later).await;

    assert!(other.state(&foreign).await.running, "a container of another fleet was removed");
    assert_eq!(fleet.get("lab-a").await.unwrap().unwrap().status, Some(before), "a Workshop was changed");
    let id = data_dir_id(home.path());
    assert_eq!(other.engine.list(&id).await.unwrap().len(), 2, "the containers of a Workshop were removed");
    clean_up(fleet, ["lab-a"]).await;
}
