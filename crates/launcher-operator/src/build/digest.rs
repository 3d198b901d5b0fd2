//! Digests of a pod: of the Workshop's fields that determine it, and of everything that determines it. Only a change of
//! these fields replaces the pod of a running workshop.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::metadata::WORKSHOP_LABEL;
use crate::validate::Validated;

/// Annotation of a pod with the digest of the Workshop's fields that determine the pod.
pub const SPEC_DIGEST: &str = "workshoplauncher.dev/spec-digest";
/// Pointers into the spec of the fields that do not determine the pod: a restart replaces only the pods that were created
/// before it, a new expiry must not replace the pod, an existing volume keeps its size, and the launcher reads a snapshot.
const EXCLUDED: [&str; 6] = [
    "/restartedAt",
    "/expiresAt",
    "/lifetimeSeconds",
    "/storage/size",
    "/snapshot/directory",
    "/snapshot/graceSeconds",
];
/// Version of the digest; increase it when the digest of an unchanged Workshop changes. A new field that the Workshop does
/// not set changes no digest. The operator does not compare digests of different versions, so an upgraded operator does
/// not replace the pods of running workshops.
const VERSION: &str = "1";
/// Annotation of a pod with the digest of the pod as its operator built it. It changes with the Workshop, with the
/// settings of the operator, and with its version if that version builds another pod.
pub const TEMPLATE_DIGEST: &str = "workshoplauncher.dev/template-digest";

/// Returns the value of the annotation [`SPEC_DIGEST`] for this Workshop: `VERSION-HEX`.
pub(super) fn of(workshop: &Validated) -> String {
    let mut spec = json!(*workshop.spec);
    for pointer in EXCLUDED {
        let (parent, field) = pointer.rsplit_once('/').unwrap_or_default();
        spec.pointer_mut(parent).and_then(Value::as_object_mut).and_then(|parent| parent.remove(field));
    }
    let fields = json!([workshop.name, spec]);
    format!("{VERSION}-{}", hex(&fields))
}

/// Returns the value of the annotation [`TEMPLATE_DIGEST`] for a pod with this spec and these other annotations.
pub(super) fn of_template(annotations: &BTreeMap<String, String>, spec: &PodSpec) -> String {
    hex(&json!([annotations, spec]))
}

fn hex(fields: &Value) -> String {
    Sha256::digest(fields.to_string()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// True if both digests have the same version. Only then does a difference mean that the Workshop changed.
pub(crate) fn are_comparable(one: &str, other: &str) -> bool {
    let version = |digest: &str| digest.split_once('-').map(|(version, _)| version.to_owned());
    version(one).is_some() && version(one) == version(other)
}

/// Returns the metadata of each resource of a Workshop. The owner reference makes Kubernetes delete the resource with
/// the Workshop. The labels are those of the Workshop, and its name for selectors.
pub(super) fn metadata(workshop: &Validated) -> ObjectMeta {
    let mut labels = launcher_workshop::labels();
    labels.extend(selector(workshop));
    ObjectMeta {
        name: Some(workshop.name.clone()),
        namespace: Some(workshop.namespace.clone()),
        labels: Some(labels),
        owner_references: Some(vec![workshop.owner_reference.clone()]),
        ..ObjectMeta::default()
    }
}

/// Returns the label by which the Service selects the pod.
pub(super) fn selector(workshop: &Validated) -> BTreeMap<String, String> {
    [(WORKSHOP_LABEL.to_owned(), workshop.name.clone())].into()
}
