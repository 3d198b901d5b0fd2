//! Snapshots: the planned end of a running instance waits for its files.

use jiff::{SignedDuration, Timestamp};
use launcher_domain::clock::SystemEntropy;
use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::snapshot::{SNAPSHOT_GRACE, SNAPSHOT_WAIT};
use launcher_domain::{
    ArchiveToken, EndReason, FailureCode, FailureReason, Instance, InstanceSnapshot, InstanceState, SnapshotFailure,
    SnapshotState,
};

use crate::{at, instance};

fn planned(state: InstanceState) -> Instance {
    let snapshot = Some(InstanceSnapshot::planned(ArchiveToken::random(&SystemEntropy)));
    Instance { snapshot, expires_at: Some(at(50)), spec_version: 4, ..instance(state) }
}

fn outcome(instance: &Instance) -> Option<(SnapshotState, Option<SnapshotFailure>)> {
    instance.snapshot.as_ref().map(|snapshot| (snapshot.state, snapshot.failure))
}

#[test]
fn end_of_a_running_instance_keeps_its_workshop_until_the_snapshot_is_finished() {
    for result in [Ok(()), Err(SnapshotFailure::TooLarge)] {
        let ending = planned(InstanceState::Running).terminate(EndReason::Owner, at(50)).unwrap();
        assert_eq!((ending.state, ending.spec_version), (InstanceState::Terminating, 4));
        assert!(ending.waits_for_snapshot());
        assert_eq!(ending.snapshot.as_ref().unwrap().pending_since, Some(at(50)));

        let finished = ending.finish_snapshot(result).unwrap();
        assert_eq!((finished.state, finished.spec_version), (InstanceState::Terminating, 5));
        let state = if result.is_ok() { SnapshotState::Saved } else { SnapshotState::Failed };
        assert_eq!(outcome(&finished), Some((state, result.err())));
        assert!(!finished.waits_for_snapshot() && finished.finish_snapshot(Ok(())).is_none());
        let gone = finished.workshop_gone(at(50)).unwrap();
        assert_eq!((gone.state, outcome(&gone)), (InstanceState::Terminated, outcome(&finished)));
    }
}

#[test]
fn end_without_a_running_app_has_no_snapshot() {
    for state in [InstanceState::Queued, InstanceState::Starting, InstanceState::Failed] {
        let ended = planned(state).terminate(EndReason::Owner, at(50)).unwrap();
        assert!(!ended.waits_for_snapshot(), "{state:?}");
    }
    let reason = FailureReason::new(FailureCode::Crashed, None);
    let failed = planned(InstanceState::Running).observe(&Observation::of_failure(reason)).unwrap();
    assert_eq!(failed.snapshot, None);
}

#[test]
fn workshop_that_ends_without_the_launcher_has_a_failed_snapshot() {
    let running = planned(InstanceState::Running);
    let gone = Some((SnapshotState::Failed, Some(SnapshotFailure::WorkshopGone)));
    assert_eq!(outcome(&running.workshop_gone(at(50)).unwrap()), gone);
    let ending = running.terminate(EndReason::Owner, at(50)).unwrap();
    assert_eq!(outcome(&ending.workshop_gone(at(50)).unwrap()), gone);
    let expired = Observation { phase: ObservedPhase::Expired, ..observation() };
    let expired = running.observe(&expired).unwrap();
    assert_eq!((outcome(&expired), expired.spec_version), (gone, 5));
}

fn observation() -> Observation {
    Observation::of_failure(FailureReason::new(FailureCode::Crashed, None))
}

#[test]
fn instance_with_a_planned_snapshot_expires_in_time() {
    let running = planned(InstanceState::Running);
    assert!(running.expire_with_snapshot(at(50) - SignedDuration::from_millis(1)).is_none());
    let expired = running.expire_with_snapshot(at(50)).unwrap();
    assert_eq!((expired.end_reason, expired.waits_for_snapshot()), (Some(EndReason::Expired), true));
    assert!(expired.expire_with_snapshot(at(50)).is_none());
    let without = Instance { snapshot: None, ..running };
    assert!(without.expire_with_snapshot(at(50)).is_none(), "the fleet ends it");
    assert!(SNAPSHOT_GRACE > SNAPSHOT_WAIT);
}

#[test]
fn end_waits_a_minute_for_its_files_and_longer_while_files_of_others_are_saved() {
    let later = |seconds: i64| at(50) + SignedDuration::from_secs(seconds);
    let deadline =
        |instance: &Instance, started_at, progress| instance.snapshot.as_ref().unwrap().deadline(started_at, progress);
    let running = planned(InstanceState::Running);
    assert_eq!(deadline(&running, at(0), at(0)), None);
    let ending = running.terminate(EndReason::Owner, at(50)).unwrap();
    assert_eq!(deadline(&ending, at(0), at(0)), Some(later(60)));
    assert_eq!(deadline(&ending, later(1000), at(0)), Some(later(1060)), "without a launcher, no time passes");
    assert_eq!(deadline(&ending, at(0), later(30)), Some(later(90)), "the launcher saved the files of another one");
    assert_eq!(deadline(&ending, at(0), later(290)), Some(later(300)), "at most five minutes");
    let begun = ending.begin_snapshot(later(100), Timestamp::MIN).unwrap();
    assert_eq!(deadline(&begun, at(0), at(0)), Some(later(160)), "its turn came late");
}

#[test]
fn one_launcher_saves_the_files_and_another_one_only_after_20_seconds() {
    let later = |seconds: i64| at(50) + SignedDuration::from_secs(seconds);
    let ending = planned(InstanceState::Running).terminate(EndReason::Owner, at(50)).unwrap();
    let begun = ending.begin_snapshot(at(50), Timestamp::MIN).unwrap();
    assert_eq!(begun.snapshot.as_ref().unwrap().begun_at, Some(at(50)));
    assert!(begun.begin_snapshot(later(19), Timestamp::MIN).is_none());
    assert!(begun.begin_snapshot(later(20), Timestamp::MIN).is_some());
    assert!(begun.begin_snapshot(later(1), later(1)).is_some(), "the earlier begin does not count");
    assert!(planned(InstanceState::Running).begin_snapshot(at(50), Timestamp::MIN).is_none());
}

#[test]
fn token_is_random_and_not_shown() {
    let token = || ArchiveToken::random(&SystemEntropy);
    assert!(token() != token() && token().reveal().len() == 64);
    let instance = planned(InstanceState::Running);
    assert!(!format!("{instance:?}").contains(instance.snapshot.as_ref().unwrap().token.reveal()));
}
