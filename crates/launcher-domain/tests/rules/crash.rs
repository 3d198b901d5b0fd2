use launcher_domain::crash::{Crash, CrashHistory, CrashVerdict, MAX_CRASHES};
use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::{FailureCode, Instance, InstanceState, Report};
use proptest::prelude::*;

use crate::{at, instance, seen};

/// Records crashes at these seconds, and returns the last verdict.
fn last_verdict(crashes: &[i64]) -> CrashVerdict {
    let mut history = CrashHistory::default();
    crashes.iter().for_each(|second| history.record(at(*second)));
    history.verdict(true)
}

#[test]
fn third_crash_within_ten_minutes_fails() {
    use CrashVerdict::{Fail, StartAgain};
    for (crashes, expected) in [
        (&[0][..], StartAgain),
        (&[0, 1], StartAgain),
        (&[0, 1, 2], Fail),
        (&[0, 300, 599], Fail),
        (&[0, 300, 600], StartAgain),
        (&[0, 300, 600, 899], Fail),
        (&[0, 600, 1200, 1800, 2400], StartAgain),
        // The clock was set back by one second, and by one hour.
        (&[100, 101, 100], Fail),
        (&[4000, 4001, 400], StartAgain),
    ] {
        assert_eq!(last_verdict(crashes), expected, "{crashes:?}");
    }
}

#[test]
fn app_that_was_never_ready_fails_at_first_crash() {
    let mut history = CrashHistory::default();
    history.record(at(0));
    assert_eq!(history.verdict(false), CrashVerdict::Fail);
}

#[test]
fn history_survives_storage() {
    let mut history = CrashHistory::default();
    assert!(history.is_empty());
    history.record(at(0));
    history.record(at(1));
    let mut stored: CrashHistory = serde_json::from_str(&serde_json::to_string(&history).unwrap()).unwrap();
    assert_eq!(stored, history);
    assert!(!stored.is_empty());
    stored.record(at(2));
    assert_eq!(stored.verdict(true), CrashVerdict::Fail);
}

proptest! {
    /// Compares the history with a direct count of the crashes in the ten minutes before each crash.
    #[test]
    fn verdict_depends_only_on_crashes_of_last_ten_minutes(distances in prop::collection::vec(0_i64..700, 1..30)) {
        let mut history = CrashHistory::default();
        let mut times: Vec<i64> = Vec::new();
        for distance in distances {
            let now = times.last().copied().unwrap_or_default() + distance;
            times.push(now);
            let recent = times.iter().filter(|time| now - **time < 600).count();
            let expected = if recent < MAX_CRASHES { CrashVerdict::StartAgain } else { CrashVerdict::Fail };
            history.record(at(now));
            prop_assert_eq!(history.verdict(true), expected);
        }
    }
}

fn crash(second: i64) -> Crash {
    Crash { at: at(second), code: FailureCode::OutOfMemory, files_lost: false }
}

fn report(phase: ObservedPhase, last_crash: Option<Crash>) -> Observation {
    let Instance { report, started_at, .. } = instance(InstanceState::Running);
    Observation { report: Report { last_crash, ..report }, ready_at: started_at, ..seen(phase) }
}

#[test]
fn crash_is_kept_from_restart_of_the_app_on() {
    let before = Instance { outdated: true, ..instance(InstanceState::Running) };
    let starting = || ObservedPhase::Starting;

    let crashed = before.observe(&report(starting(), Some(crash(50)))).unwrap();

    assert_eq!(
        crashed,
        Instance { report: Report { last_crash: Some(crash(50)), ..before.report.clone() }, ..before },
        "the instance keeps running, at the same URL"
    );
    assert_eq!(crashed.observe(&report(starting(), Some(crash(50)))), None);
    let again = crashed.observe(&report(ObservedPhase::Running, Some(crash(50)))).unwrap();
    assert_eq!((again.state, again.report.last_crash), (InstanceState::Running, Some(crash(50))));
    let twice = crashed.observe(&report(ObservedPhase::Running, Some(crash(60)))).unwrap();
    assert_eq!(twice.report.last_crash, Some(crash(60)));
    assert_eq!(twice.observe(&report(ObservedPhase::Expired, None)).unwrap().report.last_crash, Some(crash(60)));
}

#[test]
fn text_of_a_crash_is_read_back() {
    for code in FailureCode::ALL {
        for files_lost in [true, false] {
            let crash = Crash { at: at(1), code, files_lost };
            assert_eq!(Crash::from_text(&format!("{}\n", crash.to_text())), Some(crash));
        }
    }
    let unknown = Crash::from_text("2026-01-01T12:00:00Z code-of-a-newer-fleet").unwrap();
    assert_eq!((unknown.code, unknown.files_lost), (FailureCode::Crashed, false));
    for wrong in ["", "2026-01-01T12:00:00Z", "yesterday crashed"] {
        assert_eq!(Crash::from_text(wrong), None, "{wrong}");
    }
}
