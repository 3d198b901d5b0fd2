//! Rules of a fleet's identity and data: the identity never changes and is unique, and reopening loses no Workshop.

use launcher_workshop::ResourceExt;

use super::harness::FleetHarness;

pub(super) async fn identity_is_constant(harness: &dyn FleetHarness) {
    let fleet = harness.fleet();
    let identity = fleet.identity().await.unwrap();
    assert!(!identity.is_empty());
    assert_eq!(fleet.identity().await.unwrap(), identity);

    let fleet = harness.reopen(fleet).await;

    assert_eq!(fleet.identity().await.unwrap(), identity);
}

pub(super) async fn identity_differs_between_fleets(harness: &dyn FleetHarness) {
    let other = harness.open_other().await;

    assert_ne!(harness.fleet().identity().await.unwrap(), other.identity().await.unwrap());
}

pub(super) async fn workshops_survive_reopening(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "reopen-kept");
    let mut wanted = harness.workshop(name);
    let before = fleet.apply(&wanted).await.unwrap();

    let fleet = harness.reopen(fleet).await;

    let after = fleet.get(name).await.unwrap().unwrap();
    assert_eq!((after.uid(), &after.spec), (before.uid(), &before.spec));
    wanted.metadata.uid = before.uid();
    assert_eq!(fleet.apply(&wanted).await.unwrap().uid(), before.uid());
    fleet.delete(name, None).await.unwrap();
}
