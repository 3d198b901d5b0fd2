//! Rules of secret variables: only the app gets their values.

use launcher_domain::SecretValues;
use launcher_workshop::{ResourceExt, Workshop};

use super::harness::FleetHarness;

const VALUE: &str = "hunter2-unique";

fn with_secret(harness: &dyn FleetHarness, name: &str) -> (Workshop, SecretValues) {
    let mut workshop = harness.workshop(name);
    workshop.spec.secret_env = vec!["TOKEN".to_owned()];
    (workshop, [("TOKEN".to_owned(), VALUE.to_owned())].into_iter().collect())
}

fn assert_hidden(workshop: &Workshop) {
    assert_eq!(workshop.spec.secret_env, ["TOKEN"]);
    let text = serde_json::to_string(workshop).unwrap();
    assert!(!text.contains(VALUE), "{text}");
}

/// Workshops are logged, listed and shown by `kubectl`.
pub(super) async fn secret_values_are_not_in_the_workshop(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "secret-hidden");
    let (wanted, secrets) = with_secret(harness, name);

    let stored = fleet.apply_with_secrets(&wanted, &secrets).await.unwrap();

    assert_hidden(&stored);
    assert_hidden(&fleet.get(name).await.unwrap().unwrap());
    fleet.delete(name, None).await.unwrap();
}

/// After a crash, the service applies the same Workshop again, with the values. After its end, without them.
pub(super) async fn later_apply_may_omit_secret_values(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "secret-repeated");
    let (wanted, secrets) = with_secret(harness, name);
    let first = fleet.apply_with_secrets(&wanted, &secrets).await.unwrap();

    let again = fleet.apply_with_secrets(&wanted, &secrets).await.unwrap();
    let without = fleet.apply(&wanted).await.unwrap();

    for workshop in [again, without] {
        assert_eq!((workshop.uid(), &workshop.spec), (first.uid(), &first.spec));
        assert_hidden(&workshop);
    }
    fleet.delete(name, None).await.unwrap();
}
