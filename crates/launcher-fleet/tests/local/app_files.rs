//! Tests of the files of running apps, which the launcher saves at the end of a workshop, and of the end that waits for it.

use std::collections::BTreeMap;
use std::io::Read;

use futures_util::TryStreamExt;
use jiff::SignedDuration;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::{ArchiveToken, Clock};
use launcher_fleet::{Fleet, FleetError, LocalFleet, ReadError};
use launcher_workshop::{Phase, Workshop, WorkshopSnapshot, WorkshopStorage};

use crate::support::{Home, NONE, crash, script, server, wait_for, wait_until_gone};

/// Seconds after the expiry in which the launcher saves the files.
const GRACE: u32 = 90;

fn with_snapshot(mut workshop: Workshop) -> Workshop {
    let snapshot = WorkshopSnapshot { directory: None, token_sha256: "0".repeat(64), grace_seconds: GRACE };
    workshop.spec.snapshot = Some(snapshot);
    workshop
}

/// A Workshop whose app writes files, with its PID in one of them, and serves HTTP.
fn writes_files(name: &str) -> Workshop {
    let text = "mkdir -p notes/empty; echo saved > notes/a.txt; echo $$ > pid; ln -sf /etc/passwd link; \
                exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    with_snapshot(script(name, text))
}

async fn read_app(fleet: &LocalFleet, name: &str) -> Result<BTreeMap<String, String>, ReadError> {
    let token = ArchiveToken::random(&SystemEntropy);
    let stream = fleet.archives().unwrap().read_app(name, &token).await?;
    let tar = stream.try_collect::<Vec<_>>().await.unwrap().concat();
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(&*tar).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        found.insert(entry.path().unwrap().to_str().unwrap().to_owned(), text);
    }
    Ok(found)
}

async fn refusal(fleet: &LocalFleet, name: &str) -> String {
    match read_app(fleet, name).await {
        Err(ReadError::Fleet(FleetError::Refused(reason))) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn files_of_a_running_app_are_in_the_archive_also_after_a_crash() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&writes_files("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    let found = read_app(&fleet, "lab-a").await.unwrap();
    let paths: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(paths, ["notes/", "notes/a.txt", "notes/empty/", "pid"]);
    assert_eq!(found["notes/a.txt"], "saved\n");
    std::fs::write(home.working("lab-a").join("notes/a.txt"), "saved later").unwrap();
    crash(&home, &fleet, "lab-a", home.noted("lab-a", "pid")).await;
    std::fs::write(home.working("lab-a").join("notes/b.txt"), "after the crash").unwrap();
    assert_eq!(read_app(&fleet, "lab-a").await.unwrap()["notes/b.txt"], "after the crash");
    fleet.stop().await;
}

#[tokio::test]
async fn files_of_unknown_ended_and_other_workshops_are_refused() {
    let home = Home::new();
    let fleet = home.open();
    for name in ["lab-a", "../fleet", ""] {
        assert!(refusal(&fleet, name).await.contains(&format!("no Workshop has the name {name:?}")));
    }
    let storage =
        WorkshopStorage { volume: "work-aaaaaaaaaa".to_owned(), size: "1Gi".to_owned(), path: "/work".to_owned() };
    let mut stored = with_snapshot(server("lab-a"));
    stored.spec.storage = Some(storage);
    let archives = fleet.archives().unwrap();
    assert!(!archives.can_read_app(&stored.spec));
    assert!(archives.can_read_app(&server("lab-b").spec));
    fleet.apply(&stored).await.unwrap();
    fleet.apply(&server("lab-b")).await.unwrap();
    fleet.apply(&with_snapshot(script("lab-c", "exit 1"))).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    wait_for(&fleet, "lab-b", Phase::Running).await;
    wait_for(&fleet, "lab-c", Phase::Failed).await;
    for (name, reason) in [("lab-a", "in its volume"), ("lab-b", "has no snapshot"), ("lab-c", "has ended")] {
        assert!(refusal(&fleet, name).await.contains(reason), "{name}");
    }
    fleet.stop().await;
}

#[tokio::test]
async fn workshop_with_a_snapshot_ends_after_the_time_to_save_its_files() {
    let home = Home::new();
    let fleet = home.open();
    // Without a snapshot: they end at the expiry of the first one, and one second before its end.
    let (expires, before) = (server("lab-b"), server("lab-c"));
    let mut workshops = [writes_files("lab-a"), expires, before];
    for workshop in &mut workshops {
        workshop.spec.expires_at = Some(home.clock.now() + SignedDuration::from_secs(3600));
    }
    workshops[2].spec.expires_at = Some(home.clock.now() + SignedDuration::from_secs(3600 + i64::from(GRACE) - 1));
    for workshop in &workshops {
        fleet.apply(workshop).await.unwrap();
    }
    for name in ["lab-a", "lab-b", "lab-c"] {
        wait_for(&fleet, name, Phase::Running).await;
    }

    home.clock.advance(3600);
    wait_for(&fleet, "lab-b", Phase::Expired).await;
    assert_eq!(read_app(&fleet, "lab-a").await.unwrap()["notes/a.txt"], "saved\n");
    home.clock.advance(i64::from(GRACE) - 1);
    wait_for(&fleet, "lab-c", Phase::Expired).await;
    assert_eq!(fleet.get("lab-a").await.unwrap().unwrap().status.unwrap().phase, Phase::Running);

    home.clock.advance(1);
    wait_for(&fleet, "lab-a", Phase::Expired).await;
    assert_eq!(home.processes(), NONE);
    assert!(refusal(&fleet, "lab-a").await.contains("has ended"));
    fleet.stop().await;
}

#[tokio::test]
async fn launcher_ends_a_workshop_with_a_snapshot_at_once() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&writes_files("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    read_app(&fleet, "lab-a").await.unwrap();

    fleet.delete("lab-a", None).await.unwrap();
    assert!(read_app(&fleet, "lab-a").await.is_err(), "a deletion removes the files");
    wait_until_gone(&fleet, "lab-a").await;
    assert!(!home.working("lab-a").exists());
    fleet.stop().await;
}
