//! Rules of the status: the fleet writes it, and the service reads it.

use launcher_workshop::{Phase, Workshop};

use super::harness::FleetHarness;
use super::watcher::Watcher;

/// Applies a Workshop, and waits until it runs.
async fn run(harness: &dyn FleetHarness, wanted: &Workshop, watcher: &mut Watcher, name: &str) -> Workshop {
    harness.fleet().apply(wanted).await.unwrap();
    harness.bring_about(name, Phase::Running).await;
    watcher.until_phase(name, Phase::Running).await
}

pub(super) async fn applied_workshop_reaches_running(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "status-running");
    let mut watcher = Watcher::open(&*fleet).await;

    let reported = run(harness, &harness.workshop(name), &mut watcher, name).await;

    let status = reported.status.unwrap();
    assert!(status.report.url.is_some_and(|url| url.contains(name)), "the owner opens it by its URL");
    assert!(status.ready_at.is_some(), "the lifetime counts from this time");
    let read = fleet.get(name).await.unwrap().unwrap().status.unwrap();
    assert_eq!((read.phase, read.ready_at), (Phase::Running, status.ready_at));
    fleet.delete(name, None).await.unwrap();
}

/// The service applies Workshops without a status. This must not remove the status of a running Workshop.
pub(super) async fn apply_keeps_status(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "status-kept");
    let mut wanted = harness.workshop(name);
    let mut watcher = Watcher::open(&*fleet).await;
    let running = run(harness, &wanted, &mut watcher, name).await.status.unwrap();

    fleet.apply(&wanted).await.unwrap();
    wanted.spec.expires_at = Some("2100-01-01T00:00:00Z".parse().unwrap());
    let extended = fleet.apply(&wanted).await.unwrap().status.unwrap();

    assert_eq!((extended.phase, extended.ready_at), (Phase::Running, running.ready_at));
    let read = fleet.get(name).await.unwrap().unwrap().status.unwrap();
    assert_eq!((read.phase, read.ready_at), (Phase::Running, running.ready_at));
    fleet.delete(name, None).await.unwrap();
}

pub(super) async fn past_expiry_ends_workshop(harness: &dyn FleetHarness) {
    let (fleet, name) = (harness.fleet(), "status-expired");
    let mut wanted = harness.workshop(name);
    let mut watcher = Watcher::open(&*fleet).await;
    run(harness, &wanted, &mut watcher, name).await;

    wanted.spec.expires_at = Some("2000-01-01T00:00:00Z".parse().unwrap());
    fleet.apply(&wanted).await.unwrap();
    harness.bring_about(name, Phase::Expired).await;

    watcher.until_phase(name, Phase::Expired).await;
    assert!(fleet.get(name).await.unwrap().is_some(), "an expired Workshop stays until it is deleted");
    fleet.delete(name, None).await.unwrap();
}
