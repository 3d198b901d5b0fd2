//! Builds the metadata that all resources of a Workshop have in common.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::identifiers::WORKSHOP_LABEL;
use crate::validate::Validated;

/// Returns the metadata of each resource of a Workshop. The owner reference makes Kubernetes delete the resource with
/// the Workshop.
pub(super) fn metadata(workshop: &Validated) -> ObjectMeta {
    ObjectMeta {
        name: Some(workshop.name.clone()),
        namespace: Some(workshop.namespace.clone()),
        labels: Some(labels(workshop)),
        owner_references: Some(vec![workshop.owner_reference.clone()]),
        ..ObjectMeta::default()
    }
}

/// Returns the labels of each resource of a Workshop: the labels of the Workshop, and its name for selectors.
pub(super) fn labels(workshop: &Validated) -> BTreeMap<String, String> {
    let mut labels = launcher_workshop::labels();
    labels.extend(selector(workshop));
    labels
}

/// Returns the label by which the Service selects the pod.
pub(super) fn selector(workshop: &Validated) -> BTreeMap<String, String> {
    [(WORKSHOP_LABEL.to_owned(), workshop.name.clone())].into()
}
