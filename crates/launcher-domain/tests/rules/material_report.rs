use launcher_domain::MaterialTrouble::{Conflicts, Failed};
use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::material::{MAX_CONFLICTS, MAX_REPORT_BYTES};
use launcher_domain::{Instance, InstanceState, MaterialOutcome, MaterialReport, Report, SourceReport};
use proptest::prelude::*;
use serde_json::json;

use crate::{instance, seen};

fn report() -> MaterialReport {
    MaterialReport {
        sources: vec![
            SourceReport {
                target: "stats-101".to_owned(),
                outcome: MaterialOutcome::Updated,
                version: Some("0123abcd".to_owned()),
                conflicts: vec!["week1/a.ipynb".to_owned()],
                conflict_count: 1,
                message: None,
            },
            SourceReport::failed("data", "The server does not answer."),
        ],
    }
}

#[test]
fn report_has_the_documented_form() {
    let written = json!({ "sources": [
        { "target": "stats-101", "outcome": "updated", "version": "0123abcd", "conflicts": ["week1/a.ipynb"],
          "conflictCount": 1 },
        { "target": "data", "outcome": "failed", "conflictCount": 0, "message": "The server does not answer." },
    ] });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&report().to_line().unwrap()).unwrap(), written);
    let output = format!("a line of the log\n{written}\n");
    assert_eq!(MaterialReport::parse(&output), Some(report()));
}

#[test]
fn failure_is_more_important_than_a_conflict_and_counts_while_the_workshop_is_wanted() {
    let both = report();
    let [updated, failed] = &both.sources[..] else { panic!() };
    assert_eq!((updated.trouble(), failed.trouble()), (Some(Conflicts), Some(Failed)));
    assert_eq!(both.trouble(), Some(Failed));
    let quiet = SourceReport { conflicts: Vec::new(), conflict_count: 0, ..updated.clone() };
    assert_eq!(MaterialReport { sources: vec![quiet] }.trouble(), None);
    let report = Report { material: Some(both), ..Report::default() };
    let trouble = |state| Instance { report: report.clone(), ..instance(state) }.material_trouble();
    assert_eq!(trouble(InstanceState::Running), Some(Failed));
    assert_eq!(trouble(InstanceState::Terminated), None);
}

#[test]
fn untrusted_output_is_bounded_and_loses_invisible_characters() {
    let source = |target: &str| json!({ "target": target, "outcome": "placed" });
    let line = |sources: Vec<serde_json::Value>| json!({ "sources": sources }).to_string();
    assert!(MaterialReport::parse(&line(vec![source("a"); 6])).is_some());
    for output in [
        String::new(),
        "\n".to_owned(),
        "no report".to_owned(),
        line(vec![source("a"); 7]),
        line(vec![source("../a")]),
        line(vec![json!({ "target": "a", "outcome": "hacked" })]),
        format!("{} ", line(vec![source("a")])) + &"x".repeat(MAX_REPORT_BYTES),
    ] {
        assert_eq!(MaterialReport::parse(&output), None, "{output}");
    }
    let hostile = json!({ "sources": [{ "target": "a", "outcome": "placed", "version": "v".repeat(100),
        "conflicts": vec!["a\u{202e}b\n"; 20], "message": "\u{1b}[31m" }] });
    let MaterialReport { sources } = MaterialReport::parse(&hostile.to_string()).unwrap();
    assert_eq!(sources[0].version.as_ref().unwrap().chars().count(), 64);
    assert_eq!(sources[0].conflicts, vec!["a\u{fffd}b\u{fffd}"; MAX_CONFLICTS]);
    assert_eq!(sources[0].conflict_count, 20);
    assert_eq!(sources[0].message.as_deref(), Some("\u{fffd}[31m"));
}

#[test]
fn report_about_six_failures_with_long_texts_fits() {
    let message = |index: usize| if index == 0 { "short".to_owned() } else { "\u{1f4a5}".repeat(300) };
    let source = |index: usize| SourceReport {
        version: Some("f".repeat(64)),
        ..SourceReport::failed(format!("{index}{}", "t".repeat(63)), message(index))
    };
    let line = MaterialReport { sources: (0..6).map(source).collect() }.to_line().unwrap();
    assert!(line.len() <= MAX_REPORT_BYTES, "{}", line.len());
    let MaterialReport { sources } = MaterialReport::parse(&line).unwrap();
    assert_eq!(sources.iter().filter(|source| source.outcome == MaterialOutcome::Failed).count(), 6);
    assert_eq!(sources[0].message.as_deref(), Some("short"), "the shortest message stays");
    assert!(sources.iter().any(|source| source.message.as_ref().is_some_and(|message| message.len() > 100)));
}

#[test]
fn report_of_the_fleet_stays_with_the_instance() {
    let seen = |phase, material| Observation { report: Report { material, ..Report::default() }, ..seen(phase) };
    let started = instance(InstanceState::Starting).observe(&seen(ObservedPhase::Starting, Some(report()))).unwrap();
    assert_eq!(started.report.material, Some(report()));
    let running = started.observe(&seen(ObservedPhase::Running, None)).unwrap();
    assert_eq!(running.report.material, Some(report()), "a fleet that restarts reports no material");
}

proptest! {
    // Generating long texts is slow.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_report_fits_in_a_termination_message(
        sources in prop::collection::vec(
            ("[a-z]{1,64}", prop::collection::vec("\\PC{0,600}", 0..12), "\\PC{0,600}", any::<u32>()), 0..7
        )
    ) {
        let source = |(target, conflicts, message, conflict_count): (String, Vec<String>, String, u32)| SourceReport {
            conflicts, conflict_count, version: Some("f".repeat(64)), ..SourceReport::failed(target, message)
        };
        let report = MaterialReport { sources: sources.into_iter().map(source).collect() };
        let line = report.to_line().unwrap();
        prop_assert!(line.len() <= MAX_REPORT_BYTES, "{}", line.len());
        let read = MaterialReport::parse(&line).unwrap();
        let counts = |report: &MaterialReport| report.sources.iter().map(|one| (one.target.clone(), one.outcome)).collect::<Vec<_>>();
        prop_assert_eq!(counts(&read), counts(&report));
    }
}
