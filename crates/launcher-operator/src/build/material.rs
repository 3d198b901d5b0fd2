//! Builds the init container that places course material, and its parts of the pod.
//!
//! With storage or a crash-safe directory, the container mounts the volume with the user's files. Without them, an
//! `emptyDir` has one directory for each source, and the app mounts each of them. The container sees the whole `emptyDir` as
//! the directory of the material, so the program can rename files between the directories.
//!
//! The secrets of private sources have a volume, which only this container mounts. The kubelet reads the Secrets: the operator
//! has no permission for them.

use k8s_openapi::api::core::v1::{
    Container, KeyToPath, PodSecurityContext, PodSpec, ProjectedVolumeSource, SecretProjection, Volume, VolumeMount,
    VolumeProjection,
};
use launcher_domain::material_source::{SECRET_FILES, kubernetes_secret};
use launcher_domain::{MATERIAL_ATTEMPT_VARIABLE, MATERIAL_VARIABLE};
use launcher_workshop::WorkshopMaterial;
use launcher_workshop::app::SIDECAR_REQUESTS;
use launcher_workshop::pod_template::{MATERIAL, MATERIAL_SECRETS};

use super::container::{amounts, own_container, read_only_mount, variables};
use super::{container, storage};
use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// CPU and memory limits of the container. They are not higher than those of app and sidecar together, so the container
/// does not increase the limits of the pod.
const LIMITS: [&str; 2] = ["1", "256Mi"];
/// Maximum seconds of one run. The program then ends with a report.
const DEADLINE: u64 = 60;
/// File with the report. The kubelet copies it to the status of the pod.
const REPORT: &str = "/dev/termination-log";
/// Directory for temporary files, and its path in the volume. The name begins with a dot, so no source has it.
const TEMPORARY: [&str; 2] = ["/tmp", ".tmp"];
/// File by which a second run finds that the first one was killed. The volume outlives the container, and ends with the pod.
const ATTEMPT: &str = "/tmp/attempt";
/// Mount path of the volume with the secrets. No volume with files of a user can be mounted below `/etc`.
const SECRETS_FOLDER: &str = "/etc/workshop-launcher/material-secrets";
/// Mode of the files with secrets. The user of the init container reads them. They belong to root.
const SECRETS_MODE: i32 = 0o444;

/// Returns the material of a Workshop if the settings name the image of the program.
pub(super) fn placed<'a>(workshop: &'a Validated, settings: &OperatorSettings) -> Option<&'a WorkshopMaterial> {
    workshop.spec.material.as_ref().filter(|_| settings.material_image.is_some())
}

/// Builds the init container. It has the user of the app, because the app changes the files. An app with the profile
/// `baseline` has the user of its image, which the operator does not know: stock images start as root and change to the
/// first user, 1000, which is also the default of [`OperatorSettings::run_as_user`].
pub(super) fn container(workshop: &Validated, settings: &OperatorSettings) -> Option<Container> {
    let material = placed(workshop, settings)?;
    let deadline = DEADLINE.min(settings.start_timeout.as_secs() / 2).max(1);
    let config = material.config(u32::try_from(deadline).unwrap_or(u32::MAX), Some(REPORT), SECRETS_FOLDER)?;
    let [temporary, sub_path] = TEMPORARY;
    let config = serde_json::to_string(&config).ok()?;
    let mut env =
        vec![(MATERIAL_VARIABLE, config.as_str()), (MATERIAL_ATTEMPT_VARIABLE, ATTEMPT), ("TMPDIR", temporary)];
    if let Some(proxy) = &settings.material_proxy {
        env.extend([("ALL_PROXY", proxy.as_str()), ("NO_PROXY", &settings.material_no_proxy)]);
    }
    let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let secrets = has_secrets(material).then(|| read_only_mount(MATERIAL_SECRETS, SECRETS_FOLDER));
    let files = storage::mount(workshop, settings).unwrap_or_else(|| mount(&material.directory, None));
    Some(Container {
        image: settings.material_image.clone(),
        env: Some(variables(env.collect())),
        // The same requests as the sidecar's, so the container does not increase the requests of the pod.
        resources: Some(amounts(SIDECAR_REQUESTS, LIMITS)),
        volume_mounts: Some([files, mount(temporary, Some(sub_path))].into_iter().chain(secrets).collect()),
        termination_message_path: Some(REPORT.to_owned()),
        termination_message_policy: Some("File".to_owned()),
        ..own_container(MATERIAL, settings.run_as_user, settings)
    })
}

/// Returns the volumes: one for temporary files, and without another volume also for the files of the sources and those that
/// the app writes there; and one with the secrets of private sources. The program stops below the maximum size, at its own limits.
pub(super) fn volumes(workshop: &Validated, settings: &OperatorSettings) -> Vec<Volume> {
    let Some(material) = placed(workshop, settings) else { return Vec::new() };
    let files = storage::empty_dir(MATERIAL, storage::SIZE);
    [files].into_iter().chain(secrets_volume(material)).collect()
}

/// Returns the mounts of the app: without another volume, the directory of each source. A source that failed has an empty
/// one.
pub(super) fn app_mounts(workshop: &Validated, settings: &OperatorSettings) -> Vec<VolumeMount> {
    let material = placed(workshop, settings).filter(|_| storage::mount(workshop, settings).is_none());
    let mounts = material.into_iter().flat_map(|WorkshopMaterial { directory, sources }| {
        sources.iter().map(move |source| mount(&format!("{directory}/{}", source.target), Some(&source.target)))
    });
    mounts.collect()
}

/// Adds the group of the app's user to the pod, unless the pod has a group: the app may then change files also if its user
/// differs from the one of the container.
pub(super) fn with_group(pod: PodSpec, settings: &OperatorSettings) -> PodSpec {
    let context = pod.security_context.clone().unwrap_or_default();
    let fs_group = context.fs_group.or(settings.run_as_user);
    PodSpec { security_context: Some(PodSecurityContext { fs_group, ..context }), ..pod }
}

fn mount(path: &str, sub_path: Option<&str>) -> VolumeMount {
    VolumeMount { sub_path: sub_path.map(str::to_owned), ..container::mount(MATERIAL, path) }
}

/// Returns the volume with the secrets; `None` without a private source.
fn secrets_volume(material: &WorkshopMaterial) -> Option<Volume> {
    let sources: Vec<_> = material.secrets().into_iter().map(secret_source).collect();
    let projected = ProjectedVolumeSource {
        default_mode: Some(SECRETS_MODE),
        sources: Some(sources),
        ..ProjectedVolumeSource::default()
    };
    has_secrets(material).then(|| Volume {
        name: MATERIAL_SECRETS.to_owned(),
        projected: Some(projected),
        ..Volume::default()
    })
}

fn has_secrets(material: &WorkshopMaterial) -> bool {
    !material.secrets().is_empty()
}

/// Projects the keys of one Secret into the directory with the name of the secret. A missing Secret or key prevents no
/// start: the program then reports it. Other keys of the Secret, for example of another purpose, reach no pod.
fn secret_source(name: &str) -> VolumeProjection {
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
