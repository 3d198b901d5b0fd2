//! The parts of a pod template in the types of Kubernetes, and the names that belong to the operator.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodSpec;

/// Name of the app's container.
pub const APP_CONTAINER: &str = "app";
/// Name of the init container that places course material, and of the volume that belongs to it. Not `material`: pod
/// templates may have an init container of that name, which downloads the same files.
pub const MATERIAL: &str = "course-material";
/// Names of the other containers of a workshop's pod.
pub const RESERVED_CONTAINERS: [&str; 3] = ["sidecar", "isolation", MATERIAL];
/// Name of the volume with the owner's files. Not `work`: many pod templates have a volume of that name.
pub const STORAGE_VOLUME: &str = "kept-work";
/// Names of the volumes that the operator adds to pods.
pub const RESERVED_VOLUMES: [&str; 4] = ["expiry", "proxy-secret", STORAGE_VOLUME, MATERIAL];

/// Metadata and spec of a pod template.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) spec: PodSpec,
}
