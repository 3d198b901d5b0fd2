//! Decides when an existing Deployment gets a new pod template. A new pod template restarts the pod, and the work in
//! its memory is lost. A workshop that has been ready therefore keeps its pod template when only the operator's version
//! or settings changed. These changes apply only to workshops that start later.
//!
//! Two annotations of the Deployment pass this state to the next operator. [`SPEC_DIGEST`] detects a changed Workshop.
//! [`APPLIED_REVISION`] detects a pod template that was changed by hand.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::build::{SPEC_DIGEST, digest};

/// Annotation of a Deployment with the revision of the pod template that the operator applied. It is empty while that
/// revision is unknown.
pub const APPLIED_REVISION: &str = "workshoplauncher.dev/applied-revision";
/// Annotation that Kubernetes' Deployment controller sets: a number that increases only when the pod template changes.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// The revision of every new Deployment.
const FIRST_REVISION: &str = "1";

/// The part of a Deployment to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rollout {
    /// The whole Deployment, including the pod template.
    Whole,
    /// Everything except the pod template.
    AllButTemplate,
}

/// Decides what to apply. `live` is the metadata of the Deployment in the cluster, and `wanted` is the metadata to
/// apply. `has_been_ready` is true if the workshop has ever been ready.
#[must_use]
pub fn decide(live: Option<&ObjectMeta>, wanted: &ObjectMeta, has_been_ready: bool) -> Rollout {
    let Some(live) = live.filter(|live| has_been_ready && has_same_owner(live, wanted)) else { return Rollout::Whole };
    let (noted, wanted) = (annotation(live, SPEC_DIGEST), annotation(wanted, SPEC_DIGEST));
    // The digest is missing or has another version, because another version of the operator applied this Deployment. It
    // is then unknown whether the Workshop changed: keep the pod template.
    if !digest::are_comparable(noted, wanted) {
        return Rollout::AllButTemplate;
    }
    let (applied, revision) = (annotation(live, APPLIED_REVISION), annotation(live, REVISION));
    let by_hand = !applied.is_empty() && !revision.is_empty() && applied != revision;
    if noted != wanted || by_hand { Rollout::Whole } else { Rollout::AllButTemplate }
}

/// Returns the annotations to apply: the annotations of `wanted`, and [`APPLIED_REVISION`].
#[must_use]
pub fn annotations(rollout: Rollout, live: Option<&ObjectMeta>, wanted: &ObjectMeta) -> BTreeMap<String, String> {
    let revision = match (rollout, live) {
        (Rollout::Whole, None) => FIRST_REVISION,
        // The revision is known only after the apply, because the apply may change the pod template.
        (Rollout::Whole, Some(_)) => "",
        (Rollout::AllButTemplate, live) => live.map_or("", |live| annotation(live, REVISION)),
    };
    let mut annotations = wanted.annotations.clone().unwrap_or_default();
    annotations.insert(APPLIED_REVISION.to_owned(), revision.to_owned());
    annotations
}

/// True if `live` has all of these annotations.
#[must_use]
pub fn has_annotations(live: &ObjectMeta, annotations: &BTreeMap<String, String>) -> bool {
    annotations.iter().all(|(name, value)| annotation(live, name) == value)
}

fn annotation<'a>(metadata: &'a ObjectMeta, name: &str) -> &'a str {
    metadata.annotations.as_ref().and_then(|annotations| annotations.get(name)).map_or("", String::as_str)
}

fn has_same_owner(live: &ObjectMeta, wanted: &ObjectMeta) -> bool {
    let owns = |uid: &str| live.owner_references.iter().flatten().any(|owner| owner.uid == uid);
    wanted.owner_references.iter().flatten().all(|owner| owns(&owner.uid))
}
