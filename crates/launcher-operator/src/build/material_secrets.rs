//! Builds the volume with the secrets of private course material.
//!
//! The kubelet reads the Secrets: the operator has no permission for them. Only the init container that places the material
//! mounts the volume.

use k8s_openapi::api::core::v1::{
    KeyToPath, ProjectedVolumeSource, SecretProjection, Volume, VolumeMount, VolumeProjection,
};
use launcher_domain::material_secret::{SECRET_FILES, kubernetes_secret};
use launcher_workshop::WorkshopMaterial;
use launcher_workshop::pod_template::MATERIAL_SECRETS;

/// Mount path of the volume. No volume with files of a user can be mounted below `/etc`.
pub(super) const FOLDER: &str = "/etc/workshop-launcher/material-secrets";
/// The user of the init container reads the files. They belong to root.
const MODE: i32 = 0o444;

/// Returns the volume; `None` without a private source.
pub(super) fn volume(material: &WorkshopMaterial) -> Option<Volume> {
    let sources: Vec<_> = material.secrets().into_iter().map(source).collect();
    let projected =
        ProjectedVolumeSource { default_mode: Some(MODE), sources: Some(sources), ..ProjectedVolumeSource::default() };
    has_secrets(material).then(|| Volume {
        name: MATERIAL_SECRETS.to_owned(),
        projected: Some(projected),
        ..Volume::default()
    })
}

/// Returns the mount of the volume; `None` without a private source.
pub(super) fn mount(material: &WorkshopMaterial) -> Option<VolumeMount> {
    has_secrets(material).then(|| VolumeMount {
        name: MATERIAL_SECRETS.to_owned(),
        mount_path: FOLDER.to_owned(),
        read_only: Some(true),
        ..VolumeMount::default()
    })
}

fn has_secrets(material: &WorkshopMaterial) -> bool {
    !material.secrets().is_empty()
}

/// Projects the keys of one Secret into the directory with the name of the secret. A missing Secret or key prevents no
/// start: the program then reports it. Other keys of the Secret, for example of another purpose, reach no pod.
fn source(name: &str) -> VolumeProjection {
    let item = |key: &str| KeyToPath { key: key.to_owned(), path: format!("{name}/{key}"), ..KeyToPath::default() };
    VolumeProjection {
        secret: Some(SecretProjection {
            name: kubernetes_secret(name),
            items: Some(SECRET_FILES.map(item).into()),
            optional: Some(true),
        }),
        ..VolumeProjection::default()
    }
}
