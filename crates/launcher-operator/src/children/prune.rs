//! Dropping what is large and never looked at: there are thousands of these objects in memory.

use std::mem::take;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_workshop::DISPATCHED_AT;

use crate::WORKSHOP_LABEL;
use crate::build::SPEC_DIGEST;
use crate::rollout::{APPLIED_REVISION, REVISION};

/// The conditions of a pod that a diagnosis, or a start's trace, looks at.
const READ_CONDITIONS: [&str; 4] = ["Ready", "PodReadyToStartContainers", "PodScheduled", "DisruptionTarget"];

/// Of any object not who wrote what, nor what others have noted on it.
pub(crate) fn metadata(metadata: &mut ObjectMeta) {
    metadata.managed_fields = None;
    metadata.annotations = None;
}

/// Of a Workshop, too, but for the time of its dispatch, which a start's trace looks at.
pub(crate) fn workshop(found: &mut ObjectMeta) {
    let dispatched = found.annotations.take().and_then(|mut noted| noted.remove_entry(DISPATCHED_AT));
    metadata(found);
    found.annotations = dispatched.map(|one| [one].into());
}

/// Keeps of a Deployment its identity, the annotations that a rollout is decided by, and why it makes no pod.
pub(super) fn deployment(deployment: &mut Deployment) {
    let mut annotations = deployment.metadata.annotations.take();
    metadata(&mut deployment.metadata);
    if let Some(annotations) = &mut annotations {
        annotations.retain(|name, _| [SPEC_DIGEST, APPLIED_REVISION, REVISION].contains(&name.as_str()));
    }
    deployment.metadata.annotations = annotations.filter(|kept| !kept.is_empty());
    deployment.metadata.labels = None;
    deployment.spec = DeploymentSpec::default();
    if let Some(conditions) = deployment.status.as_mut().and_then(|status| status.conditions.as_mut()) {
        conditions.retain(|condition| condition.type_.as_deref() == Some("ReplicaFailure"));
        conditions.shrink_to_fit();
    }
}

/// Of a pod only what a diagnosis looks at.
pub fn pod(pod: &mut Pod) {
    metadata(&mut pod.metadata);
    pod.metadata.owner_references = None;
    if let Some(labels) = &mut pod.metadata.labels {
        labels.retain(|name, _| name == WORKSHOP_LABEL);
    }
    pod.spec = None;
    let Some(status) = pod.status.take() else { return };
    let PodStatus { mut conditions, mut container_statuses, mut init_container_statuses, reason, message, .. } = status;
    if let Some(conditions) = &mut conditions {
        conditions.retain(|condition| READ_CONDITIONS.contains(&condition.type_.as_str()));
        conditions.shrink_to_fit();
    }
    container_statuses.iter_mut().flatten().for_each(container);
    init_container_statuses.iter_mut().flatten().for_each(container);
    pod.status = Some(PodStatus {
        conditions,
        container_statuses,
        init_container_statuses,
        reason,
        message,
        ..PodStatus::default()
    });
}

fn container(status: &mut ContainerStatus) {
    let (name, state, last_state) = (take(&mut status.name), status.state.take(), status.last_state.take());
    let restart_count = status.restart_count;
    *status = ContainerStatus { name, state, last_state, restart_count, ..ContainerStatus::default() };
}
