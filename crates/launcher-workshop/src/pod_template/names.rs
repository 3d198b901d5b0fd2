//! Names in a pod template that need an entry in the policy.

use k8s_openapi::api::core::v1::{Container, EnvFromSource, EnvVar, Volume};
use launcher_domain::PodTemplateKind::{self, *};

use super::shape::child;
use crate::pod_template::rules::Parts;

/// Resource of each container that needs no entry: the writable layer, logs and emptyDir volumes on the node's disk.
const EPHEMERAL_STORAGE: &str = "ephemeral-storage";

/// A name of a pod template that needs an entry in the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameReference {
    /// Location of the name in the pod template: a JSON pointer.
    pub pointer: String,
    /// Kind of the name.
    pub kind: PodTemplateKind,
    /// The name; empty for a toleration of all taints.
    pub name: String,
}

/// Returns the names of a pod template, in the order of its fields.
pub(super) fn of(template: &Parts) -> Vec<NameReference> {
    let mut found = Vec::new();
    for name in template.annotations.keys() {
        add(&mut found, child("/metadata/annotations", name), Annotation, name);
    }
    for name in template.labels.keys() {
        add(&mut found, child("/metadata/labels", name), Label, name);
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
        add(&mut found, format!("/spec/tolerations/{index}"), Toleration, key);
    }
    for (index, secret) in spec.image_pull_secrets.iter().flatten().enumerate() {
        add(&mut found, format!("/spec/imagePullSecrets/{index}"), ImagePullSecret, &secret.name);
    }
    for (field, kind, name) in [
        ("runtimeClassName", RuntimeClass, &spec.runtime_class_name),
        ("priorityClassName", PriorityClass, &spec.priority_class_name),
        ("serviceAccountName", ServiceAccount, &spec.service_account_name),
    ] {
        if let Some(name) = name {
            add(&mut found, format!("/spec/{field}"), kind, name);
        }
    }
    found
}

fn add(found: &mut Vec<NameReference>, pointer: String, kind: PodTemplateKind, name: &str) {
    found.push(NameReference { pointer, kind, name: name.to_owned() });
}

fn of_volume(volume: &Volume, pointer: &str, found: &mut Vec<NameReference>) {
    if let Some(source) = &volume.config_map {
        add(found, format!("{pointer}/configMap"), ConfigMap, &source.name);
    }
    if let Some(source) = &volume.secret {
        add(found, format!("{pointer}/secret"), Secret, source.secret_name.as_deref().unwrap_or_default());
    }
    if let Some(source) = &volume.persistent_volume_claim {
        add(found, format!("{pointer}/persistentVolumeClaim"), PersistentVolumeClaim, &source.claim_name);
    }
    if let Some(source) = &volume.csi {
        add(found, format!("{pointer}/csi"), Csi, &source.driver);
        if let Some(secret) = &source.node_publish_secret_ref {
            add(found, format!("{pointer}/csi/nodePublishSecretRef"), Secret, &secret.name);
        }
    }
}

fn of_container(container: &Container, pointer: &str, found: &mut Vec<NameReference>) {
    for (index, variable) in container.env.iter().flatten().enumerate() {
        of_variable(variable, &format!("{pointer}/env/{index}/valueFrom"), found);
    }
    for (index, source) in container.env_from.iter().flatten().enumerate() {
        of_source(source, &format!("{pointer}/envFrom/{index}"), found);
    }
    let Some(resources) = &container.resources else { return };
    for (field, amounts) in [("limits", &resources.limits), ("requests", &resources.requests)] {
        for name in amounts.iter().flat_map(|amounts| amounts.keys()).filter(|name| *name != EPHEMERAL_STORAGE) {
            add(found, child(&format!("{pointer}/resources/{field}"), name), Resource, name);
        }
    }
}

fn of_variable(variable: &EnvVar, pointer: &str, found: &mut Vec<NameReference>) {
    let Some(source) = &variable.value_from else { return };
    if let Some(key) = &source.secret_key_ref {
        add(found, format!("{pointer}/secretKeyRef"), Secret, &key.name);
    }
    if let Some(key) = &source.config_map_key_ref {
        add(found, format!("{pointer}/configMapKeyRef"), ConfigMap, &key.name);
    }
}

fn of_source(source: &EnvFromSource, pointer: &str, found: &mut Vec<NameReference>) {
    if let Some(secret) = &source.secret_ref {
        add(found, format!("{pointer}/secretRef"), Secret, &secret.name);
    }
    if let Some(config_map) = &source.config_map_ref {
        add(found, format!("{pointer}/configMapRef"), ConfigMap, &config_map.name);
    }
}
