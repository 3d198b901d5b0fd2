use launcher_domain::instance::{Observation, ObservedPhase, RestartError};
use launcher_domain::lifetime::Bound;
use launcher_domain::{
    EndReason, FailureCode, FailureReason, FailureRemedy, Instance, InstanceState, ListensElsewhere, Report, StartStep,
};

use crate::{at, instance, seen, urls};

fn at_step(start_step: Option<StartStep>, start_progress: Option<u32>) -> Observation {
    Observation { report: Report { start_step, start_progress, ..Report::default() }, ..seen(ObservedPhase::Starting) }
}

#[test]
fn first_ready_report_starts_the_lifetime() {
    let ready = instance(InstanceState::Starting).observe(&seen(ObservedPhase::Running)).unwrap();
    assert_eq!(ready.state, InstanceState::Running);
    assert_eq!((ready.started_at, ready.expires_at), (Some(at(100)), Some(at(100 + 7200))));
    assert_eq!(ready.spec_version, 1, "the fleet derives the expiry itself");
    assert_eq!(ready.observe(&seen(ObservedPhase::Running)), None);
    let extended = ready.extend(None, Bound::Maximum, at(100)).unwrap();
    assert_eq!(extended.observe(&seen(ObservedPhase::Running)), None, "a late report does not undo an extension");
}

#[test]
fn failure_of_an_instance_with_a_volume_says_that_files_are_kept_and_how_to_make_space() {
    let volume = Some("work-a".to_owned());
    let shown = |volume: &Option<String>, code, log: &str| {
        let reason = Some(FailureReason::new(code, None));
        let failed = instance(InstanceState::Failed);
        Instance {
            reason,
            volume: volume.clone(),
            report: Report { log_tail: Some(log.to_owned()), ..Report::default() },
            ..failed
        }
        .failure()
        .unwrap()
    };
    let full = "OSError: [Errno 28] No space left on device: '/home/jovyan/.jupyter'";
    for (code, log, expected) in [
        (FailureCode::Crashed, "Traceback", FailureRemedy::KeptFiles),
        (FailureCode::Crashed, full, FailureRemedy::FreeSpace),
        (FailureCode::Evicted, full, FailureRemedy::KeptFiles),
    ] {
        let reason = FailureReason::new(code, None);
        assert_eq!(shown(&volume, code, log), reason.clone().with_remedy(&expected));
        assert_eq!(shown(&None, code, log), reason);
    }
    let unscheduled = FailureReason::new(FailureCode::Unschedulable, None);
    assert_eq!(shown(&volume, FailureCode::Unschedulable, full), unscheduled);
    assert_eq!(instance(InstanceState::Running).failure(), None);
}

#[test]
fn failure_keeps_reason_and_log_and_requests_deletion() {
    let reason = FailureReason::new(FailureCode::Crashed, Some("It ended with status 3.".into()));
    let mut report = seen(ObservedPhase::Failed(reason.clone()));
    report.report.log_tail = Some("Traceback".to_owned());
    let failed = instance(InstanceState::Running).observe(&report).unwrap();
    assert_eq!(failed.state, InstanceState::Failed);
    assert_eq!((failed.reason, failed.report.log_tail.as_deref()), (Some(reason), Some("Traceback")));
    assert_eq!(failed.report.url, None);
    assert_eq!(failed.spec_version, 2, "the fleet has to be told to delete it");
}

#[test]
fn running_report_is_ignored_outside_starting_and_running() {
    for state in [InstanceState::Terminating, InstanceState::Terminated, InstanceState::Failed, InstanceState::Queued] {
        assert_eq!(instance(state).observe(&seen(ObservedPhase::Running)), None, "{state:?}");
    }
}

#[test]
fn terminate_gives_expected_state_and_end_reason_in_every_state() {
    for (state, next, reason) in [
        (InstanceState::Queued, Some(InstanceState::Terminated), Some(EndReason::Admin)),
        (InstanceState::Starting, Some(InstanceState::Terminating), Some(EndReason::Admin)),
        (InstanceState::Running, Some(InstanceState::Terminating), Some(EndReason::Admin)),
        (InstanceState::Suspending, Some(InstanceState::Terminating), Some(EndReason::Admin)),
        (InstanceState::Suspended, Some(InstanceState::Terminated), Some(EndReason::Admin)),
        (InstanceState::Failed, Some(InstanceState::Terminating), Some(EndReason::Failed)),
        (InstanceState::Terminating, None, None),
        (InstanceState::Terminated, None, None),
    ] {
        let after = instance(state).terminate(EndReason::Admin, at(50));
        assert_eq!(after.as_ref().map(|after| after.state), next, "{state:?}");
        assert_eq!(after.and_then(|after| after.end_reason), reason, "{state:?}");
    }
}

#[test]
fn workshop_deleted_from_outside_is_lost() {
    let lost = instance(InstanceState::Running).workshop_gone(at(60)).unwrap();
    assert_eq!((lost.state, lost.end_reason), (InstanceState::Terminated, Some(EndReason::Lost)));
    assert_eq!(lost.ended_at, Some(at(60)));
    let asked = instance(InstanceState::Running).terminate(EndReason::Owner, at(50)).unwrap();
    assert_eq!(asked.workshop_gone(at(60)).unwrap().end_reason, Some(EndReason::Owner));
    assert_eq!(instance(InstanceState::Failed).workshop_gone(at(60)), None, "a failure stays until it is dismissed");
}

#[test]
fn expiry_by_the_fleet_sets_end_reason_expired() {
    let expired = instance(InstanceState::Running).observe(&seen(ObservedPhase::Expired)).unwrap();
    assert_eq!((expired.state, expired.end_reason), (InstanceState::Terminating, Some(EndReason::Expired)));
    assert_eq!(expired.workshop_gone(at(9)).unwrap().end_reason, Some(EndReason::Expired));
}

#[test]
fn every_failure_code_has_message_and_remedy() {
    for code in FailureCode::ALL {
        let reason = FailureReason::new(code, None);
        assert!(reason.message.ends_with('.') && reason.remedy.ends_with('.'), "{code:?}");
        assert_eq!(FailureCode::parse(code.as_str()), Some(code));
        assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
    }
}

#[test]
fn start_step_is_kept_only_while_starting() {
    let step = |step| at_step(Some(step), None);
    let pulling = instance(InstanceState::Starting).observe(&step(StartStep::PullingImage)).unwrap();
    assert_eq!((pulling.state, pulling.report.start_step), (InstanceState::Starting, Some(StartStep::PullingImage)));
    assert_eq!(pulling.observe(&step(StartStep::PullingImage)), None);
    let answering = pulling.observe(&step(StartStep::StartingApp)).unwrap();
    assert_eq!(answering.report.start_step, Some(StartStep::StartingApp));
    let left = [
        answering.observe(&seen(ObservedPhase::Running)).unwrap(),
        answering.terminate(EndReason::Owner, at(50)).unwrap(),
        answering.workshop_gone(at(50)).unwrap(),
    ];
    assert!(left.iter().all(|after| after.report.start_step.is_none()), "{left:?}");
    assert_eq!(left[0].observe(&step(StartStep::RestartingApp)), None, "it stays running while its app restarts");
    assert!(StartStep::ALL.iter().all(|step| StartStep::parse(step.as_str()) == Some(*step)));
}

#[test]
fn progress_belongs_to_its_start_step() {
    let report = |step, progress| at_step(Some(step), progress);
    let pulling = instance(InstanceState::Starting).observe(&report(StartStep::PullingImage, Some(40))).unwrap();
    assert_eq!(pulling.report.start_progress, Some(40));
    assert_eq!(pulling.observe(&report(StartStep::PullingImage, Some(40))), None);
    assert_eq!(pulling.observe(&report(StartStep::PullingImage, Some(45))).unwrap().report.start_progress, Some(45));
    let left = [
        pulling.observe(&report(StartStep::StartingApp, None)).unwrap(),
        pulling.observe(&seen(ObservedPhase::Running)).unwrap(),
        pulling.terminate(EndReason::Owner, at(50)).unwrap(),
        pulling.workshop_gone(at(50)).unwrap(),
    ];
    assert!(left.iter().all(|after| after.report.start_progress.is_none()), "{left:?}");
}

#[test]
fn listening_addresses_belong_to_the_start() {
    let elsewhere = ListensElsewhere::new(["127.0.0.1:8000".parse().unwrap()], 8888);
    let observed = |phase| {
        let report = Report { listens_elsewhere: elsewhere.clone(), ..Report::default() };
        Observation { report, ..seen(phase) }
    };
    let starting = instance(InstanceState::Starting).observe(&observed(ObservedPhase::Starting)).unwrap();
    assert_eq!(starting.report.listens_elsewhere, elsewhere);
    let left = [
        starting.observe(&observed(ObservedPhase::Running)).unwrap(),
        starting.observe(&seen(ObservedPhase::Starting)).unwrap(),
        starting.terminate(EndReason::Owner, at(50)).unwrap(),
        starting.workshop_gone(at(50)).unwrap(),
    ];
    assert!(left.iter().all(|after| after.report.listens_elsewhere.is_none()), "{left:?}");
    assert_eq!(instance(InstanceState::Running).observe(&observed(ObservedPhase::Starting)), None);
}

#[test]
fn transition_increments_spec_version_only_when_the_workshop_must_change() {
    let version = |after: Option<Instance>| after.unwrap().spec_version;
    let [queued, starting, running, terminating, failed] = [
        InstanceState::Queued,
        InstanceState::Starting,
        InstanceState::Running,
        InstanceState::Terminating,
        InstanceState::Failed,
    ]
    .map(instance);
    let failure = || seen(ObservedPhase::Failed(FailureReason::new(FailureCode::Evicted, None)));
    let step = at_step(Some(StartStep::Preparing), None);
    let terminate = |instance: &Instance| instance.terminate(EndReason::Owner, at(50));
    for (transition, after, expected) in [
        ("step", starting.observe(&step), 1),
        ("ready", starting.observe(&seen(ObservedPhase::Running)), 1),
        ("failure of a start", starting.observe(&failure()), 2),
        ("failure", running.observe(&failure()), 2),
        ("expiry", running.observe(&seen(ObservedPhase::Expired)), 2),
        ("end in the queue", terminate(&queued), 1),
        ("end of a start", terminate(&starting), 2),
        ("end", terminate(&running), 2),
        ("dismissal", terminate(&failed), 2),
        ("loss of a start", starting.workshop_gone(at(50)), 1),
        ("loss", running.workshop_gone(at(50)), 1),
        ("end of the workload", terminating.workshop_gone(at(50)), 1),
    ] {
        assert_eq!(version(after), expected, "{transition}");
    }
}

#[test]
fn changed_url_is_kept_without_a_new_spec_version() {
    let running = instance(InstanceState::Running);
    let moved = running.observe(&seen(ObservedPhase::Running)).unwrap();
    assert_eq!(moved, Instance { report: urls("http://x.localhost/"), ..running });
}

#[test]
fn second_ready_report_does_not_restart_the_lifetime() {
    let running = instance(InstanceState::Running);
    let later = Observation { ready_at: Some(at(5000)), ..seen(ObservedPhase::Running) };
    let after = running.observe(&later).unwrap();
    assert_eq!((after.started_at, after.expires_at), (running.started_at, running.expires_at));
}

#[test]
fn url_is_cleared_when_the_workshop_ends() {
    let running = instance(InstanceState::Running);
    assert!(running.report.url.is_some());
    for after in [
        running.observe(&seen(ObservedPhase::Expired)),
        running.terminate(EndReason::Owner, at(50)),
        running.workshop_gone(at(50)),
    ] {
        assert_eq!(after.unwrap().report.url, None);
    }
}

#[test]
fn end_time_is_set_when_the_workload_is_gone() {
    let queued = instance(InstanceState::Queued).terminate(EndReason::Owner, at(50)).unwrap();
    assert_eq!(queued.ended_at, Some(at(50)), "a queued instance has no workload");
    for state in [InstanceState::Starting, InstanceState::Running, InstanceState::Failed] {
        let terminating = instance(state).terminate(EndReason::Owner, at(50)).unwrap();
        assert_eq!(terminating.ended_at, None, "{state:?}");
        assert_eq!(terminating.workshop_gone(at(60)).unwrap().ended_at, Some(at(60)), "{state:?}");
    }
}

#[test]
fn missing_workshop_ends_only_instances_that_should_have_one() {
    for state in [InstanceState::Queued, InstanceState::Terminated, InstanceState::Failed] {
        assert_eq!(instance(state).workshop_gone(at(60)), None, "{state:?}");
    }
    let lost = instance(InstanceState::Starting).workshop_gone(at(60)).unwrap();
    assert_eq!((lost.state, lost.end_reason), (InstanceState::Terminated, Some(EndReason::Lost)));
}

#[test]
fn starting_report_without_step_clears_the_step() {
    let preparing =
        Instance { report: at_step(Some(StartStep::Preparing), None).report, ..instance(InstanceState::Starting) };
    let unknown = at_step(None, None);
    assert_eq!(preparing.observe(&unknown).unwrap().report.start_step, None);
    assert_eq!(instance(InstanceState::Starting).observe(&unknown), None);
}

#[test]
fn only_starting_and_running_instances_want_a_workshop() {
    let wanting = InstanceState::ALL.into_iter().filter(|state| state.wants_workshop());
    assert_eq!(wanting.collect::<Vec<_>>(), [InstanceState::Starting, InstanceState::Running]);
}

#[test]
fn observation_of_failure_found_by_service_has_only_the_reason() {
    let reason = FailureReason::new(FailureCode::StartTimeout, None);
    let found = Observation::of_failure(reason.clone());
    assert_eq!((found.phase, found.report), (ObservedPhase::Failed(reason), Report::default()));
    assert_eq!((found.ready_at, found.outdated), (None, false));
}

fn outdated_report(restarted_at: Option<jiff::Timestamp>) -> Observation {
    Observation { outdated: true, restarted_at, ..seen(ObservedPhase::Running) }
}

#[test]
fn instance_is_outdated_only_while_the_fleet_reports_it_as_running() {
    let outdated = instance(InstanceState::Running).observe(&outdated_report(None)).unwrap();
    assert!(outdated.outdated);
    assert_eq!(outdated.spec_version, 1, "the Workshop does not change");
    assert_eq!(outdated.observe(&outdated_report(None)), None);
    assert!(outdated.extend(None, Bound::Maximum, at(50)).unwrap().outdated);
    let step = at_step(None, None);
    assert_eq!(outdated.observe(&step), None);
    let failure = ObservedPhase::Failed(FailureReason::new(FailureCode::Crashed, None));
    for after in [
        outdated.observe(&seen(ObservedPhase::Running)),
        outdated.observe(&seen(failure)),
        outdated.observe(&seen(ObservedPhase::Expired)),
        outdated.terminate(EndReason::Owner, at(50)),
        outdated.workshop_gone(at(50)),
    ] {
        assert!(!after.unwrap().outdated);
    }
}

#[test]
fn restart_changes_the_workshop_and_keeps_the_expiry() {
    let outdated = Instance { outdated: true, ..instance(InstanceState::Running) };
    let restarted = outdated.restart(at(60)).unwrap();
    let expected = Instance { outdated: false, restarted_at: Some(at(60)), spec_version: 2, ..outdated };
    assert_eq!(restarted, expected);
}

#[test]
fn only_running_outdated_instance_is_restarted() {
    for state in InstanceState::ALL {
        let expected = if state == InstanceState::Running { None } else { Some(RestartError::NotRunning) };
        assert_eq!(Instance { outdated: true, ..instance(state) }.restart(at(60)).err(), expected, "{state:?}");
    }
    let running = instance(InstanceState::Running);
    assert_eq!(running.restart(at(60)), Err(RestartError::NotOutdated));
    let outdated = Instance { outdated: true, ..running };
    assert_eq!(outdated.restart(at(7200)), Err(RestartError::NotRunning), "it has expired");
}

#[test]
fn repeated_restart_is_refused_until_the_successor_is_outdated() {
    let restarted = Instance { outdated: true, ..instance(InstanceState::Running) }.restart(at(60)).unwrap();
    assert_eq!(restarted.restart(at(61)), Err(RestartError::NotOutdated));
    let late = restarted.observe(&outdated_report(None)).unwrap();
    assert!(!late.outdated, "the report is about the former pod");
    let again = late.observe(&outdated_report(Some(at(60)))).unwrap();
    assert!(again.outdated);
    let twice = again.restart(at(60)).unwrap();
    assert!(twice.restarted_at > again.restarted_at, "the fleet can tell both restarts apart");
}
