//! Tests of the leader election: which operator may act, and until when.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use launcher_operator::lease::{Fence, LeaseDecision, NotLeading, ObservedLease};
use tokio::time::{Instant, advance, pause};

const DURATION: Duration = Duration::from_secs(15);

fn held_by(holder: Option<&str>, transitions: i32) -> Lease {
    let spec = LeaseSpec {
        holder_identity: holder.map(str::to_owned),
        lease_duration_seconds: Some(15),
        lease_transitions: Some(transitions),
        ..LeaseSpec::default()
    };
    Lease { spec: Some(spec), ..Lease::default() }
}

#[test]
fn free_lease_and_own_lease_are_taken_at_once() {
    let now = Instant::now();
    for lease in [Lease::default(), held_by(None, 1), held_by(Some(""), 1), held_by(Some("me"), 1)] {
        assert_eq!(ObservedLease::default().decide(&lease, "me", now), LeaseDecision::Take);
    }
}

#[test]
fn foreign_lease_is_taken_after_its_duration_without_renewal() {
    let mut watched = ObservedLease::default();
    let (start, lease) = (Instant::now(), held_by(Some("other"), 1));
    assert_eq!(watched.decide(&lease, "me", start), LeaseDecision::Wait);
    assert_eq!(watched.decide(&lease, "me", start + DURATION), LeaseDecision::Wait);
    assert_eq!(watched.decide(&lease, "me", start + DURATION + Duration::from_millis(1)), LeaseDecision::Take);
}

#[test]
fn renewal_of_foreign_lease_restarts_the_wait() {
    let mut watched = ObservedLease::default();
    let start = Instant::now();
    assert_eq!(watched.decide(&held_by(Some("other"), 1), "me", start), LeaseDecision::Wait);
    assert_eq!(watched.decide(&held_by(Some("other"), 2), "me", start + DURATION * 2), LeaseDecision::Wait);
    assert_eq!(watched.decide(&held_by(Some("other"), 2), "me", start + DURATION * 3), LeaseDecision::Wait);
    assert_eq!(watched.decide(&held_by(Some("other"), 2), "me", start + DURATION * 4), LeaseDecision::Take);
}

#[tokio::test]
async fn leader_fence_closes_before_standby_may_take_the_lease() {
    pause();
    let asked = Instant::now();
    let fence = Fence::new(asked, DURATION);
    // The leader must stop after 4/5 of the lease duration. A standby waits for the whole duration.
    advance(DURATION * 4 / 5 - Duration::from_millis(1)).await;
    assert_eq!(fence.check(), Ok(()));
    advance(Duration::from_millis(1)).await;
    assert_eq!(fence.check(), Err(NotLeading));
    let mut standby = ObservedLease::default();
    standby.decide(&held_by(Some("other"), 1), "me", asked);
    assert_eq!(standby.decide(&held_by(Some("other"), 1), "me", Instant::now()), LeaseDecision::Wait);
}

#[tokio::test]
async fn fence_is_extended_from_time_of_renewal_request_and_stays_closed_after_close() {
    pause();
    let fence = Fence::new(Instant::now(), DURATION);
    let asked = Instant::now();
    advance(Duration::from_secs(10)).await;
    fence.renewed(asked, DURATION);
    advance(Duration::from_secs(2)).await;
    assert_eq!(fence.check(), Err(NotLeading), "twelve seconds after the renewal was asked for");
    fence.renewed(Instant::now(), DURATION);
    assert_eq!(fence.check(), Ok(()));
    fence.close();
    fence.renewed(Instant::now(), DURATION);
    assert_eq!(fence.check(), Err(NotLeading));
}
