//! Course material: the report of the init container that places it, and its step of the start.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use launcher_domain::MaterialReport;
use launcher_workshop::Workshop;
use launcher_workshop::pod_template::MATERIAL;

use super::container::terminated;
use crate::settings::OperatorSettings;

/// Message of a Workshop whose operator has no image of the program.
const NO_PROGRAM: &str = "Course material is not available in this installation. Ask the administrator to set SERVICE_MATERIAL_IMAGE of the operator.";
/// Message of a Workshop whose program ended without a readable report.
const NO_REPORT: &str = "The program that loads course material gave no report. Ask the administrator to compare its version with the operator's.";

/// Returns the report about the material of a Workshop; `None` without material, and while it is loaded. The program is
/// trusted, but names of files come from the source and from the student: the report has bounded texts, and only the
/// targets of the Workshop.
pub(crate) fn material_report(
    workshop: &Workshop,
    pods: &[Pod],
    settings: &OperatorSettings,
) -> Option<MaterialReport> {
    let material = workshop.spec.material.as_ref()?;
    let live = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    let Some(message) = live.filter_map(container).find_map(message_at_end) else {
        // A pod from before a change of the setting may have placed the material.
        let was_reported = workshop.status.as_ref().is_some_and(|status| status.report.material.is_some());
        let is_missing = settings.material_image.is_none() && !was_reported;
        return is_missing.then(|| material.failed(NO_PROGRAM));
    };
    let Some(mut report) = MaterialReport::parse(message) else { return Some(material.failed(NO_REPORT)) };
    report.sources.retain(|source| material.sources.iter().any(|known| known.target == source.target));
    Some(report)
}

/// True while the init container runs, and between its attempts.
pub(super) fn is_loading(pod: &Pod) -> bool {
    let status = container(pod);
    status.is_some_and(|status| {
        let runs = status.state.as_ref().is_some_and(|state| state.running.is_some());
        runs || terminated(status).is_some_and(|ended| ended.exit_code != 0)
    })
}

/// Returns the status of the init container.
fn container(pod: &Pod) -> Option<&ContainerStatus> {
    let mut containers = pod.status.as_ref()?.init_container_statuses.iter().flatten();
    containers.find(|status| status.name == MATERIAL)
}

/// Returns the termination message of a container that has succeeded.
fn message_at_end(status: &ContainerStatus) -> Option<&str> {
    let ended = status.state.as_ref()?.terminated.as_ref().filter(|ended| ended.exit_code == 0)?;
    Some(ended.message.as_deref().unwrap_or_default())
}
