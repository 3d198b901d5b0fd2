//! Rules between the fields of a pod template, and the names that belong to the operator.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, EnvVar, Volume, VolumeMount};
use launcher_domain::names::is_dns_label;
use launcher_domain::quantity::{Quantity, QuantityError};
use launcher_domain::template::{is_identifier, is_reserved_variable, join};
use launcher_domain::{FieldError, FieldRule};

use super::PodTemplate;

pub const APP_CONTAINER: &str = "app";
/// Name of the init container that places course material, and of the volume that belongs to it. Not `material`: pod
/// templates may have an init container of that name, which downloads the same files.
pub const MATERIAL: &str = "course-material";
/// Name of the volume with the secrets of private course material, which only the init container [`MATERIAL`] mounts.
pub const MATERIAL_SECRETS: &str = "course-material-secrets";
/// Name of the init container that installs the program for the container [`IMAGE_FILES`], and of the program's volume.
pub const COPY_PROGRAM: &str = "copy-program";
/// Name of the init container that copies files of the app's image into the volume [`CRASH_SAFE_VOLUME`].
pub const IMAGE_FILES: &str = "image-files";
/// Name of the init container that places saved files of an earlier workshop in the volume [`CRASH_SAFE_VOLUME`].
pub const SAVED_FILES: &str = "saved-files";
/// Name of the container that sends files of the app to the launcher. Not `archive` or `snapshot`: pod templates may have an
/// init container of such a name.
pub const SNAPSHOT: &str = "snapshot-archive";
/// Names of the other containers of a workshop's pod.
pub const RESERVED_CONTAINERS: [&str; 7] =
    ["sidecar", "isolation", COPY_PROGRAM, IMAGE_FILES, SAVED_FILES, MATERIAL, SNAPSHOT];
/// Name of the volume with the owner's files. Not `work`: many pod templates have a volume of that name.
pub const STORAGE_VOLUME: &str = "kept-work";
/// Name of the volume whose files outlive a crash of the app, and end with the pod.
pub const CRASH_SAFE_VOLUME: &str = "crash-safe-files";
/// Names of the volumes that the operator adds to pods.
pub const RESERVED_VOLUMES: [&str; 7] =
    ["expiry", "proxy-secret", STORAGE_VOLUME, CRASH_SAFE_VOLUME, COPY_PROGRAM, MATERIAL, MATERIAL_SECRETS];

/// Domains of labels and annotations that Kubernetes or the launcher use, with their subdomains.
const RESERVED_DOMAINS: [&str; 2] = ["workshoplauncher.dev", "app.kubernetes.io"];
/// Other labels and annotations that the operator or Kubernetes set.
const RESERVED_KEYS: [&str; 5] = [
    "app",
    "managed-by",
    "pod-template-hash",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "karpenter.sh/do-not-disrupt",
];
/// Resources of the app that the template's field `resources` sets.
const OWN_RESOURCES: [&str; 2] = ["cpu", "memory"];

/// Checks a pod template. `variables` are the names of the template's own variables.
pub(super) fn check(template: &PodTemplate, variables: &BTreeSet<&str>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (field, entries) in [("annotations", &template.annotations), ("labels", &template.labels)] {
        for name in entries.keys().filter(|name| is_reserved_key(name)) {
            errors.push(reserved(join(&format!("/metadata/{field}"), name), name));
        }
    }
    let spec = &template.spec;
    let volumes = check_volumes(spec.volumes.as_deref().unwrap_or_default(), &mut errors);
    let mut containers = Names::default();
    for (index, container) in spec.containers.iter().enumerate() {
        let pointer = format!("/spec/containers/{index}");
        if container.name == APP_CONTAINER {
            containers.add(&container.name, format!("{pointer}/name"), &mut errors);
        } else {
            errors.push(FieldError::new(format!("{pointer}/name"), FieldRule::PodTemplateContainer));
        }
        check_container(container, &pointer, &volumes, variables, &mut errors);
        check_resources(container, &pointer, &mut errors);
    }
    let mut containers = Names::default();
    for (index, container) in spec.init_containers.iter().flatten().enumerate() {
        let pointer = format!("/spec/initContainers/{index}");
        let place = format!("{pointer}/name");
        if container.name == APP_CONTAINER || RESERVED_CONTAINERS.contains(&&*container.name) {
            errors.push(reserved(place, &container.name));
        } else {
            containers.add(&container.name, place, &mut errors);
        }
        if container.image.as_deref().is_none_or(str::is_empty) {
            errors.push(FieldError::new(format!("{pointer}/image"), FieldRule::FieldMissing));
        }
        check_container(container, &pointer, &volumes, &BTreeSet::new(), &mut errors);
    }
    errors
}

/// Names of one list, which must be DNS labels, and unique.
#[derive(Debug, Default)]
struct Names<'a>(BTreeSet<&'a str>);

impl<'a> Names<'a> {
    fn add(&mut self, name: &'a str, pointer: String, errors: &mut Vec<FieldError>) {
        if !is_dns_label(name) {
            errors.push(FieldError::new(pointer, FieldRule::PodTemplateName));
        } else if !self.0.insert(name) {
            errors.push(FieldError::new(pointer, FieldRule::PodTemplateRepeated { name: name.to_owned() }));
        }
    }
}

fn check_volumes<'a>(volumes: &'a [Volume], errors: &mut Vec<FieldError>) -> Names<'a> {
    let mut names = Names::default();
    for (index, volume) in volumes.iter().enumerate() {
        let pointer = format!("/spec/volumes/{index}");
        if RESERVED_VOLUMES.contains(&&*volume.name) {
            errors.push(reserved(format!("{pointer}/name"), &volume.name));
        } else {
            names.add(&volume.name, format!("{pointer}/name"), errors);
        }
        let sources = [
            volume.empty_dir.is_some(),
            volume.config_map.is_some(),
            volume.secret.is_some(),
            volume.persistent_volume_claim.is_some(),
            volume.csi.is_some(),
        ];
        if sources.into_iter().filter(|is_set| *is_set).count() != 1 {
            let sources = "emptyDir, configMap, secret, persistentVolumeClaim, csi".to_owned();
            errors.push(FieldError::new(pointer, FieldRule::PodTemplateSource { sources }));
        }
    }
    names
}

fn check_container(
    container: &Container,
    pointer: &str,
    volumes: &Names<'_>,
    variables: &BTreeSet<&str>,
    errors: &mut Vec<FieldError>,
) {
    let mut known = BTreeSet::new();
    for (index, variable) in container.env.iter().flatten().enumerate() {
        let pointer = format!("{pointer}/env/{index}");
        check_variable(variable, &pointer, variables, errors);
        if !known.insert(&variable.name) {
            let rule = FieldRule::PodTemplateRepeated { name: variable.name.clone() };
            errors.push(FieldError::new(format!("{pointer}/name"), rule));
        }
    }
    for (index, source) in container.env_from.iter().flatten().enumerate() {
        if source.secret_ref.is_some() == source.config_map_ref.is_some() {
            let sources = "secretRef, configMapRef".to_owned();
            let rule = FieldRule::PodTemplateSource { sources };
            errors.push(FieldError::new(format!("{pointer}/envFrom/{index}"), rule));
        }
    }
    let mut paths = BTreeSet::new();
    for (index, mount) in container.volume_mounts.iter().flatten().enumerate() {
        let pointer = format!("{pointer}/volumeMounts/{index}");
        check_mount(mount, &pointer, volumes, errors);
        if !paths.insert(&mount.mount_path) {
            let rule = FieldRule::PodTemplateRepeated { name: mount.mount_path.clone() };
            errors.push(FieldError::new(format!("{pointer}/mountPath"), rule));
        }
    }
}

fn check_variable(variable: &EnvVar, pointer: &str, variables: &BTreeSet<&str>, errors: &mut Vec<FieldError>) {
    let name = &variable.name;
    let place = format!("{pointer}/name");
    if !is_identifier(name) {
        errors.push(FieldError::new(place, FieldRule::VariableName));
    } else if is_reserved_variable(name) {
        errors.push(FieldError::new(place, FieldRule::VariableReserved));
    } else if variables.contains(&**name) {
        errors.push(FieldError::new(place, FieldRule::PodTemplateVariable { name: name.clone() }));
    }
    let sources = variable.value_from.as_ref().map(|from| {
        let all = [
            from.secret_key_ref.is_some(),
            from.config_map_key_ref.is_some(),
            from.field_ref.is_some(),
            from.resource_field_ref.is_some(),
        ];
        all.into_iter().filter(|is_set| *is_set).count()
    });
    if (variable.value.is_some() && sources.is_some()) || sources.is_some_and(|count| count != 1) {
        let sources = "value, valueFrom.secretKeyRef, valueFrom.configMapKeyRef, valueFrom.fieldRef, \
                       valueFrom.resourceFieldRef"
            .to_owned();
        errors.push(FieldError::new(pointer, FieldRule::PodTemplateSource { sources }));
    }
}

fn check_mount(mount: &VolumeMount, pointer: &str, volumes: &Names<'_>, errors: &mut Vec<FieldError>) {
    if !volumes.0.contains(&*mount.name) {
        let rule = FieldRule::PodTemplateVolume { name: mount.name.clone() };
        errors.push(FieldError::new(format!("{pointer}/name"), rule));
    }
    let path = &mount.mount_path;
    if !path.starts_with('/') || path.contains(':') || path.split('/').any(|part| part == "..") {
        errors.push(FieldError::new(format!("{pointer}/mountPath"), FieldRule::PodTemplatePath));
    }
    let sub_path = mount.sub_path.as_deref().unwrap_or_default();
    if sub_path.starts_with('/') || sub_path.split('/').any(|part| part == "..") {
        let rule = FieldRule::Value { message: "a relative path without ..".to_owned() };
        errors.push(FieldError::new(format!("{pointer}/subPath"), rule));
    }
}

fn check_resources(container: &Container, pointer: &str, errors: &mut Vec<FieldError>) {
    let Some(resources) = &container.resources else { return };
    for (field, amounts) in [("limits", &resources.limits), ("requests", &resources.requests)] {
        for (name, amount) in amounts.iter().flatten() {
            let place = join(&format!("{pointer}/resources/{field}"), name);
            if OWN_RESOURCES.contains(&&**name) {
                errors.push(FieldError::new(place, FieldRule::PodTemplateResource { name: name.clone() }));
            } else if let Err(QuantityError(text)) = Quantity::parse(&amount.0) {
                errors.push(FieldError::new(place, FieldRule::Quantity { text: format!("{text:?}") }));
            }
        }
    }
}

fn reserved(pointer: String, name: &str) -> FieldError {
    FieldError::new(pointer, FieldRule::PodTemplateReserved { name: name.to_owned() })
}

fn is_reserved_key(name: &str) -> bool {
    let domain = name.split_once('/').map(|(domain, _)| domain);
    RESERVED_KEYS.contains(&name)
        || RESERVED_DOMAINS.iter().any(|reserved| {
            domain.is_some_and(|domain| {
                domain.strip_suffix(reserved).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            })
        })
}
