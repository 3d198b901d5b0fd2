//! Diagnosis: the failure that a user reads, from the states of the containers and the errors of the engine. Pure.

#[cfg(test)]
mod tests;

use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy};

use super::engine::{ContainerState, EngineError};
use super::names::Part;

/// Exit code of a sidecar that could not install its network rules.
const NOT_ISOLATED: i64 = 3;
/// Maximum characters of an engine's message in a failure.
const SENTENCE: usize = 300;

/// Returns the failure of a workshop whose image could not be pulled.
pub(crate) fn pull_failed(image: &str, error: &EngineError) -> FailureReason {
    match error {
        EngineError::DiskFull { .. } => disk_full(),
        error => {
            let detail = FailureDetail::ImageNotPulled { image: image.to_owned(), error: sentence(&error.message()) };
            let reason = FailureReason::only(FailureCode::ImagePullFailed, &detail);
            // A registry or an engine that is unreachable now may be reachable later.
            FailureReason { retryable: error.is_temporary(), ..reason }
        }
    }
}

/// Returns the failure of a workshop whose container could not be created or started.
pub(crate) fn not_started(part: Part, error: &EngineError) -> FailureReason {
    let text = || FailureDetail::from(sentence(&error.message()));
    match (part, error) {
        (_, EngineError::DiskFull { .. }) => disk_full(),
        (_, EngineError::ImageMissing { image, .. } | EngineError::ImageDenied { image, .. }) => {
            pull_failed(image, error)
        }
        (Part::App, EngineError::CommandNotStarted(_) | EngineError::BadParameter(_)) => {
            FailureReason::new(FailureCode::InvalidSpec, Some(text()))
        }
        _ => {
            let problem = match part {
                Part::App | Part::Material => "the app's container did not start",
                Part::Sidecar => "the sidecar's container did not start",
            };
            engine_failed(problem, error)
        }
    }
}

/// Returns the failure of a workshop for which a call to the engine failed, for example the creation of its network.
/// `problem` is an English clause.
pub(crate) fn engine_failed(problem: &str, error: &EngineError) -> FailureReason {
    let detail = FailureDetail::NotStarted { problem: problem.to_owned(), error: sentence(&error.message()) };
    FailureReason::only(FailureCode::Crashed, &detail).with_remedy(&FailureRemedy::TellAdministrator)
}

/// Returns the failure of a workshop with this container, or `None` while the container runs or before its start.
/// `restarted` is true if the container has ended before, and the launcher has started it again.
pub(crate) fn ended(part: Part, state: &ContainerState, restarted: bool) -> Option<FailureReason> {
    if state.running || !state.started {
        return None;
    }
    let exit_code = state.exit_code.map(|code| code.to_string());
    // The kernel may also kill a child process of an app that ends without an error later.
    if part == Part::App && state.oom_killed && state.exit_code != Some(0) {
        return Some(FailureReason::new(FailureCode::OutOfMemory, None));
    }
    let detail = exit_code.map(|exit_code| match (part, restarted) {
        (Part::App | Part::Material, false) => FailureDetail::ExitStatus { status: exit_code },
        (Part::App | Part::Material, true) => FailureDetail::AppExited { exit_code },
        (Part::Sidecar, false) => FailureDetail::SidecarEnded { exit_code },
        (Part::Sidecar, true) => FailureDetail::SidecarExited { exit_code },
    });
    Some(FailureReason::new(FailureCode::Crashed, detail))
}

/// Returns the failure of a workshop whose sidecar could not install the network rules, or `None` if the sidecar has ended
/// for another reason. `tail` has the last lines of its log.
pub(crate) fn not_isolated(sidecar: &ContainerState, tail: Option<&str>) -> Option<FailureReason> {
    if sidecar.exit_code != Some(NOT_ISOLATED) {
        return None;
    }
    let error = tail.and_then(|tail| tail.lines().last()).unwrap_or("no reason in the log of the sidecar");
    let detail = FailureDetail::NetworkRulesNotSet { error: sentence(error) };
    let reason = FailureReason::only(FailureCode::NetworkNotIsolated, &detail);
    Some(reason.with_remedy(&FailureRemedy::TellAdministrator))
}

/// Returns the failure of a workshop whose sidecar runs, but does not listen.
pub(crate) fn sidecar_does_not_listen() -> FailureReason {
    let problem = "the sidecar does not listen on its sockets".to_owned();
    let detail = FailureDetail::NotStarted { problem, error: "no connection in time".to_owned() };
    FailureReason::only(FailureCode::Crashed, &detail).with_remedy(&FailureRemedy::TellAdministrator)
}

/// Returns the failure of a workshop that was not ready in time.
pub(crate) fn start_timeout(app: Option<&ContainerState>) -> FailureReason {
    let runs = app.is_some_and(|app| app.running);
    FailureReason::new(FailureCode::StartTimeout, runs.then_some(FailureDetail::AppDoesNotAnswer))
}

fn disk_full() -> FailureReason {
    FailureReason::only(FailureCode::Unschedulable, &FailureDetail::EngineDiskFull)
}

/// Shortens a message to one line of limited length.
fn sentence(message: &str) -> String {
    let line: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SENTENCE { line } else { line.chars().take(SENTENCE).chain(['…']).collect() }
}
