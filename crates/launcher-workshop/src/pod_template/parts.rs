//! The parts of a pod template in the types of Kubernetes, and the names that belong to the operator.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodSpec;

/// Name of the app's container.
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
/// Name of the container that sends files of the app to the launcher. Not `archive` or `snapshot`: pod templates may have an
/// init container of such a name.
pub const SNAPSHOT: &str = "snapshot-archive";
/// Names of the other containers of a workshop's pod.
pub const RESERVED_CONTAINERS: [&str; 6] = ["sidecar", "isolation", COPY_PROGRAM, IMAGE_FILES, MATERIAL, SNAPSHOT];
/// Name of the volume with the owner's files. Not `work`: many pod templates have a volume of that name.
pub const STORAGE_VOLUME: &str = "kept-work";
/// Name of the volume whose files outlive a crash of the app, and end with the pod.
pub const CRASH_SAFE_VOLUME: &str = "crash-safe-files";
/// Names of the volumes that the operator adds to pods.
pub const RESERVED_VOLUMES: [&str; 7] =
    ["expiry", "proxy-secret", STORAGE_VOLUME, CRASH_SAFE_VOLUME, COPY_PROGRAM, MATERIAL, MATERIAL_SECRETS];

/// Metadata and spec of a pod template.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) spec: PodSpec,
}
