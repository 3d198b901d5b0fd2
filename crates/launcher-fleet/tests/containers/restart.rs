//! A fleet that is closed and opened again, and containers that it does not know.

use std::time::Duration;

use launcher_fleet::engine::Part;
use launcher_fleet::{ContainerSettings, Fleet};
use launcher_workshop::Phase;
use tokio::time::sleep;

use super::support::fleet::{clean_up, data_dir_id, open, quick, settings, wait_for};
use super::support::{POLL_INTERVAL, TestFleet, in_time};

/// More than the interval of the fleet's searches for orphans.
const SEARCH_INTERVAL: Duration = Duration::from_secs(301);

#[tokio::test]
async fn adopted_workshop_gets_the_present_address_of_the_launcher() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(settings(home.path())).await;
    fleet.apply(&quick("lab-a")).await.unwrap();
    let before = wait_for(&fleet, "lab-a", Phase::Running).await;
    assert_eq!(before.url.as_deref(), Some("http://lab-a.localhost:8000/"));
    fleet.close().await;
    drop(fleet);
    let mut moved = settings(home.path());
    moved.origins.public_origin = "https://launcher.example.org".parse().unwrap();
    "workshops.example.net".clone_into(&mut moved.origins.workshop_domain);

    let fleet = open(moved).await;

    let after = in_time(async {
        loop {
            let status = wait_for(&fleet, "lab-a", Phase::Running).await;
            if status.url != before.url {
                return status;
            }
            sleep(POLL_INTERVAL).await;
        }
    })
    .await;
    assert_eq!(after.url.as_deref(), Some("https://lab-a.workshops.example.net/"));
    assert!(after.frame_url.is_some_and(|url| url.starts_with("https://lab-a.workshops.example.net/")));
    assert_eq!(after.ready_at, before.ready_at);
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn orphans_are_removed_while_the_fleet_is_open() {
    let (home, other) = (tempfile::tempdir().unwrap(), TestFleet::new().await);
    let fleet = open(ContainerSettings { internet: false, ..settings(home.path()) }).await;
    fleet.apply(&quick("lab-a")).await.unwrap();
    let before = wait_for(&fleet, "lab-a", Phase::Running).await;
    let foreign = other.run("app", "sleep 1000").await;
    let orphan = other.name("orphan");
    let mut body = other.body(&["/bin/sleep", "1000"]);
    let mut labels = other.labels("ghost", "uid-of-no-workshop", Part::App);
    labels.insert("workshoplauncher.dev/fleet".to_owned(), data_dir_id(home.path()));
    body.labels = Some(labels);
    other.engine.create(&orphan, body).await.unwrap();
    other.engine.start(&orphan).await.unwrap();

    tokio::time::pause();
    tokio::time::advance(SEARCH_INTERVAL).await;
    tokio::time::resume();

    in_time(async {
        // Podman answers with an error during the removal.
        while other.engine.inspect(&orphan).await != Ok(None) {
            sleep(POLL_INTERVAL).await;
        }
    })
    .await;
    assert!(other.state(&foreign).await.running, "a container of another fleet was removed");
    assert_eq!(fleet.get("lab-a").await.unwrap().unwrap().status, Some(before), "a Workshop was changed");
    let id = data_dir_id(home.path());
    assert_eq!(other.engine.list(&id).await.unwrap().len(), 2, "the containers of a Workshop were removed");
    clean_up(fleet, ["lab-a"]).await;
}
