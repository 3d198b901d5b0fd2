//! Rules of refused specs: the service fails the start, and never retries it.

use launcher_fleet::{Fleet, FleetError};
use launcher_workshop::{ResourceExt, Workshop};

use super::harness::FleetHarness;

async fn assert_refused(fleet: &dyn Fleet, wanted: &Workshop) {
    let answer = fleet.apply(wanted).await;
    assert!(matches!(answer, Err(FleetError::Refused(_))), "{answer:?}");
}

pub(super) async fn invalid_name_is_refused(harness: &dyn FleetHarness) {
    let fleet = harness.fleet();
    for name in ["Refused-Capital", "refused_underscore", "-refused"] {
        assert_refused(&*fleet, &harness.workshop(name)).await;
        assert_eq!(fleet.get(name).await.unwrap(), None, "a refused Workshop leaves nothing");
    }
}

pub(super) async fn invalid_owner_is_refused(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "refused-owner");
    let mut wanted = harness.workshop(name);
    wanted.spec.owner = String::new();

    assert_refused(&*fleet, &wanted).await;

    assert_eq!(fleet.get(name).await.unwrap(), None, "a refused Workshop leaves nothing");
}

/// The sidecar was started for one owner, and the app with one image. A fleet therefore refuses to change them.
pub(super) async fn changed_owner_or_image_is_refused(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "refused-change");
    let mut wanted = harness.workshop(name);
    let before = fleet.apply(&wanted).await.unwrap();
    wanted.metadata.uid = before.uid();

    let (mut other_owner, mut other_image) = (wanted.clone(), wanted);
    other_owner.spec.owner = "bob@example.org".to_owned();
    other_image.spec.image = "example.org/other:1".to_owned();
    assert_refused(&*fleet, &other_owner).await;
    assert_refused(&*fleet, &other_image).await;
    assert!(matches!(fleet.delete_volume("../fleet").await, Err(FleetError::Refused(_))));

    let read = fleet.get(name).await.unwrap().unwrap();
    assert_eq!((read.uid(), read.spec), (before.uid(), before.spec));
    fleet.delete(name, None).await.unwrap();
}
