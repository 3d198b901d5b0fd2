//! Diagnoses the containers of a pod, and reads the report of the init container that places the course material.

use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStateWaiting, ContainerStatus, Pod};
use kube::ResourceExt;
use launcher_domain::transfer::NOT_RESTORED;
use launcher_domain::{FailureCode, FailureDetail, MaterialReport};
use launcher_workshop::pod_template::{IMAGE_FILES, MATERIAL, SAVED_FILES, SNAPSHOT};
use launcher_workshop::{Workshop, parameters_secret};

use super::failure::{DetailSource, Failure, complete, sentence, with_details};
use crate::build::{APP_CONTAINER, ISOLATION_CONTAINER, NOT_ISOLATED, SIDECAR_CONTAINER};
use crate::settings::OperatorSettings;

/// Start of the kubelet's message while its cache of Secrets or ConfigMaps is not up to date. The kubelet tries again.
const CACHE_NOT_SYNCED: &str = "failed to sync";

pub(crate) fn app(pod: &Pod) -> Option<&ContainerStatus> {
    statuses(pod).find(|status| status.name == APP_CONTAINER)
}

fn init_statuses(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    pod.status.iter().flat_map(|status| status.init_container_statuses.iter().flatten())
}

pub(crate) fn init<'a>(pod: &'a Pod, name: &str) -> Option<&'a ContainerStatus> {
    init_statuses(pod).find(|status| status.name == name)
}

pub(super) fn runs(status: &ContainerStatus) -> bool {
    status.state.as_ref().is_some_and(|state| state.running.is_some())
}

pub(super) fn waiting(status: &ContainerStatus) -> Option<&ContainerStateWaiting> {
    status.state.as_ref()?.waiting.as_ref()
}

fn has_succeeded(status: &ContainerStatus) -> bool {
    terminated(status).is_some_and(|ended| ended.exit_code == 0)
}

pub(super) fn waits_for_init(pod: &Pod) -> bool {
    !init_statuses(pod).all(has_succeeded)
}

pub(super) fn waits_for_saved_files(pod: &Pod) -> bool {
    init(pod, SAVED_FILES).is_some_and(runs)
}

/// True while the kubelet pulls the app's image for the init container that copies its files.
pub(super) fn waits_for_image(pod: &Pod) -> bool {
    let mut before = init_statuses(pod).take_while(|status| status.name != IMAGE_FILES);
    before.all(has_succeeded) && init(pod, IMAGE_FILES).and_then(waiting).is_some()
}

/// Returns the statuses of all containers, with the init containers first.
pub(super) fn statuses(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    init_statuses(pod).chain(pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten()))
}

/// Returns the permanent failure of a pod: a failure that a longer wait cannot repair. `restarts` is true if a crashed app
/// starts again in place. A failure of the snapshot container is ignored: the workshop continues, and only the snapshot at
/// its end is missing.
pub(super) fn find_permanent_failure(pod: &Pod, restarts: bool) -> Option<Failure> {
    let mut parts = statuses(pod).filter(|status| status.name != SNAPSHOT);
    parts.find_map(|status| failure(pod, status, restarts && status.name == APP_CONTAINER))
}

/// Returns the failure of a Workshop whose app has crashed too often.
pub(super) fn crash_failure(pod: &Pod, status: &ContainerStatus) -> Failure {
    let log = log(pod, status, status.state.as_ref().is_some_and(|state| state.terminated.is_some()));
    if is_out_of_memory(status) { out_of_memory(log) } else { crashed(status, terminated(status), log) }
}

fn log(pod: &Pod, status: &ContainerStatus, has_ended: bool) -> DetailSource {
    DetailSource::Log { pod: pod.name_any(), container: status.name.clone(), has_ended }
}

/// Returns the permanent failure of a container. `restarts` is true for an app that starts again in place.
fn failure(pod: &Pod, status: &ContainerStatus, restarts: bool) -> Option<Failure> {
    let ended = terminated(status);
    let log = || log(pod, status, false);
    let waiting = waiting(status);
    let why = waiting.and_then(|waiting| waiting.reason.as_deref()).unwrap_or_default();
    let text = waiting.and_then(|waiting| waiting.message.as_deref());
    let message = text.map(|message| FailureDetail::from(sentence(message)));
    let failure = match why {
        // Without files that outlive it, out of memory is permanent even if the app runs again: the work in its memory is lost.
        _ if !restarts && status.name == APP_CONTAINER && is_out_of_memory(status) => out_of_memory(log()),
        _ if status.name == ISOLATION_CONTAINER && ended.is_some_and(|ended| ended.exit_code == NOT_ISOLATED) => {
            with_details(FailureCode::NetworkNotIsolated, None, log())
        }
        _ if status.name == SAVED_FILES && ended.is_some_and(|ended| ended.exit_code == i32::from(NOT_RESTORED)) => {
            not_restored(ended)
        }
        "InvalidImageName" | "ErrImageNeverPull" => complete(FailureCode::ImagePullFailed, message),
        "CreateContainerConfigError" if text.is_some_and(|text| text.starts_with(CACHE_NOT_SYNCED)) => return None,
        // The launcher creates the Secret after the Workshop: it has until a deadline.
        "CreateContainerConfigError" if lacks_parameters(pod, status) => return None,
        "CreateContainerConfigError" => complete(FailureCode::InvalidSpec, message),
        // The kubelet starts the app again after its backoff.
        "CrashLoopBackOff" if restarts && !ended.is_some_and(is_start_error) => return None,
        "CrashLoopBackOff" => crashed(status, ended, log()),
        _ => return None,
    };
    Some(failure)
}

/// Returns the kubelet's message if the app cannot start because the Secret with its launch parameters does not exist.
pub(super) fn missing_parameters(pod: &Pod) -> Option<&str> {
    let app = app(pod).filter(|app| lacks_parameters(pod, app))?;
    waiting(app)?.message.as_deref()
}

fn lacks_parameters(pod: &Pod, status: &ContainerStatus) -> bool {
    let message = waiting(status).and_then(|waiting| waiting.message.as_deref()).unwrap_or_default();
    status.name == APP_CONTAINER && message == format!("secret \"{}\" not found", parameters_secret(&pod.name_any()))
}

/// Returns the failure of a container that crashed again after a restart.
fn crashed(status: &ContainerStatus, ended: Option<&ContainerStateTerminated>, log: DetailSource) -> Failure {
    match ended {
        Some(ended) if is_start_error(ended) => {
            let message = ended.message.as_deref().map(|message| sentence(message).into());
            complete(FailureCode::InvalidSpec, Some(message.unwrap_or(FailureDetail::CommandNotStarted)))
        }
        Some(ended) => {
            let exit_code = ended.exit_code.to_string();
            let detail = match status.name.as_str() {
                APP_CONTAINER => FailureDetail::AppExited { exit_code },
                ISOLATION_CONTAINER => FailureDetail::NetworkCheckExited { exit_code },
                SIDECAR_CONTAINER => FailureDetail::SidecarExited { exit_code },
                name => FailureDetail::InitContainerExited { name: name.to_owned(), exit_code },
            };
            with_details(FailureCode::Crashed, Some(detail), log)
        }
        None => with_details(FailureCode::Crashed, None, log),
    }
}

/// Returns the failure of the placement of saved files. The program reports the reason.
fn not_restored(ended: Option<&ContainerStateTerminated>) -> Failure {
    let reason = ended.and_then(|ended| ended.message.as_deref()).map(|text| text.trim().trim_end_matches('.'));
    let detail =
        reason.filter(|text| !text.is_empty()).map(|text| FailureDetail::RestoreFailed { error: text.to_owned() });
    complete(FailureCode::FilesNotRestored, detail)
}

fn out_of_memory(log: DetailSource) -> Failure {
    with_details(FailureCode::OutOfMemory, None, log)
}

/// True if the container runtime could not start the command: it is missing or not executable.
fn is_start_error(ended: &ContainerStateTerminated) -> bool {
    matches!(ended.reason.as_deref(), Some("StartError" | "ContainerCannotRun"))
}

/// True if the container ended last because it exceeded its memory limit.
pub(super) fn is_out_of_memory(status: &ContainerStatus) -> bool {
    terminated(status).is_some_and(|ended| ended.reason.as_deref() == Some("OOMKilled"))
}

/// Returns the latest termination of a container, or `None` if it has never terminated.
pub(super) fn terminated(status: &ContainerStatus) -> Option<&ContainerStateTerminated> {
    let now = status.state.as_ref().and_then(|state| state.terminated.as_ref());
    now.or_else(|| status.last_state.as_ref().and_then(|state| state.terminated.as_ref()))
}

/// Message of a Workshop whose operator has no image of the program.
const NO_PROGRAM: &str = "Course material is not available in this installation. Ask the administrator to set SERVICE_MATERIAL_IMAGE of the operator.";
/// Message of a Workshop whose program ended without a readable report.
const NO_REPORT: &str = "The program that loads course material gave no report. Ask the administrator to compare its version with the operator's.";

/// Returns the report about the material of a Workshop; `None` without material, and while it is loaded. The program is
/// trusted, but names of files come from the source and from the student: the report has bounded texts, and only the
/// targets of the Workshop.
pub(super) fn material_report(
    workshop: &Workshop,
    pods: &[Pod],
    settings: &OperatorSettings,
) -> Option<MaterialReport> {
    let material = workshop.spec.material.as_ref()?;
    let live = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    let Some(message) = live.filter_map(|pod| init(pod, MATERIAL)).find_map(message_at_end) else {
        // A pod from before a change of the setting may have placed the material.
        let was_reported = workshop.status.as_ref().is_some_and(|status| status.report.material.is_some());
        let is_missing = settings.material_image.is_none() && !was_reported;
        return is_missing.then(|| material.failed(NO_PROGRAM));
    };
    Some(material.parse_report(message).unwrap_or_else(|| material.failed(NO_REPORT)))
}

/// True while the init container for the course material runs, and between its attempts.
pub(super) fn is_loading_material(pod: &Pod) -> bool {
    let failed = |status| terminated(status).is_some_and(|ended| ended.exit_code != 0);
    init(pod, MATERIAL).is_some_and(|status| runs(status) || failed(status))
}

/// Returns the termination message of a container that has succeeded.
fn message_at_end(status: &ContainerStatus) -> Option<&str> {
    let ended = status.state.as_ref()?.terminated.as_ref().filter(|ended| ended.exit_code == 0)?;
    Some(ended.message.as_deref().unwrap_or_default())
}
