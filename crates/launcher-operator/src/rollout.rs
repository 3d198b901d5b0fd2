//! Decides when an existing Deployment gets a new pod template. A new template restarts the pod, and what people have in
//! its memory is lost, so a workshop that has been ready keeps the template it was started with: an operator with other
//! settings, or of another version, changes only workshops that start after it.
//!
//! Two annotations of the Deployment carry the state from one operator to the next: [`SPEC_DIGEST`] detects a changed
//! Workshop, [`APPLIED_GENERATION`] a Deployment whose spec was changed by hand.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::build::{SPEC_DIGEST, digest};

/// Annotation of a Deployment: its generation after the operator's last write. The API server counts the generation up
/// with every change of the spec, so any other value means that somebody else changed it.
pub const APPLIED_GENERATION: &str = "workshoplauncher.dev/applied-generation";

/// What to do about the Deployment of one Workshop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rollout {
    /// Apply it whole, with the present template.
    Apply,
    /// Leave it as it is.
    Keep,
    /// Leave its spec as it is, and write only labels and annotations: it was made by an operator that wrote none.
    Adopt,
}

/// Decides what to do. `live` is the Deployment in the cluster, `wanted` the one that was built, and `holds_work` is true
/// once the workshop has been ready.
#[must_use]
pub fn decide(live: Option<&ObjectMeta>, wanted: &ObjectMeta, holds_work: bool) -> Rollout {
    let Some(live) = live.filter(|live| holds_work && has_same_owner(live, wanted)) else { return Rollout::Apply };
    let (Some(noted), Some(generation)) = (annotation(live, SPEC_DIGEST), annotation(live, APPLIED_GENERATION)) else {
        return Rollout::Adopt;
    };
    let wanted = annotation(wanted, SPEC_DIGEST).unwrap_or_default();
    let by_hand = live.generation.is_some_and(|live| live.to_string() != generation);
    match (by_hand, noted == wanted, digest::are_comparable(noted, wanted)) {
        (true, ..) | (false, false, true) => Rollout::Apply,
        (false, true, _) => Rollout::Keep,
        (false, false, false) => Rollout::Adopt,
    }
}

/// The Deployment with the annotation that says which generation it has.
#[must_use]
pub fn at_generation(mut deployment: Deployment, generation: Option<i64>) -> Deployment {
    let annotations = deployment.metadata.annotations.get_or_insert_default();
    annotations.insert(APPLIED_GENERATION.to_owned(), generation.unwrap_or(FIRST_GENERATION).to_string());
    deployment
}

/// The annotations for a Deployment of this generation.
#[must_use]
pub fn annotations(wanted: &ObjectMeta, generation: i64) -> BTreeMap<String, String> {
    let mut annotations = wanted.annotations.clone().unwrap_or_default();
    annotations.insert(APPLIED_GENERATION.to_owned(), generation.to_string());
    annotations
}

/// The generation of every object that has just been created.
const FIRST_GENERATION: i64 = 1;

fn annotation<'a>(metadata: &'a ObjectMeta, name: &str) -> Option<&'a str> {
    metadata.annotations.as_ref()?.get(name).map(String::as_str)
}

fn has_same_owner(live: &ObjectMeta, wanted: &ObjectMeta) -> bool {
    let uids = |metadata: &ObjectMeta| -> Vec<String> {
        metadata.owner_references.iter().flatten().map(|owner| owner.uid.clone()).collect()
    };
    uids(wanted).iter().all(|uid| uids(live).contains(uid))
}
