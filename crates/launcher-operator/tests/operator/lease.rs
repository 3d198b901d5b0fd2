//! Which operator may act, and until when.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use launcher_operator::lease::{Fence, NotLeading, Verdict, Watched};
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
fn a_free_lease_and_our_own_are_taken() {
    let now = Instant::now();
    for lease in [Lease::default(), held_by(None, 1), held_by(Some(""), 1), held_by(Some("me"), 1)] {
        assert_eq!(Watched::default().verdict(&lease, "me", now), Verdict::Take);
    }
}

#[test]
fn anothers_lease_is_taken_only_after_it_was_seen_unchanged_for_its_duration() {
    let mut watched = Watched::default();
    let (start, lease) = (Instant::now(), held_by(Some("other"), 1));
    assert_eq!(watched.verdict(&lease, "me", start), Verdict::Wait);
    assert_eq!(watched.verdict(&lease, "me", start + DURATION), Verdict::Wait);
    assert_eq!(watched.verdict(&lease, "me", start + DURATION + Duration::from_millis(1)), Verdict::Take);
}

#[test]
fn a_renewal_starts_the_wait_again() {
    let mut watched = Watched::default();
    let start = Instant::now();
    assert_eq!(watched.verdict(&held_by(Some("other"), 1), "me", start), Verdict::Wait);
    assert_eq!(watched.verdict(&held_by(Some("other"), 2), "me", start + DURATION * 2), Verdict::Wait);
    assert_eq!(watched.verdict(&held_by(Some("other"), 2), "me", start + DURATION * 3), Verdict::Wait);
    assert_eq!(watched.verdict(&held_by(Some("other"), 2), "me", start + DURATION * 4), Verdict::Take);
}

#[tokio::test]
async fn a_leader_stops_acting_before_anybody_else_may_start() {
    pause();
    let asked = Instant::now();
    let fence = Fence::new(asked, DURATION);
    // A standby that saw the renewal at the same moment waits for the whole duration.
    advance(DURATION * 4 / 5 - Duration::from_millis(1)).await;
    assert_eq!(fence.check(), Ok(()));
    advance(Duration::from_millis(1)).await;
    assert_eq!(fence.check(), Err(NotLeading));
    let mut standby = Watched::default();
    standby.verdict(&held_by(Some("other"), 1), "me", asked);
    assert_eq!(standby.verdict(&held_by(Some("other"), 1), "me", Instant::now()), Verdict::Wait);
}

#[tokio::test]
async fn a_renewal_counts_from_when_it_was_asked_for_and_reopens_nothing_that_was_given_up() {
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
