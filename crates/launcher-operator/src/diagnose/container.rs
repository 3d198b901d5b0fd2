//! Diagnosis of the containers of a pod.

use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Pod};
use kube::ResourceExt;
use launcher_domain::FailureCode;

use super::{Evidence, Failure, sentence};
use crate::build::{APP_CONTAINER, ISOLATION_CONTAINER, NOT_ISOLATED};

/// The app's container.
pub(super) fn app(pod: &Pod) -> Option<&ContainerStatus> {
    statuses(pod).find(|status| status.name == APP_CONTAINER)
}

/// The init container that waits for the network, unless it has succeeded.
pub(super) fn isolation(pod: &Pod) -> Option<&ContainerStatus> {
    let has_succeeded = |status: &ContainerStatus| terminated(status).is_some_and(|ended| ended.exit_code == 0);
    statuses(pod).find(|status| status.name == ISOLATION_CONTAINER && !has_succeeded(status))
}

/// The statuses of all containers, init containers first.
pub(super) fn statuses(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    pod.status
        .iter()
        .flat_map(|status| status.init_container_statuses.iter().chain(&status.container_statuses).flatten())
}

/// Returns the failure of a pod that cannot recover by waiting.
pub(super) fn find_permanent_failure(pod: &Pod) -> Option<Failure> {
    statuses(pod).find_map(|status| failure(pod, status))
}

fn failure(pod: &Pod, status: &ContainerStatus) -> Option<Failure> {
    let ended = terminated(status);
    let log = || Evidence::Log { pod: pod.name_any(), container: status.name.clone() };
    let waiting = status.state.as_ref().and_then(|state| state.waiting.as_ref());
    let why = waiting.and_then(|waiting| waiting.reason.as_deref()).unwrap_or_default();
    let message = waiting.and_then(|waiting| waiting.message.as_deref()).map(sentence);
    let failure = match why {
        // The work in memory is lost, even if the app starts again.
        _ if status.name == APP_CONTAINER
            && ended.is_some_and(|ended| ended.reason.as_deref() == Some("OOMKilled")) =>
        {
            Failure { evidence: log(), ..Failure::new(FailureCode::OutOfMemory, None) }
        }
        _ if status.name == ISOLATION_CONTAINER && ended.is_some_and(|ended| ended.exit_code == NOT_ISOLATED) => {
            Failure { evidence: log(), ..Failure::new(FailureCode::NetworkNotIsolated, None) }
        }
        "InvalidImageName" | "ErrImageNeverPull" => Failure::new(FailureCode::ImagePullFailed, message.as_deref()),
        "CreateContainerConfigError" => Failure::new(FailureCode::InvalidSpec, message.as_deref()),
        "CrashLoopBackOff" => crashed(status, ended, log()),
        _ => return None,
    };
    Some(failure)
}

/// The container crashed repeatedly: it was restarted and ended again.
fn crashed(status: &ContainerStatus, ended: Option<&ContainerStateTerminated>, log: Evidence) -> Failure {
    let part = match status.name.as_str() {
        APP_CONTAINER => "",
        ISOLATION_CONTAINER => "It was the check of its network. ",
        _ => "It was the proxy in front of it. ",
    };
    match ended {
        // The runtime could not start it: the command is missing or not a program.
        Some(ended) if matches!(ended.reason.as_deref(), Some("StartError" | "ContainerCannotRun")) => {
            let message = sentence(ended.message.as_deref().unwrap_or("Its command could not be started."));
            Failure::new(FailureCode::InvalidSpec, Some(&message))
        }
        Some(ended) => {
            let detail = format!("{part}It ended with status {}, again and again.", ended.exit_code);
            Failure { evidence: log, ..Failure::new(FailureCode::Crashed, Some(&detail)) }
        }
        None => Failure { evidence: log, ..Failure::new(FailureCode::Crashed, None) },
    }
}

/// The last termination of a container, if any.
fn terminated(status: &ContainerStatus) -> Option<&ContainerStateTerminated> {
    let now = status.state.as_ref().and_then(|state| state.terminated.as_ref());
    now.or_else(|| status.last_state.as_ref().and_then(|state| state.terminated.as_ref()))
}
