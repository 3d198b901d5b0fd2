//! Removes the fields that the operator never reads from watched objects. The watch caches can have thousands of
//! objects in memory.

use std::mem::take;

use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_workshop::DISPATCHED_AT;
use launcher_workshop::pod_template::SNAPSHOT;

use crate::build::{SPEC_DIGEST, TEMPLATE_DIGEST};
use crate::identifiers::{CRASHES, EXPIRES_AT, RESTARTED_AT, VOLUME_LABEL, WORKSHOP_LABEL};

/// Annotations of a pod that the operator reads.
const READ_ANNOTATIONS: [&str; 5] = [CRASHES, EXPIRES_AT, RESTARTED_AT, SPEC_DIGEST, TEMPLATE_DIGEST];
/// Pod conditions that the diagnosis or the trace of a start reads.
const READ_CONDITIONS: [&str; 4] = ["Ready", "PodReadyToStartContainers", "PodScheduled", "DisruptionTarget"];

/// Removes managed fields and annotations.
pub(crate) fn metadata(metadata: &mut ObjectMeta) {
    metadata.managed_fields = None;
    metadata.annotations = None;
}

/// Prunes the metadata of a Workshop. Keeps the annotation with the dispatch time, which the trace of a start reads.
pub(crate) fn workshop(found: &mut ObjectMeta) {
    let dispatched = found.annotations.take().and_then(|mut noted| noted.remove_entry(DISPATCHED_AT));
    metadata(found);
    found.annotations = dispatched.map(|one| [one].into());
}

/// Prunes a pod to its identity, its owner, and the fields that the diagnosis and the trace of a start read.
pub fn pod(pod: &mut Pod) {
    let mut annotations = pod.metadata.annotations.take();
    metadata(&mut pod.metadata);
    if let Some(annotations) = &mut annotations {
        annotations.retain(|name, _| READ_ANNOTATIONS.contains(&name.as_str()));
    }
    pod.metadata.annotations = annotations.filter(|kept| !kept.is_empty());
    if let Some(labels) = &mut pod.metadata.labels {
        labels.retain(|name, _| [WORKSHOP_LABEL, VOLUME_LABEL].contains(&name.as_str()));
    }
    pod.spec = None;
    let Some(status) = pod.status.take() else { return };
    let PodStatus {
        phase,
        mut conditions,
        mut container_statuses,
        mut init_container_statuses,
        reason,
        message,
        pod_ip,
        ..
    } = status;
    let has_address = container_statuses.iter().flatten().any(|status| status.name == SNAPSHOT);
    if let Some(conditions) = &mut conditions {
        conditions.retain(|condition| READ_CONDITIONS.contains(&condition.type_.as_str()));
        conditions.shrink_to_fit();
    }
    container_statuses.iter_mut().flatten().for_each(container);
    init_container_statuses.iter_mut().flatten().for_each(container);
    pod.status = Some(PodStatus {
        phase,
        conditions,
        container_statuses,
        init_container_statuses,
        reason,
        message,
        pod_ip: pod_ip.filter(|_| has_address),
        ..PodStatus::default()
    });
}

fn container(status: &mut ContainerStatus) {
    let (name, state, last_state) = (take(&mut status.name), status.state.take(), status.last_state.take());
    let restart_count = status.restart_count;
    *status = ContainerStatus { name, state, last_state, restart_count, ..ContainerStatus::default() };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pruned_workshop_keeps_only_the_annotation_with_its_dispatch_time() {
        let note = |name: &str| (name.to_owned(), "value".to_owned());
        let annotations = [note(DISPATCHED_AT), note("kubectl.kubernetes.io/last-applied-configuration")].into();
        let mut found = ObjectMeta {
            name: Some("app".to_owned()),
            annotations: Some(annotations),
            managed_fields: Some(vec![Default::default()]),
            ..ObjectMeta::default()
        };
        workshop(&mut found);
        let kept = ObjectMeta {
            name: Some("app".to_owned()),
            annotations: Some([note(DISPATCHED_AT)].into()),
            ..ObjectMeta::default()
        };
        assert_eq!(found, kept);
    }
}
