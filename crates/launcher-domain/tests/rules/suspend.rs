//! Suspend and resume of an instance.

use launcher_domain::instance::{Observation, ObservedPhase, ResumeError, SuspendError};
use launcher_domain::lifetime::extension;
use launcher_domain::quantity::Quantity;
use launcher_domain::{
    Act, Activity, ActivityAction, AtExpiry, Crash, EndReason, FailureCode, Instance, InstanceState, Report, Storage,
    StorageKind,
};

use crate::{at, instance, seen};

/// An instance with a volume, whose Workshop the fleet has accepted.
fn kept(state: InstanceState, at_expiry: AtExpiry) -> Instance {
    let mut kept = instance(state);
    let size = Quantity::parse("1Gi").unwrap();
    kept.settings.storage = Some(Storage { kind: StorageKind::Kept, size, path: "/work".to_owned(), at_expiry });
    kept.volume = Some("work-aaaaaaaaaa".to_owned());
    kept.workshop_uid = Some("uid-1".to_owned());
    kept
}

fn running() -> Instance {
    kept(InstanceState::Running, AtExpiry::End)
}

fn suspended() -> Instance {
    running().suspend(at(50)).unwrap().unwrap().workshop_gone(at(60)).unwrap()
}

#[test]
fn suspended_instance_has_no_workshop_and_keeps_its_volume() {
    let suspending = running().suspend(at(50)).unwrap().unwrap();
    assert_eq!(suspending.state, InstanceState::Suspending);
    assert!(!suspending.state.wants_workshop());
    assert_eq!(suspending.spec_version, 2, "dispatch has to delete the Workshop");
    assert_eq!(
        (suspending.report.url.as_ref(), suspending.expires_at, suspending.suspended_at),
        (None, None, Some(at(50)))
    );
    assert_eq!(extension(&suspending, at(51)).latest_expires_at, None);

    let suspended = suspending.workshop_gone(at(60)).unwrap();
    assert_eq!((suspended.state, suspended.suspended_at), (InstanceState::Suspended, Some(at(50))));
    assert_eq!((suspended.ended_at, suspended.end_reason), (None, None));
    assert_eq!(suspended.volume, running().volume);
    assert_eq!(suspended.workshop_gone(at(70)), None, "a repeated report changes nothing");
}

#[test]
fn suspension_is_refused_without_volume_and_unless_running() {
    let without = Instance { volume: None, ..running() };
    assert_eq!(without.suspend(at(50)), Err(SuspendError::FilesNotKept));
    assert_eq!(running().suspend(at(7200)), Err(SuspendError::NotRunning), "it has expired");
    for state in InstanceState::ALL {
        let answer = kept(state, AtExpiry::End).suspend(at(50));
        match state {
            InstanceState::Running => assert!(matches!(answer, Ok(Some(_)))),
            InstanceState::Suspending | InstanceState::Suspended => assert_eq!(answer, Ok(None), "{state:?}"),
            _ => assert_eq!(answer, Err(SuspendError::NotRunning), "{state:?}"),
        }
    }
}

#[test]
fn late_reports_about_the_deleted_workshop_change_nothing() {
    let suspending = running().suspend(at(50)).unwrap().unwrap();
    let crashed = launcher_domain::FailureReason::new(FailureCode::Crashed, None);
    for phase in [ObservedPhase::Running, ObservedPhase::Expired, ObservedPhase::Failed(crashed)] {
        assert_eq!(suspending.observe(&seen(phase.clone())), None);
        assert_eq!(suspended().observe(&seen(phase)), None);
    }
}

#[test]
fn resumed_instance_waits_like_a_new_one_and_gets_a_new_lifetime() {
    let crash = Crash { at: at(40), code: FailureCode::Crashed, files_lost: false };
    let before = Instance {
        report: Report { last_crash: Some(crash), ..Report::default() },
        restarted_at: Some(at(30)),
        ..suspended()
    };
    let resumed = before.resume(at(5000)).unwrap().unwrap();
    assert_eq!((resumed.state, resumed.started_at, resumed.suspended_at), (InstanceState::Queued, None, None));
    assert_eq!(
        (resumed.report.last_crash.as_ref(), resumed.restarted_at),
        (None, None),
        "they are about the former workload"
    );
    assert_eq!((resumed.created_at, resumed.queued_at()), (before.created_at, at(5000)));
    assert_eq!((&resumed.k8s_name, &resumed.volume), (&before.k8s_name, &before.volume));

    let starting = Instance { state: InstanceState::Starting, ..resumed };
    let ready = Observation { ready_at: Some(at(5010)), ..seen(ObservedPhase::Running) };
    let again = starting.observe(&ready).unwrap();
    assert_eq!((again.started_at, again.expires_at), (Some(at(5010)), Some(at(5010 + 7200))));
}

#[test]
fn resumed_instance_has_no_workshop_yet_and_remembers_the_former_one() {
    let late = Instance { applied_version: 1, ..suspended() };
    let resumed = late.resume(at(99)).unwrap().unwrap();
    assert_eq!((resumed.workshop_uid.as_deref(), resumed.former_uid.as_deref()), (None, Some("uid-1")));
    assert_eq!(resumed.applied_version, resumed.spec_version, "the fleet has nothing to do while it is queued");
}

#[test]
fn resume_is_refused_unless_suspended_and_repeats_nothing() {
    for state in InstanceState::ALL {
        let answer = kept(state, AtExpiry::End).resume(at(50));
        match state {
            InstanceState::Suspended => assert!(matches!(answer, Ok(Some(_)))),
            InstanceState::Queued | InstanceState::Starting | InstanceState::Running => assert_eq!(answer, Ok(None)),
            InstanceState::Suspending => assert_eq!(answer, Err(ResumeError::StillSuspending)),
            _ => assert_eq!(answer, Err(ResumeError::NotSuspended), "{state:?}"),
        }
    }
}

#[test]
fn expiry_suspends_if_the_template_says_so() {
    let ends = kept(InstanceState::Running, AtExpiry::End).observe(&seen(ObservedPhase::Expired)).unwrap();
    assert_eq!((ends.state, ends.end_reason), (InstanceState::Terminating, Some(EndReason::Expired)));

    let before = kept(InstanceState::Running, AtExpiry::Suspend);
    let suspends = before.observe(&seen(ObservedPhase::Expired)).unwrap();
    assert_eq!((suspends.state, suspends.end_reason), (InstanceState::Suspending, None));
    assert_eq!(suspends.suspended_at, before.expires_at);

    // The launcher was down for the whole lifetime.
    let missed = kept(InstanceState::Starting, AtExpiry::Suspend).observe(&seen(ObservedPhase::Expired)).unwrap();
    assert_eq!((missed.state, missed.suspended_at), (InstanceState::Suspending, Some(at(100 + 7200))));
    let without = Instance { volume: None, ..before };
    assert_eq!(without.observe(&seen(ObservedPhase::Expired)).unwrap().state, InstanceState::Terminating);
}

#[test]
fn suspension_and_resume_are_logged_once() {
    let logged = |before: &Instance, after: &Instance| {
        let act = Act { actor_email: None, at: at(50) };
        Activity::of_change(before, after, &act).map(|activity| (activity.action, activity.detail))
    };
    let (before, suspending) = (running(), running().suspend(at(50)).unwrap().unwrap());
    assert_eq!(logged(&before, &suspending), Some((ActivityAction::Suspended, None)));
    assert_eq!(logged(&suspending, &suspended()), None);
    let resumed = suspended().resume(at(99)).unwrap().unwrap();
    assert_eq!(logged(&suspended(), &resumed), Some((ActivityAction::Resumed, None)));
    let ended = suspended().terminate(EndReason::Owner, at(99)).unwrap();
    assert_eq!(logged(&suspended(), &ended), Some((ActivityAction::Ended, Some("owner".to_owned()))));
    assert_eq!((ended.state, ended.ended_at), (InstanceState::Terminated, Some(at(99))));
}

#[test]
fn only_a_resume_gives_the_instance_another_workshop() {
    let suspended = suspended();
    assert!(running().has_same_workshop(&suspended));
    let before_answer = Instance { workshop_uid: None, ..running() };
    assert!(before_answer.has_same_workshop(&suspended), "the uid was recorded later");

    let resumed = suspended.resume(at(70)).unwrap().unwrap();
    let running_again = Instance { workshop_uid: Some("uid-2".to_owned()), ..resumed.clone() };
    for before in [running(), before_answer, suspended] {
        assert!(!before.has_same_workshop(&resumed));
        assert!(!before.has_same_workshop(&running_again));
    }
    assert!(resumed.has_same_workshop(&running_again));
}
