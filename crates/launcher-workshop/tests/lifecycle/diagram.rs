//! The state diagram in ARCHITECTURE.md has exactly the transitions of the function.

use std::collections::BTreeMap;
use std::path::Path;

use launcher_domain::{FailureCode, StartStep};
use launcher_workshop::lifecycle::{Action, App, Decision, Observed, Refusal, Start, Workload, decide};
use launcher_workshop::{Phase, Workshop, WorkshopSnapshot};

use crate::{LIFETIME, START_TIMEOUT, at, crash, failure, next, of, refusal, running, starting, workshop};

const BEGIN: &str = "```mermaid\nstateDiagram-v2\n";

/// Time of the next observation: before the start timeout and the end of the lifetime.
const SOON: i64 = 100;
const GRACE: i64 = 330;

/// The states of the diagram, each with a Workshop in it and the time of the next observation.
fn states() -> Vec<(&'static str, Workshop, i64)> {
    let begun = next(None, of(App::Starting(Start::at(StartStep::PullingImage))), 0).status;
    let restarting = next(Some(&running(0)), of(App::Starting(Start::at(StartStep::RestartingApp))), 1).status;
    let invalid = next(None, Observed::failed(failure(FailureCode::InvalidSpec)), 1).status;
    let expired = next(Some(&running(0)), Observed::Unknown, LIFETIME).status;
    let mut saving = workshop(Some(running(0)));
    saving.spec.snapshot = snapshot();
    vec![
        ("Pending", workshop(None), SOON),
        ("Starting", workshop(Some(begun)), SOON),
        ("Running", workshop(Some(running(0))), SOON),
        ("Restarting", workshop(Some(restarting)), SOON),
        ("Saving", saving, LIFETIME + SOON),
        ("Failed", workshop(Some(invalid)), SOON),
        ("Expired", workshop(Some(expired)), LIFETIME + SOON),
    ]
}

fn snapshot() -> Option<WorkshopSnapshot> {
    Some(WorkshopSnapshot { directory: None, token_sha256: "0".repeat(64), grace_seconds: GRACE.unsigned_abs() as u32 })
}

/// Returns the state of the diagram after a decision.
fn state(Decision { status, action }: &Decision) -> &'static str {
    match (status.phase, action, status.ready_at) {
        (_, Action::SaveUntil(_), _) => "Saving",
        (Phase::Pending, ..) | (Phase::Failed, Action::Start, _) => "Pending",
        (Phase::Starting, _, None) => "Starting",
        (Phase::Starting, _, Some(_)) => "Restarting",
        (Phase::Running, ..) => "Running",
        (Phase::Failed, ..) => "Failed",
        (Phase::Expired, ..) => "Expired",
    }
}

/// An event of the diagram: changes the Workshop or the time, and returns what the fleet then observes.
type Event = Box<dyn Fn(&mut Workshop, &mut i64) -> Observed>;

fn see(workload: Workload) -> Event {
    Box::new(move |_, _| workload.clone().into())
}

fn after(seconds: i64, workload: Workload) -> Event {
    Box::new(move |_, second| {
        *second += seconds;
        workload.clone().into()
    })
}

/// Events that can happen in each state.
fn events() -> Vec<(&'static str, Event)> {
    vec![
        ("app answers", see(of(App::Ready))),
        ("app crashes", see(Workload { crash: Some(crash(&[SOON])), ..of(App::Ended) })),
        ("other failure", Box::new(|_, _| Observed::failed(failure(FailureCode::ImagePullFailed)))),
        ("quota full", Box::new(|_, _| Observed::Refused(Refusal::Quota { message: String::new() }))),
        ("pod refused", Box::new(|_, second| Observed::Refused(refusal(*second + 1)))),
        ("pod refused for long", Box::new(|_, second| Observed::Refused(refusal(*second)))),
    ]
}

/// Events of workshops that were never ready.
fn first_events() -> Vec<(&'static str, Event)> {
    vec![("workload created", see(of(App::Starting(Start::at(StartStep::Preparing)))))]
}

/// Events of workshops that have been ready.
fn later_events(end: &'static str) -> Vec<(&'static str, Event)> {
    vec![
        ("app does not answer", see(of(App::Starting(Start::at(StartStep::StartingApp))))),
        ("third crash in 10 minutes", see(Workload { crash: Some(crash(&[1, 2, SOON])), ..of(App::Ended) })),
        ("no pod", Box::new(|_, _| Observed::Refused(Refusal::Fleet { lacks_app: true }))),
        (end, after(LIFETIME, of(App::Ready))),
    ]
}

/// Events of workshops whose app does not answer.
fn start_events() -> Vec<(&'static str, Event)> {
    vec![("start timeout", after(START_TIMEOUT, of(starting(StartStep::StartingApp, Some(0)))))]
}

/// Events of workshops without a planned snapshot, which the event then adds.
fn snapshot_events() -> Vec<(&'static str, Event)> {
    let event = |workshop: &mut Workshop, second: &mut i64| {
        workshop.spec.snapshot = snapshot();
        *second = LIFETIME;
        of(App::Ready).into()
    };
    vec![("lifetime over, snapshot planned", Box::new(event))]
}

/// Events of workshops with an invalid spec.
fn correction() -> Vec<(&'static str, Event)> {
    let event = |workshop: &mut Workshop, _: &mut i64| {
        workshop.metadata.generation = Some(8);
        Observed::Unknown
    };
    vec![("spec corrected", Box::new(event))]
}

/// Returns the events that can happen to this Workshop.
fn events_of(workshop: &Workshop) -> Vec<(&'static str, Event)> {
    let (phase, was_ready) =
        workshop.status.as_ref().map_or((Phase::Pending, false), |status| (status.phase, status.ready_at.is_some()));
    let is_planned = workshop.spec.snapshot.is_some();
    let mut all = events();
    all.extend(match (was_ready, is_planned) {
        (false, _) => first_events(),
        (true, false) => later_events("lifetime over").into_iter().chain(snapshot_events()).collect(),
        (true, true) => later_events("time to save over"),
    });
    all.extend(match phase {
        Phase::Starting => start_events(),
        Phase::Failed => correction(),
        Phase::Pending | Phase::Running | Phase::Expired => Vec::new(),
    });
    all
}

/// Returns the diagram: one line for each pair of states, with the events that lead from the first to the second.
fn diagram() -> String {
    let mut edges = BTreeMap::<(usize, usize), Vec<&str>>::new();
    let states = states();
    for (from, (name, workshop, second)) in states.iter().enumerate() {
        for (event, observe) in events_of(workshop) {
            let (mut workshop, mut second) = (workshop.clone(), *second);
            let observed = observe(&mut workshop, &mut second);
            let to = state(&decide(&workshop, observed, at(second)));
            if to != *name {
                let to = states.iter().position(|(state, ..)| *state == to).unwrap();
                edges.entry((from, to)).or_default().push(event);
            }
        }
    }
    let name = |index: usize| states[index].0;
    let lines = edges.into_iter().map(|((from, to), events)| {
        let events = events.join(" / ");
        format!("  {} --> {}: {events}\n", name(from), name(to))
    });
    format!("{BEGIN}  [*] --> Pending\n{}  Expired --> [*]\n", lines.collect::<String>())
}

#[test]
fn diagram_in_architecture_has_the_transitions_of_the_function() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once("```\n").unwrap();
    let expected = format!("{head}{}```\n{tail}", diagram());
    if std::env::var_os("UPDATE_LIFECYCLE").is_some() {
        std::fs::write(&path, &expected).unwrap();
        return;
    }
    assert!(expected == page, "ARCHITECTURE.md is out of date: UPDATE_LIFECYCLE=1 cargo test -p launcher-workshop");
}
