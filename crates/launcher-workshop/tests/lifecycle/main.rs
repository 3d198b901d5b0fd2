//! Tests of the lifecycle: statuses and actions that follow from an observation.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod diagram;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::crash::CrashHistory;
use launcher_domain::{Crash, FailureCode, FailureReason, Report, StartStep};
use launcher_workshop::lifecycle::{
    Action, App, AppCrash, Deadline, Decision, Failure, Observed, Refusal, Routes, Start, StartTimeout, Workload,
    decide, has_expired, is_final, unreadable,
};
use launcher_workshop::{Phase, READY, Workshop, WorkshopSnapshot, WorkshopStatus};

const LIFETIME: i64 = 3600;
const START_TIMEOUT: i64 = 600;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap() + SignedDuration::from_secs(second)
}

/// A Workshop with this status, whose lifetime is an hour.
fn workshop(status: Option<WorkshopStatus>) -> Workshop {
    let spec = serde_json::json!({
        "owner": "alice@example.org", "image": "i", "appType": "custom", "port": 8888,
        "resources": { "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" },
        "securityProfile": "restricted", "lifetimeSeconds": LIFETIME,
    });
    let mut workshop = Workshop::new("intro", serde_json::from_value(spec).unwrap());
    workshop.metadata.generation = Some(7);
    workshop.status = status;
    workshop
}

fn failure(code: FailureCode) -> Failure {
    FailureReason::new(code, None).into()
}

fn starting(step: StartStep, created: Option<i64>) -> App {
    let limit = Duration::from_secs(START_TIMEOUT.unsigned_abs());
    let timeout = StartTimeout { limit, created: created.map(at), failure: failure(FailureCode::StartTimeout) };
    App::Starting(Start { timeout: Some(timeout), ..Start::at(step) })
}

/// The crashes at these seconds, the last of which is observed now.
fn crash(seconds: &[i64]) -> AppCrash {
    let mut history = CrashHistory::default();
    seconds.iter().for_each(|second| history.record(at(*second)));
    let crash = Crash { at: at(*seconds.last().unwrap()), code: FailureCode::OutOfMemory, files_lost: false };
    AppCrash { crash, history, failure: failure(FailureCode::OutOfMemory) }
}

fn next(before: Option<&WorkshopStatus>, observed: impl Into<Observed>, second: i64) -> Decision {
    decide(&workshop(before.cloned()), observed.into(), at(second))
}

fn of(app: App) -> Workload {
    Workload::of(app)
}

fn pulling() -> Workload {
    of(starting(StartStep::PullingImage, Some(0)))
}

/// The status of a Workshop that was first ready at this second.
fn running(second: i64) -> WorkshopStatus {
    next(None, of(App::Ready), second).status
}

fn ready(status: &WorkshopStatus) -> (&str, Timestamp) {
    let ready = status.conditions.iter().find(|one| one.type_ == READY).unwrap();
    (&ready.status, ready.last_transition_time.0)
}

#[test]
fn ready_at_is_set_once_and_urls_only_while_running() {
    let urls = Report { url: Some("https://intro.example.org/".to_owned()), ..Report::default() };
    let answers = || Workload { report: urls.clone(), ..of(App::Ready) };
    let begun = next(None, pulling(), 1).status;
    assert_eq!((begun.phase, begun.ready_at, &begun.report.url), (Phase::Starting, None, &None));
    assert_eq!(begun.report.start_step, Some(StartStep::PullingImage));
    let running = next(Some(&begun), answers(), 2).status;
    assert_eq!((running.phase, running.ready_at, running.expires_at), (Phase::Running, Some(at(2)), Some(at(3602))));
    assert_eq!((running.report.url.clone(), running.observed_generation), (urls.url.clone(), Some(7)));
    let restarting = next(Some(&running), pulling(), 3).status;
    assert_eq!((restarting.phase, restarting.ready_at, &restarting.report.url), (Phase::Starting, Some(at(2)), &None));
    let again = next(Some(&restarting), answers(), 4).status;
    assert_eq!((again.ready_at, ready(&again)), (Some(at(2)), ("True", at(4))));
}

#[test]
fn status_is_unchanged_if_observation_is_unchanged() {
    let once = running(1);
    assert_eq!(next(Some(&once), of(App::Ready), 2000).status, once);
}

#[test]
fn fleet_looks_at_workload_unless_workshop_is_over() {
    assert_eq!(next(None, Observed::Unknown, 1).action, Action::Start);
    let running = running(0);
    assert_eq!(next(Some(&running), Observed::Unknown, LIFETIME - 1).action, Action::Start);
    let expired = next(Some(&running), Observed::Unknown, LIFETIME);
    assert_eq!((expired.status.phase, expired.action), (Phase::Expired, Action::End));
    assert_eq!((expired.status.report.url.clone(), expired.status.ready_at), (None, Some(at(0))));
    let again = next(Some(&expired.status), Observed::Unknown, 2 * LIFETIME);
    assert_eq!((again.status, again.action), (expired.status, Action::End));
}

#[test]
fn expiry_ends_workshop_in_every_state() {
    let observations = [
        of(App::Ready).into(),
        of(App::Ended).into(),
        pulling().into(),
        Observed::failed(failure(FailureCode::Crashed)),
        Observed::Refused(Refusal::Fleet { lacks_app: true }),
    ];
    for observed in observations {
        let Decision { status, action } = next(Some(&running(0)), observed, LIFETIME);
        assert_eq!((status.phase, action), (Phase::Expired, Action::End));
    }
}

#[test]
fn workshop_with_planned_snapshot_is_saved_before_its_end() {
    let mut workshop = workshop(Some(running(0)));
    workshop.spec.snapshot =
        Some(WorkshopSnapshot { directory: None, token_sha256: "0".repeat(64), grace_seconds: 330 });
    let action = |second| decide(&workshop, Observed::<()>::from(of(App::Ready)), at(second)).action;
    assert_eq!(action(LIFETIME - 1), Action::WaitUntil(Some(at(LIFETIME + 330))));
    assert_eq!(action(LIFETIME), Action::SaveUntil(at(LIFETIME + 330)));
    assert_eq!(action(LIFETIME + 330), Action::End);
    assert!(!has_expired(&workshop, at(LIFETIME)) && has_expired(&workshop, at(LIFETIME + 330)));
}

#[test]
fn failure_is_explained_before_the_workload_ends() {
    let source = "log of the app";
    let unexplained =
        Failure { reason: FailureReason::new(FailureCode::Crashed, None), log_tail: None, details: Some(source) };
    let running = workshop(Some(running(0)));
    let first = decide(&running, Observed::failed(unexplained.clone()), at(1));
    assert_eq!(first.action, Action::Explain(unexplained.clone()));
    let explained = Failure { log_tail: Some("boom".to_owned()), details: None, ..unexplained };
    let Decision { status, action } = decide(&running, Observed::failed(explained), at(1));
    assert_eq!((status.phase, status.reason.as_deref(), action), (Phase::Failed, Some("crashed"), Action::End));
    assert_eq!((status.report.log_tail.as_deref(), status.ready_at), (Some("boom"), Some(at(0))));
}

#[test]
fn crashed_app_starts_again_until_its_third_crash_in_ten_minutes() {
    for (seconds, phase, action) in [
        (&[700][..], Phase::Starting, Action::Restart),
        (&[100, 700], Phase::Starting, Action::Restart),
        (&[101, 400, 700], Phase::Failed, Action::End),
    ] {
        let ended = Workload { crash: Some(crash(seconds)), ..of(App::Ended) };
        let decision = next(Some(&running(0)), ended, 700);
        assert_eq!((decision.status.phase, decision.action), (phase, action), "{seconds:?}");
        let told = decision.status.report.last_crash.is_some();
        assert_eq!(told, phase == Phase::Starting, "the app does not start again after the last crash");
    }
}

#[test]
fn crash_that_was_noticed_late_counts_also_if_the_app_answers_again() {
    for seconds in [&[700][..], &[698, 699, 700]] {
        let answers = Workload { crash: Some(crash(seconds)), ..of(App::Ready) };
        let expected = if seconds.len() < 3 { Phase::Running } else { Phase::Failed };
        assert_eq!(next(Some(&running(0)), answers, 701).status.phase, expected);
    }
}

#[test]
fn app_that_was_never_ready_fails_at_its_first_crash() {
    let ended = Workload { crash: Some(crash(&[1])), ..of(App::Ended) };
    let Decision { status, action } = next(None, ended, 1);
    assert_eq!((status.reason.as_deref(), action), (Some("out-of-memory"), Action::End));
}

#[test]
fn last_crash_and_material_outlive_all_later_statuses() {
    let ended = Workload { crash: Some(crash(&[10])), ..of(App::Ended) };
    let crashed = next(Some(&running(0)), ended, 10).status;
    let lasting = crashed.report.lasting();
    assert!(lasting.last_crash.is_some());
    let observations: [(Observed, i64); 4] = [
        (of(App::Ready).into(), 11),
        (Observed::failed(failure(FailureCode::Crashed)), 11),
        (Observed::Refused(Refusal::Fleet { lacks_app: true }), 11),
        (Observed::Unknown, LIFETIME),
    ];
    for (observed, second) in observations {
        assert_eq!(next(Some(&crashed), observed, second).status.report.lasting(), lasting);
    }
}

#[test]
fn start_timeout_counts_from_first_status_or_from_workload_if_later() {
    let until = |before: Option<&WorkshopStatus>, created, second| match next(
        before,
        of(starting(StartStep::Preparing, created)),
        second,
    )
    .action
    {
        Action::WaitUntil(Some(until)) => until,
        other => unreachable!("{other:?}"),
    };
    // No fleet ran until second 1800.
    assert_eq!(until(None, None, 1800), at(1800 + START_TIMEOUT));
    let begun = next(None, of(starting(StartStep::Preparing, Some(1800))), 1800).status;
    assert_eq!(until(Some(&begun), Some(1800), 2000), at(1800 + START_TIMEOUT));
    // An invalid spec delayed the workload: it was created at second 1900, or is created now.
    assert_eq!(until(Some(&begun), Some(1900), 2000), at(1900 + START_TIMEOUT));
    assert_eq!(until(Some(&begun), None, 2000), at(2000 + START_TIMEOUT));
}

#[test]
fn start_timeout_counts_from_loss_of_readiness_or_of_the_workload() {
    let restarting = next(Some(&running(0)), pulling(), 1000);
    assert_eq!(restarting.action, Action::WaitUntil(Some(at(1000 + START_TIMEOUT))));
    let late = next(Some(&restarting.status), pulling(), 1000 + START_TIMEOUT);
    assert_eq!((late.status.reason.as_deref(), late.action), (Some("start-timeout"), Action::End));
    let lost = Crash { at: at(1300), code: FailureCode::NodeLost, files_lost: false };
    let moved = next(Some(&restarting.status), Workload { moved: Some(lost), ..pulling() }, 1400);
    let expected = Action::WaitUntil(Some(at(1300 + START_TIMEOUT)));
    assert_eq!(moved.action, expected);
    assert_eq!(next(Some(&moved.status), pulling(), 1401).action, expected, "the status names the move");
}

#[test]
fn start_timeout_does_not_count_during_a_step_with_progress() {
    let report = Report { start_progress: Some(40), ..Report::default() };
    let waits = Workload { report, ..of(App::Starting(Start::at(StartStep::PullingImage))) };
    let pulls = next(None, waits, 1).status;
    assert_eq!((pulls.report.start_progress, pulls.starting_since()), (Some(40), None));
    let begun = next(Some(&pulls), of(App::Starting(Start::at(StartStep::StartingApp))), 900).status;
    assert_eq!((begun.report.start_progress, begun.starting_since()), (None, Some(at(900))));
}

#[test]
fn first_deadline_that_has_passed_ends_a_start() {
    let deadline = |second, code| Deadline { at: at(second), failure: failure(code) };
    let App::Starting(start) = starting(StartStep::WaitingForRoom, Some(0)) else { unreachable!() };
    let waits = Start { deadlines: vec![deadline(60, FailureCode::Unschedulable)], look_again: Some(at(30)), ..start };
    let decision = |second| next(None, of(App::Starting(waits.clone())), second);
    assert_eq!(decision(1).action, Action::WaitUntil(Some(at(30))));
    assert_eq!(decision(60).status.reason.as_deref(), Some("unschedulable"));
}

fn refusal(until: i64) -> Refusal {
    let reason = FailureReason::new(FailureCode::QuotaExceeded, None);
    Refusal::Workshop { condition: "Refused", message: "too much".to_owned(), reason, until: at(until) }
}

#[test]
fn refused_workload_fails_after_its_grace_period() {
    for before in [None, Some(running(0))] {
        let waits = next(before.as_ref(), Observed::Refused(refusal(60)), 1);
        assert_eq!((waits.status.phase, waits.action), (Phase::Starting, Action::WaitUntil(Some(at(60)))));
        assert_eq!(waits.status.report.start_step, Some(StartStep::WaitingForRoom));
        assert_eq!(waits.status.expires_at, before.as_ref().map(|_| at(LIFETIME)));
        let fails = next(Some(&waits.status), Observed::Refused(refusal(60)), 60);
        assert_eq!((fails.status.reason.as_deref(), fails.action), (Some("quota-exceeded"), Action::End));
    }
}

#[test]
fn refusal_without_fault_of_the_workshop_changes_only_a_running_one() {
    let refused = |lacks_app| Observed::Refused(Refusal::Fleet { lacks_app });
    assert_eq!(next(None, refused(true), 1).status, WorkshopStatus::default());
    let running = running(0);
    assert_eq!(next(Some(&running), refused(false), 1).status, running);
    assert_eq!(next(Some(&running), refused(true), 1).status.phase, Phase::Starting);
}

#[test]
fn restart_is_reported_only_with_the_workload_that_follows_it() {
    let mut restarted = workshop(Some(running(0)));
    restarted.spec.restarted_at = Some(at(10));
    let reported = |observed: Observed| decide(&restarted, observed, at(11)).status.restarted_at;
    assert_eq!(reported(Observed::Refused(refusal(60))), None);
    assert_eq!(reported(Observed::Refused(Refusal::Fleet { lacks_app: true })), None);
    assert_eq!(reported(of(App::Ready).into()), Some(at(10)));
}

#[test]
fn start_begins_at_the_end_of_the_wait_for_a_quota() {
    let full = || Observed::Refused(Refusal::Quota { message: "exceeded quota".to_owned() });
    let waits = next(None, full(), 1);
    assert_eq!(
        (waits.status.report.start_step, &waits.action),
        (Some(StartStep::WaitingForQuota), &Action::WaitUntil(None))
    );
    assert_eq!(next(Some(&waits.status), full(), 1800).status, waits.status);
    let begun = next(Some(&waits.status), pulling(), 3600);
    assert_eq!(begun.status.starting_since(), Some(at(3600)));
    assert_eq!(begun.action, Action::WaitUntil(Some(at(3600 + START_TIMEOUT))));
    assert_eq!(next(Some(&begun.status), pulling(), 3605).status.starting_since(), Some(at(3600)));
}

#[test]
fn refused_route_delays_no_other_deadline_of_a_first_start() {
    let refused = Workload { routes: Routes::Refused(refusal(900)), ..pulling() };
    let waits = next(None, refused.clone(), 0);
    assert_eq!(waits.status.report.start_step, Some(StartStep::WaitingForRoom));
    assert_eq!(waits.action, Action::WaitUntil(Some(at(START_TIMEOUT))));
    let late = next(Some(&waits.status), refused, START_TIMEOUT);
    assert_eq!(late.status.reason.as_deref(), Some("start-timeout"));
}

#[test]
fn exposure_of_a_running_workshop_stays_while_its_routes_are_refused() {
    let exposed = |before: Option<&WorkshopStatus>, routes| {
        let status = next(before, Workload { routes, ..of(App::Ready) }, 1).status;
        let exposed = status.conditions.iter().find(|one| one.type_ == "Exposed").map(|one| one.status.clone());
        (status, exposed)
    };
    let (status, shown) = exposed(None, Routes::Exposed("IngressApplied"));
    assert_eq!(shown.as_deref(), Some("True"));
    assert_eq!(exposed(Some(&status), Routes::Refused(refusal(60))).1.as_deref(), Some("True"));
    assert_eq!(exposed(Some(&status), Routes::Hidden("NoGate", "")).1.as_deref(), Some("False"));
    assert_eq!(exposed(None, Routes::Own).1, None);
}

#[test]
fn only_a_corrected_spec_ends_a_final_status() {
    let invalid = next(None, Observed::failed(failure(FailureCode::InvalidSpec)), 1).status;
    let mut corrected = workshop(Some(invalid));
    assert!(is_final(&corrected));
    corrected.metadata.generation = Some(8);
    assert!(!is_final(&corrected));
    assert_eq!(decide::<()>(&corrected, Observed::Unknown, at(2)).action, Action::Start);
    let crashed = next(None, Observed::failed(failure(FailureCode::Crashed)), 1).status;
    let mut edited = workshop(Some(crashed));
    edited.metadata.generation = Some(8);
    assert!(is_final(&edited));
}

#[test]
fn status_is_the_same_after_it_was_stored() {
    let now = at(1) + SignedDuration::from_millis(114);
    let status = decide(&workshop(None), of(App::Ready).into(), now).status;
    let stored: WorkshopStatus = serde_json::from_str(&serde_json::to_string(&status).unwrap()).unwrap();
    assert_eq!(stored, status);
}

#[test]
fn start_timeout_begins_again_when_a_spec_is_corrected() {
    let invalid = next(Some(&running(1)), Observed::failed(failure(FailureCode::InvalidSpec)), 2).status;
    let mut corrected = workshop(Some(invalid));
    corrected.metadata.generation = Some(8);
    let late = at(START_TIMEOUT + 100);
    let decision = decide(&corrected, of(starting(StartStep::PullingImage, None)).into(), late);
    assert_eq!((decision.status.phase, decision.status.ready_at), (Phase::Starting, Some(at(1))));
    let mut started = corrected.clone();
    started.status = Some(decision.status);
    for (seconds, phase) in [(START_TIMEOUT - 1, Phase::Starting), (START_TIMEOUT, Phase::Failed)] {
        let again = decide(
            &started,
            of(starting(StartStep::PullingImage, None)).into(),
            late + SignedDuration::from_secs(seconds),
        );
        let found = match again.action {
            Action::Explain(_) => Phase::Failed,
            _ => again.status.phase,
        };
        assert_eq!(found, phase, "after {seconds} s");
    }
}

#[test]
fn workshop_that_cannot_be_parsed_keeps_the_time_of_its_first_readiness() {
    let status = unreadable(Some(&running(5)), Some(9), FailureReason::new(FailureCode::InvalidSpec, None), at(6));
    assert_eq!((status.phase, status.ready_at, status.observed_generation), (Phase::Failed, Some(at(5)), Some(9)));
}
