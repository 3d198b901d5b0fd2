//! Digests of a pod: of the Workshop's fields that determine it, and of everything that determines it. Only a change of
//! these fields replaces the pod of a running workshop.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_workshop::app::ValidSpec;
use launcher_workshop::pod_template::PodTemplate;
use launcher_workshop::{WorkshopResources, WorkshopStorage};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::metadata::WORKSHOP_LABEL;
use crate::validate::Validated;

/// Annotation of a pod with the digest of the Workshop's fields that determine the pod.
pub const SPEC_DIGEST: &str = "workshoplauncher.dev/spec-digest";
/// Version of the list of fields in the digest; increase it when the list changes. The operator does not compare
/// digests of different versions, so an upgraded operator does not replace the pods of running workshops.
const VERSION: &str = "1";
/// Annotation of a pod with the digest of the pod as its operator built it. It changes with the Workshop, with the
/// settings of the operator, and with its version if that version builds another pod.
pub const TEMPLATE_DIGEST: &str = "workshoplauncher.dev/template-digest";

/// Returns the value of the annotation [`SPEC_DIGEST`] for this Workshop: `VERSION-HEX`.
pub(super) fn of(workshop: &Validated) -> String {
    // The digest excludes `restarted_at`: a restart replaces only the pods that were created before it. The digest also
    // excludes the expiry, because a new expiry must not replace the pod, and the values of secret parameters, which never
    // change.
    let Validated {
        name,
        namespace: _,
        owner_reference: _,
        spec,
        pod_template,
        restarted_at: _,
        expiry: _,
        lifetime_seconds: _,
    } = workshop;
    let ValidSpec {
        owner,
        image,
        app_type,
        port,
        command,
        args,
        env,
        secret_env,
        resources,
        storage,
        crash_safe_directory,
        snapshot,
        material,
        profile,
    } = spec;
    let WorkshopResources { cpu_request, cpu_limit, memory_request, memory_limit } = resources;
    let fields = json!([
        name,
        owner.to_string(),
        image,
        app_type.as_str(),
        port,
        command,
        args,
        env,
        secret_env,
        [cpu_request, cpu_limit, memory_request, memory_limit],
        storage.as_ref().map(|WorkshopStorage { volume, size: _, path }| [volume, path]),
        crash_safe_directory,
        snapshot.as_ref().map(|snapshot| &snapshot.token_sha256),
        material,
        profile.as_str(),
        pod_template.as_ref().map(PodTemplate::source),
    ]);
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
