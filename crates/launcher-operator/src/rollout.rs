//! Decides when an existing Deployment gets a new pod template. A new template restarts the pod, and what people have in
//! its memory is lost, so a workshop that has been ready keeps the template it was started with: an operator with other
//! settings, or of another version, changes only workshops that start after it.
//!
//! Two annotations of the Deployment carry the state from one operator to the next: [`SPEC_DIGEST`] detects a changed
//! Workshop, [`APPLIED_REVISION`] a template that was changed by hand.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::build::{SPEC_DIGEST, digest};

/// Annotation of a Deployment: its revision with the template that the operator applied; empty while that is not known.
pub const APPLIED_REVISION: &str = "workshoplauncher.dev/applied-revision";
/// Annotation of Kubernetes' Deployment controller: counts up with every change of the template, and with nothing else.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// The revision of every new Deployment.
const FIRST_REVISION: &str = "1";

/// What to apply of the Deployment of one Workshop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rollout {
    /// All of it, with the present template.
    Whole,
    /// All but the template, which stays as it is.
    AllButTemplate,
}

/// Decides what to apply. `live` is the Deployment in the cluster, `wanted` the one that was built, and `holds_work` is
/// true once the workshop has been ready.
#[must_use]
pub fn decide(live: Option<&ObjectMeta>, wanted: &ObjectMeta, holds_work: bool) -> Rollout {
    let Some(live) = live.filter(|live| holds_work && has_same_owner(live, wanted)) else { return Rollout::Whole };
    let (noted, wanted) = (annotation(live, SPEC_DIGEST), annotation(wanted, SPEC_DIGEST));
    // Made by an operator that wrote no annotations, or digested other fields: nothing can be told from it.
    if !digest::are_comparable(noted, wanted) {
        return Rollout::AllButTemplate;
    }
    let (applied, revision) = (annotation(live, APPLIED_REVISION), annotation(live, REVISION));
    let by_hand = !applied.is_empty() && !revision.is_empty() && applied != revision;
    if noted != wanted || by_hand { Rollout::Whole } else { Rollout::AllButTemplate }
}

/// The annotations of `wanted`, to apply in this way to `live`.
#[must_use]
pub fn annotations(rollout: Rollout, live: Option<&ObjectMeta>, wanted: &ObjectMeta) -> BTreeMap<String, String> {
    let revision = match (rollout, live) {
        (Rollout::Whole, None) => FIRST_REVISION,
        // Whether the template changes, and so which revision it gets, is known only afterwards.
        (Rollout::Whole, Some(_)) => "",
        (Rollout::AllButTemplate, live) => live.map_or("", |live| annotation(live, REVISION)),
    };
    let mut annotations = wanted.annotations.clone().unwrap_or_default();
    annotations.insert(APPLIED_REVISION.to_owned(), revision.to_owned());
    annotations
}

/// True when `live` has all of these annotations.
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
