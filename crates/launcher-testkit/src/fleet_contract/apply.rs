//! Rules of [`Fleet::apply`](launcher_fleet::Fleet::apply): the uid, and repetitions.

use futures_util::future::join_all;
use launcher_fleet::{FleetError, FleetEvent};
use launcher_workshop::ResourceExt;

use super::harness::FleetHarness;
use super::watcher::{Watcher, delete_and_wait};

pub(super) async fn new_workshop_gets_uid(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "apply-new");
    let wanted = harness.workshop(name);

    let stored = fleet.apply(&wanted).await.unwrap();

    assert!(stored.uid().is_some_and(|uid| !uid.is_empty()), "{stored:?}");
    assert_eq!(stored.name_any(), name);
    assert_eq!(stored.spec, wanted.spec);
    let read = fleet.get(name).await.unwrap().unwrap();
    assert_eq!((read.uid(), read.spec), (stored.uid(), stored.spec));
    fleet.delete(name, None).await.unwrap();
}

/// After a crash, or from several replicas, the service applies the same Workshop again.
pub(super) async fn repeated_apply_changes_nothing(harness: &dyn FleetHarness) {
    let (fleet, name, marker) = (harness.fleet(), "apply-again", "apply-again-marker");
    let wanted = harness.workshop(name);
    let first = fleet.apply(&wanted).await.unwrap();
    let mut watcher = Watcher::open(&*fleet).await;

    for _ in 0..3 {
        let again = fleet.apply(&wanted).await.unwrap();
        assert_eq!((again.uid(), &again.spec), (first.uid(), &wanted.spec));
        assert_eq!(again.metadata.generation, first.metadata.generation);
    }

    // Events arrive in order: when the marker's event arrives, all events of the applies above have arrived.
    fleet.apply(&harness.workshop(marker)).await.unwrap();
    while watcher.known(marker).is_none() {
        let event = watcher.next("the marker").await;
        assert!(!matches!(&event, FleetEvent::Deleted(gone) if gone.name_any() == name), "{event:?}");
        let known = watcher.known(name).unwrap();
        assert_eq!((known.uid(), &known.spec), (first.uid(), &wanted.spec));
    }
    fleet.delete(name, None).await.unwrap();
    fleet.delete(marker, None).await.unwrap();
}

pub(super) async fn changed_spec_keeps_uid(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "apply-change");
    let mut wanted = harness.workshop(name);
    let first = fleet.apply(&wanted).await.unwrap();

    // The service extends a Workshop by applying it again, with its uid and a new expiry.
    wanted.metadata.uid = first.uid();
    wanted.spec.expires_at = Some("2100-01-01T00:00:00Z".parse().unwrap());
    let changed = fleet.apply(&wanted).await.unwrap();

    assert_eq!((changed.uid(), &changed.spec), (first.uid(), &wanted.spec));
    let read = fleet.get(name).await.unwrap().unwrap();
    assert_eq!((read.uid(), &read.spec), (first.uid(), &wanted.spec));
    if let Some(before) = first.metadata.generation {
        assert_eq!(
            changed.metadata.generation,
            Some(before + 1),
            "the generation increases, because observedGeneration refers to it"
        );
    }
    fleet.delete(name, None).await.unwrap();
}

pub(super) async fn concurrent_applies_create_one_workshop(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "apply-concurrent");
    let wanted = harness.workshop(name);

    let answers = join_all((0..8).map(|_| fleet.apply(&wanted))).await;

    let stored = fleet.get(name).await.unwrap().unwrap();
    for answer in answers {
        match answer {
            Ok(applied) => assert_eq!(applied.uid(), stored.uid()),
            // `Unavailable` is allowed, because the service retries and then finds the Workshop.
            Err(error) => assert!(matches!(error, FleetError::Unavailable(_)), "{error}"),
        }
    }
    fleet.delete(name, None).await.unwrap();
}

/// If the fleet created the Workshop again, the owner's work would be lost silently.
pub(super) async fn apply_with_uid_of_deleted_workshop_creates_nothing(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "apply-deleted");
    let mut wanted = harness.workshop(name);
    wanted.metadata.uid = fleet.apply(&wanted).await.unwrap().uid();
    delete_and_wait(&*fleet, name).await;

    let answer = fleet.apply(&wanted).await;

    assert!(matches!(answer, Err(FleetError::Unavailable(_))), "{answer:?}");
    assert_eq!(fleet.get(name).await.unwrap(), None);
}

pub(super) async fn apply_with_other_uid_changes_nothing(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "apply-other-uid");
    let mut wanted = harness.workshop(name);
    let before = fleet.apply(&wanted).await.unwrap();

    wanted.metadata.uid = Some("00000000-0000-7000-8000-000000000000".to_owned());
    wanted.spec.expires_at = Some("2100-01-01T00:00:00Z".parse().unwrap());
    let answer = fleet.apply(&wanted).await;

    assert!(matches!(answer, Err(FleetError::Unavailable(_))), "{answer:?}");
    let read = fleet.get(name).await.unwrap().unwrap();
    assert_eq!((read.uid(), read.spec), (before.uid(), before.spec));
    fleet.delete(name, None).await.unwrap();
}
