//! Diagnoses the containers of a pod.

use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Pod};
use kube::ResourceExt;
use launcher_domain::{FailureCode, FailureDetail};

use super::failure::{DetailSource, Failure, sentence};
use crate::build::{APP_CONTAINER, ISOLATION_CONTAINER, NOT_ISOLATED, SIDECAR_CONTAINER};

/// Start of the kubelet's message while its cache of Secrets or ConfigMaps is not up to date. The kubelet tries again.
const CACHE_NOT_SYNCED: &str = "failed to sync";

/// Returns the status of the app's container.
pub(super) fn app(pod: &Pod) -> Option<&ContainerStatus> {
    statuses(pod).find(|status| status.name == APP_CONTAINER)
}

/// True if an init container has not succeeded yet.
pub(super) fn waits_for_init(pod: &Pod) -> bool {
    let has_succeeded = |status: &ContainerStatus| terminated(status).is_some_and(|ended| ended.exit_code == 0);
    let init = pod.status.iter().flat_map(|status| status.init_container_statuses.iter().flatten());
    init.into_iter().any(|status| !has_succeeded(status))
}

/// Returns the statuses of all containers, with the init containers first.
pub(super) fn statuses(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    pod.status
        .iter()
        .flat_map(|status| status.init_container_statuses.iter().chain(&status.container_statuses).flatten())
}

/// Returns the permanent failure of a pod: a failure that a longer wait cannot repair.
pub(super) fn find_permanent_failure(pod: &Pod) -> Option<Failure> {
    statuses(pod).find_map(|status| failure(pod, status))
}

fn failure(pod: &Pod, status: &ContainerStatus) -> Option<Failure> {
    let ended = terminated(status);
    let log = || DetailSource::Log { pod: pod.name_any(), container: status.name.clone() };
    let waiting = status.state.as_ref().and_then(|state| state.waiting.as_ref());
    let why = waiting.and_then(|waiting| waiting.reason.as_deref()).unwrap_or_default();
    let text = waiting.and_then(|waiting| waiting.message.as_deref());
    let message = text.map(|message| FailureDetail::from(sentence(message)));
    let failure = match why {
        // Out of memory is permanent even if the app runs again, because the work in its memory is lost.
        _ if status.name == APP_CONTAINER
            && ended.is_some_and(|ended| ended.reason.as_deref() == Some("OOMKilled")) =>
        {
            Failure { details: log(), ..Failure::new(FailureCode::OutOfMemory, None) }
        }
        _ if status.name == ISOLATION_CONTAINER && ended.is_some_and(|ended| ended.exit_code == NOT_ISOLATED) => {
            Failure { details: log(), ..Failure::new(FailureCode::NetworkNotIsolated, None) }
        }
        "InvalidImageName" | "ErrImageNeverPull" => Failure::new(FailureCode::ImagePullFailed, message),
        "CreateContainerConfigError" if text.is_some_and(|text| text.starts_with(CACHE_NOT_SYNCED)) => return None,
        "CreateContainerConfigError" => Failure::new(FailureCode::InvalidSpec, message),
        "CrashLoopBackOff" => crashed(status, ended, log()),
        _ => return None,
    };
    Some(failure)
}

/// Returns the failure of a container that crashed again after a restart.
fn crashed(status: &ContainerStatus, ended: Option<&ContainerStateTerminated>, log: DetailSource) -> Failure {
    match ended {
        // The container runtime could not start the command: it is missing or not executable.
        Some(ended) if matches!(ended.reason.as_deref(), Some("StartError" | "ContainerCannotRun")) => {
            let message = ended.message.as_deref().map(|message| sentence(message).into());
            Failure::new(FailureCode::InvalidSpec, Some(message.unwrap_or(FailureDetail::CommandNotStarted)))
        }
        Some(ended) => {
            let exit_code = ended.exit_code.to_string();
            let detail = match status.name.as_str() {
                APP_CONTAINER => FailureDetail::AppExited { exit_code },
                ISOLATION_CONTAINER => FailureDetail::NetworkCheckExited { exit_code },
                SIDECAR_CONTAINER => FailureDetail::SidecarExited { exit_code },
                name => FailureDetail::InitContainerExited { name: name.to_owned(), exit_code },
            };
            Failure { details: log, ..Failure::new(FailureCode::Crashed, Some(detail)) }
        }
        None => Failure { details: log, ..Failure::new(FailureCode::Crashed, None) },
    }
}

/// Returns the latest termination of a container, or `None` if it has never terminated.
fn terminated(status: &ContainerStatus) -> Option<&ContainerStateTerminated> {
    let now = status.state.as_ref().and_then(|state| state.terminated.as_ref());
    now.or_else(|| status.last_state.as_ref().and_then(|state| state.terminated.as_ref()))
}
