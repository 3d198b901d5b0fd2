//! The workload of a Workshop: its desired resources, and what to do with its pod.
//!
//! The operator never changes a pod: a pod keeps the sidecar and the settings with which it was created. The operator replaces
//! a pod only if the pod has ended, if the Workshop changed, or if the Workshop is restarted. It creates the successor when
//! the predecessor is gone.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use launcher_domain::FailureReason;
use launcher_workshop::{Workshop, lifecycle};

use crate::build::{Manifests, SPEC_DIGEST, TEMPLATE_DIGEST, build, digest};
use crate::diagnose::{add, ends_workshop, has_ended};
use crate::metadata::{RESTARTED_AT, VOLUME_LABEL, WORKSHOP_LABEL, is_owned_by};
use crate::settings::OperatorSettings;
use crate::validate::{Validated, admit};

/// Least age of a pod that is replaced because it has ended. If the kubelet refuses each pod at once, this limits the pace.
pub(crate) const LEAST_AGE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plan<'a> {
    /// Do nothing: the Workshop has its pod, or another pod must be gone first.
    Keep,
    Create,
    Delete(&'a Pod),
}

/// A Workshop that the installation's policy admits, and its resources. Each reconcile builds them once.
pub(crate) struct Wanted {
    pub(crate) validated: Validated,
    pub(crate) manifests: Manifests,
}

impl Wanted {
    /// Validates the Workshop, which has these `pods`, and builds its resources.
    pub(crate) fn of(workshop: &Workshop, settings: &OperatorSettings, pods: &[Pod]) -> Result<Self, FailureReason> {
        let validated = admit(workshop, settings, pods)?;
        let manifests = build(&validated, settings);
        Ok(Self { validated, manifests })
    }
}

/// Decides what to do. `pods` are the pods of the Workshop in the watch cache, and a disrupted pod that is gone. For a pod
/// without its label, [`Plan::Create`] restores the label. `wanted` is the metadata of the pod to create. A pod that ended
/// at once is kept for ten seconds.
#[must_use]
pub fn plan<'a>(pods: &'a [Pod], wanted: &ObjectMeta, now: Timestamp) -> Plan<'a> {
    if !pods.iter().any(|pod| pod.labels().contains_key(WORKSHOP_LABEL)) {
        return Plan::Create;
    }
    let uids: Vec<&str> = wanted.owner_references.iter().flatten().map(|owner| owner.uid.as_str()).collect();
    let is_ours = |pod: &Pod| uids.iter().any(|uid| is_owned_by(&pod.metadata, uid));
    let mut ours = pods.iter().filter(|pod| is_ours(pod) && pod.metadata.deletion_timestamp.is_none());
    let is_old = |pod: &Pod| pod.metadata.creation_timestamp.as_ref().is_none_or(|at| add(at.0, LEAST_AGE) <= now);
    let is_obsolete = |pod: &ObjectMeta| is_of_another_spec(pod, wanted) || awaits_restart(pod, wanted);
    ours.find(|pod| (is_over(pod, wanted) && is_old(pod)) || is_obsolete(&pod.metadata))
        .map_or(Plan::Keep, Plan::Delete)
}

/// True if the Workshop has been restarted since this pod was created: see [`lifecycle::awaits_restart`]. The annotation names
/// the last restart before the creation.
#[must_use]
pub fn awaits_restart(pod: &ObjectMeta, wanted: &ObjectMeta) -> bool {
    let [noted, restarted_at] = [pod, wanted].map(|metadata| annotation(metadata, RESTARTED_AT).parse().ok());
    let created = pod.creation_timestamp.as_ref().map(|created| created.0);
    lifecycle::awaits_restart(restarted_at, noted, created)
}

/// True if the operator would now create another pod than this one: its version, its settings or the Workshop changed.
#[must_use]
pub fn is_outdated(pod: &Pod, wanted: &ObjectMeta) -> bool {
    annotation(&pod.metadata, TEMPLATE_DIGEST) != annotation(wanted, TEMPLATE_DIGEST)
}

/// True if the pod has ended, and another pod replaces it. After a disruption, a Workshop whose files end with the pod fails
/// instead.
fn is_over(pod: &Pod, wanted: &ObjectMeta) -> bool {
    let keeps_files = wanted.labels.as_ref().is_some_and(|labels| labels.contains_key(VOLUME_LABEL));
    has_ended(pod) && !ends_workshop(pod, keeps_files)
}

/// True if the Workshop has changed since the pod was created. This is unknown, and the pod stays, if another version of
/// the operator wrote the digest.
fn is_of_another_spec(pod: &ObjectMeta, wanted: &ObjectMeta) -> bool {
    let (noted, wanted) = (annotation(pod, SPEC_DIGEST), annotation(wanted, SPEC_DIGEST));
    digest::are_comparable(noted, wanted) && noted != wanted
}

fn annotation<'a>(metadata: &'a ObjectMeta, name: &str) -> &'a str {
    metadata.annotations.as_ref().and_then(|annotations| annotations.get(name)).map_or("", String::as_str)
}
