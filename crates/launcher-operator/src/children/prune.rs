//! Drops large fields that are never read: thousands of these objects are in memory.

use std::mem::take;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_workshop::DISPATCHED_AT;

use crate::WORKSHOP_LABEL;
use crate::build::SPEC_DIGEST;
use crate::rollout::{APPLIED_REVISION, REVISION};

/// Pod conditions that the diagnosis or the start's trace reads.
const READ_CONDITIONS: [&str; 4] = ["Ready", "PodReadyToStartContainers", "PodScheduled", "DisruptionTarget"];

/// Drops managed fields and annotations.
pub(crate) fn metadata(metadata: &mut ObjectMeta) {
    metadata.managed_fields = None;
    metadata.annotations = None;
}

/// Prunes a Workshop's metadata, but keeps the time of its dispatch for the start's trace.
pub(crate) fn workshop(found: &mut ObjectMeta) {
    let dispatched = found.annotations.take().and_then(|mut noted| noted.remove_entry(DISPATCHED_AT));
    metadata(found);
    found.annotations = dispatched.map(|one| [one].into());
}

/// Prunes a Deployment to its identity, its rollout annotations, and the reason why it creates no pod.
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

/// Prunes a pod to the fields that the diagnosis reads.
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
