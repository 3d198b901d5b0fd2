//! Names in a pod template that need an entry in the policy.

use k8s_openapi::api::core::v1::{Container, EnvFromSource, EnvVarSource, Volume};
use launcher_domain::PodTemplateKind::{self, *};
use launcher_domain::template::join;

use super::PodTemplate;

/// Resource of each container that needs no entry: the writable layer, logs and emptyDir volumes on the node's disk.
const EPHEMERAL_STORAGE: &str = "ephemeral-storage";

/// A name of a pod template that needs an entry in the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameReference {
    /// Location of the name in the pod template: a JSON pointer.
    pub pointer: String,
    pub kind: PodTemplateKind,
    /// The name; empty for a toleration of all taints.
    pub name: String,
}

/// Returns the names of a pod template, in the order of its fields.
pub(super) fn of(template: &PodTemplate) -> Vec<NameReference> {
    let mut found = Vec::new();
    for name in template.annotations.keys() {
        add(&mut found, join("/metadata/annotations", name), Annotation, Some(name));
    }
    for name in template.labels.keys() {
        add(&mut found, join("/metadata/labels", name), Label, Some(name));
    }
    let spec = &template.spec;
    for (index, volume) in spec.volumes.iter().flatten().enumerate() {
        of_volume(volume, &format!("/spec/volumes/{index}"), &mut found);
    }
    for (index, container) in spec.containers.iter().enumerate() {
        of_container(container, &format!("/spec/containers/{index}"), &mut found);
    }
    for (index, container) in spec.init_containers.iter().flatten().enumerate() {
        of_container(container, &format!("/spec/initContainers/{index}"), &mut found);
    }
    for (index, toleration) in spec.tolerations.iter().flatten().enumerate() {
        let key = toleration.key.as_deref().unwrap_or_default();
        add(&mut found, format!("/spec/tolerations/{index}"), Toleration, Some(key));
    }
    for (index, secret) in spec.image_pull_secrets.iter().flatten().enumerate() {
        add(&mut found, format!("/spec/imagePullSecrets/{index}"), ImagePullSecret, Some(&secret.name));
    }
    add(&mut found, "/spec/runtimeClassName".to_owned(), RuntimeClass, spec.runtime_class_name.as_deref());
    add(&mut found, "/spec/priorityClassName".to_owned(), PriorityClass, spec.priority_class_name.as_deref());
    add(&mut found, "/spec/serviceAccountName".to_owned(), ServiceAccount, spec.service_account_name.as_deref());
    found
}

/// Adds a name, if the field has one.
fn add(found: &mut Vec<NameReference>, pointer: String, kind: PodTemplateKind, name: Option<&str>) {
    found.extend(name.map(|name| NameReference { pointer, kind, name: name.to_owned() }));
}

fn of_volume(volume: &Volume, pointer: &str, found: &mut Vec<NameReference>) {
    let Volume { config_map, secret, persistent_volume_claim, csi, .. } = volume;
    let secret = secret.as_ref().map(|source| source.secret_name.as_deref().unwrap_or_default());
    let claim = persistent_volume_claim.as_ref().map(|source| &*source.claim_name);
    let driver_secret = csi.as_ref().and_then(|source| source.node_publish_secret_ref.as_ref());
    add(found, format!("{pointer}/configMap"), ConfigMap, config_map.as_ref().map(|source| &*source.name));
    add(found, format!("{pointer}/secret"), Secret, secret);
    add(found, format!("{pointer}/persistentVolumeClaim"), PersistentVolumeClaim, claim);
    add(found, format!("{pointer}/csi"), Csi, csi.as_ref().map(|source| &*source.driver));
    add(found, format!("{pointer}/csi/nodePublishSecretRef"), Secret, driver_secret.map(|secret| &*secret.name));
}

fn of_container(container: &Container, pointer: &str, found: &mut Vec<NameReference>) {
    for (index, variable) in container.env.iter().flatten().enumerate() {
        let Some(EnvVarSource { secret_key_ref, config_map_key_ref, .. }) = &variable.value_from else { continue };
        let pointer = format!("{pointer}/env/{index}/valueFrom");
        add(found, format!("{pointer}/secretKeyRef"), Secret, secret_key_ref.as_ref().map(|key| &*key.name));
        add(found, format!("{pointer}/configMapKeyRef"), ConfigMap, config_map_key_ref.as_ref().map(|key| &*key.name));
    }
    for (index, EnvFromSource { secret_ref, config_map_ref, .. }) in container.env_from.iter().flatten().enumerate() {
        let pointer = format!("{pointer}/envFrom/{index}");
        add(found, format!("{pointer}/secretRef"), Secret, secret_ref.as_ref().map(|secret| &*secret.name));
        add(found, format!("{pointer}/configMapRef"), ConfigMap, config_map_ref.as_ref().map(|map| &*map.name));
    }
    let Some(resources) = &container.resources else { return };
    for (field, amounts) in [("limits", &resources.limits), ("requests", &resources.requests)] {
        for name in amounts.iter().flat_map(|amounts| amounts.keys()).filter(|name| *name != EPHEMERAL_STORAGE) {
            add(found, join(&format!("{pointer}/resources/{field}"), name), Resource, Some(name));
        }
    }
}
