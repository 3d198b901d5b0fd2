//! Diagnosis: the failure that a user reads, from the states of the containers and the errors of the engine. Pure.

use launcher_domain::messages::sentence;
use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy};

use super::engine::{ContainerState, EngineError};
use super::names::Part;

/// Exit code of a sidecar that could not install its network rules.
const NOT_ISOLATED: i64 = 3;

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
            FailureReason::not_started(problem, sentence(&error.message()))
        }
    }
}

/// Returns the failure of a workshop with this container, or `None` while the container runs or before its start.
pub(crate) fn ended(part: Part, state: &ContainerState) -> Option<FailureReason> {
    if state.running || !state.started {
        return None;
    }
    let exit_code = state.exit_code.map(|code| code.to_string());
    // The kernel may also kill a child process of an app that ends without an error later.
    if part == Part::App && state.oom_killed && state.exit_code != Some(0) {
        return Some(FailureReason::new(FailureCode::OutOfMemory, None));
    }
    let detail = exit_code.map(|exit_code| match part {
        Part::App | Part::Material => FailureDetail::ExitStatus { status: exit_code },
        Part::Sidecar => FailureDetail::SidecarEnded { exit_code },
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

fn disk_full() -> FailureReason {
    FailureReason::only(FailureCode::Unschedulable, &FailureDetail::EngineDiskFull)
}

#[cfg(test)]
mod tests {
    use launcher_domain::{FailureCode, FailureReason};

    use super::super::engine::{ContainerState, EngineError};
    use super::super::names::Part;
    use super::{ended, not_isolated, not_started, pull_failed};

    fn exited(exit_code: i64) -> ContainerState {
        ContainerState { started: true, exit_code: Some(exit_code), ..ContainerState::default() }
    }

    fn unreachable() -> EngineError {
        EngineError::Unreachable {
            socket: "/run/engine.sock".to_owned(),
            problem: "no program listens".to_owned(),
            advice: "start the engine",
        }
    }

    fn failure(reason: Option<FailureReason>) -> (FailureCode, String) {
        let reason = reason.unwrap();
        (reason.code, reason.message)
    }

    #[test]
    fn running_and_created_containers_have_not_failed() {
        let running = ContainerState { running: true, started: true, oom_killed: true, ..ContainerState::default() };
        for part in [Part::App, Part::Sidecar] {
            assert_eq!(ended(part, &running), None);
            assert_eq!(ended(part, &ContainerState::default()), None);
        }
    }

    #[test]
    fn ended_container_has_crashed_with_its_exit_code() {
        let message = |part| failure(ended(part, &exited(3)));
        let crashed =
            |detail: &str| (FailureCode::Crashed, format!("The workshop's program stopped unexpectedly. {detail}"));
        assert_eq!(message(Part::App), crashed("It ended with status 3."));
        assert_eq!(message(Part::Sidecar), crashed("The sidecar ended with exit code 3."));
    }

    #[test]
    fn app_killed_at_its_memory_limit_is_out_of_memory() {
        let killed = ContainerState { oom_killed: true, ..exited(137) };
        assert_eq!(ended(Part::App, &killed).unwrap().code, FailureCode::OutOfMemory);
        assert_eq!(ended(Part::Sidecar, &killed).unwrap().code, FailureCode::Crashed);
        // Only a child process was killed, and the app ended without an error later.
        let child_killed = ContainerState { oom_killed: true, ..exited(0) };
        assert_eq!(ended(Part::App, &child_killed).unwrap().code, FailureCode::Crashed);
    }

    #[test]
    fn failed_pull_names_image_and_is_retryable_only_if_temporary() {
        let (image, message) = ("registry.example/app:1".to_owned(), "manifest  unknown\n".to_owned());
        let missing = EngineError::ImageMissing { image: image.clone(), message: message.clone() };
        let denied = EngineError::ImageDenied { image: image.clone(), message };
        for (error, retryable) in [(missing, false), (denied, false), (EngineError::Other("timeout".to_owned()), true)]
        {
            let reason = pull_failed(&image, &error);
            assert_eq!((reason.code, reason.retryable), (FailureCode::ImagePullFailed, retryable), "{error}");
            assert!(reason.message.contains(&image), "{}", reason.message);
        }
        let missing = EngineError::ImageMissing { image: image.clone(), message: "a  b\n".to_owned() };
        let reason = not_started(Part::App, &missing);
        assert_eq!(reason.message, "The image registry.example/app:1 could not be downloaded: a b");
    }

    #[test]
    fn full_disk_means_no_room() {
        let full = EngineError::DiskFull { message: "write /x: no space left on device".to_owned() };
        for reason in [pull_failed("app", &full), not_started(Part::App, &full), not_started(Part::Sidecar, &full)] {
            assert_eq!((reason.code, reason.retryable), (FailureCode::Unschedulable, true));
            assert_eq!(reason.message, "The disk for workshops is full.");
        }
    }

    #[test]
    fn refused_command_of_the_app_is_an_invalid_spec() {
        let sentence = "exec: \"serve\": executable file not found in $PATH";
        for error in
            [EngineError::CommandNotStarted(sentence.to_owned()), EngineError::BadParameter(sentence.to_owned())]
        {
            let reason = not_started(Part::App, &error);
            assert_eq!((reason.code, reason.retryable), (FailureCode::InvalidSpec, false));
            assert!(reason.message.contains(sentence), "{}", reason.message);
            // The command of the sidecar is not the template's.
            assert_eq!(not_started(Part::Sidecar, &error).code, FailureCode::Crashed);
        }
    }

    #[test]
    fn unreachable_engine_is_for_the_administrator() {
        let reason = not_started(Part::Sidecar, &unreachable());
        assert_eq!(reason.code, FailureCode::Crashed);
        assert!(reason.message.contains("/run/engine.sock") && reason.remedy.contains("administrator"), "{reason:?}");
    }

    #[test]
    fn sidecar_without_network_rules_prevents_the_start() {
        for other in [0, 2, 137] {
            assert_eq!(not_isolated(&exited(other), Some("text")), None);
        }
        let log = "a warning\nlauncher-sidecar: the kernel has no nf_tables";
        for (tail, text) in [
            (Some(log), "launcher-sidecar: the kernel has no nf_tables"),
            (None, "no reason in the log of the sidecar"),
        ] {
            let (code, message) = failure(not_isolated(&exited(3), tail));
            assert_eq!(code, FailureCode::NetworkNotIsolated);
            assert!(message.ends_with(text) && !message.contains("warning"), "{message}");
        }
    }

    #[test]
    fn long_message_is_shortened_to_one_line() {
        let reason = pull_failed("app", &EngineError::Other("x\n".repeat(500)));
        assert!(reason.message.ends_with('…') && !reason.message.contains('\n'));
        assert!(reason.message.chars().count() < 400, "{}", reason.message.len());
    }
}
