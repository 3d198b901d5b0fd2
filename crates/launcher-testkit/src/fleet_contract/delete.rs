//! Rules of [`Fleet::delete`](launcher_fleet::Fleet::delete).

use launcher_fleet::{Deletion, FleetEvent};
use launcher_workshop::ResourceExt;

use super::harness::FleetHarness;
use super::watcher::{Watcher, delete_and_wait};

pub(super) async fn delete_of_missing_workshop_returns_gone(harness: &dyn FleetHarness) {
    let fleet = harness.fleet();
    assert_eq!(fleet.delete("delete-missing", None).await.unwrap(), Deletion::Gone);
    assert_eq!(fleet.delete("delete-missing", Some("any-uid")).await.unwrap(), Deletion::Gone);
}

pub(super) async fn deleted_workshop_is_reported_and_gone(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "delete-existing");
    let uid = fleet.apply(&harness.workshop(name)).await.unwrap().uid();
    let mut watcher = Watcher::open(&*fleet).await;

    let answer = fleet.delete(name, uid.as_deref()).await.unwrap();

    if answer == Deletion::Gone {
        assert_eq!(fleet.get(name).await.unwrap(), None, "a Workshop that is reported as gone must not exist");
    }
    loop {
        match watcher.next("the deletion").await {
            FleetEvent::Deleted(gone) if gone.name_any() == name => break assert_eq!(gone.uid(), uid),
            // After a gap in the watch, the list without this Workshop replaces the deletion event.
            FleetEvent::Relisted(_) if watcher.known(name).is_none() => break,
            _ => assert_eq!(watcher.known(name).and_then(ResourceExt::uid), uid, "it was lost without an event"),
        }
    }
    assert_eq!(fleet.get(name).await.unwrap(), None);
}

/// After a crash, or from several replicas, the service deletes the same Workshop again.
pub(super) async fn repeated_delete_ends_as_gone(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "delete-again");
    let uid = fleet.apply(&harness.workshop(name)).await.unwrap().uid();
    let mut watcher = Watcher::open(&*fleet).await;

    for _ in 0..3 {
        fleet.delete(name, uid.as_deref()).await.unwrap();
    }

    watcher.until_gone(name).await;
    assert_eq!(fleet.delete(name, uid.as_deref()).await.unwrap(), Deletion::Gone);
    assert_eq!(fleet.delete(name, None).await.unwrap(), Deletion::Gone);
}

pub(super) async fn delete_with_other_uid_leaves_workshop(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "delete-other-uid");
    let before = fleet.apply(&harness.workshop(name)).await.unwrap();

    let answer = fleet.delete(name, Some("00000000-0000-7000-8000-000000000000")).await.unwrap();

    assert_eq!(answer, Deletion::Gone, "the Workshop of that uid does not exist");
    let read = fleet.get(name).await.unwrap().unwrap();
    assert_eq!((read.uid(), &read.spec), (before.uid(), &before.spec));
    assert_eq!(read.metadata.deletion_timestamp, None);
    fleet.delete(name, None).await.unwrap();
}

pub(super) async fn name_is_usable_again_with_new_uid(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "delete-reuse");
    let wanted = harness.workshop(name);
    let before = fleet.apply(&wanted).await.unwrap();
    delete_and_wait(&*fleet, name).await;

    let after = fleet.apply(&wanted).await.unwrap();

    assert!(after.uid().is_some() && after.uid() != before.uid(), "{:?}", after.uid());
    // A late delete with the uid of the old Workshop does not delete the new one.
    assert_eq!(fleet.delete(name, before.uid().as_deref()).await.unwrap(), Deletion::Gone);
    assert_eq!(fleet.get(name).await.unwrap().unwrap().uid(), after.uid());
    fleet.delete(name, None).await.unwrap();
}
