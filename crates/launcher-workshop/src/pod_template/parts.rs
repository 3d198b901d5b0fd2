//! The parts of a pod template in the types of Kubernetes, and the names that belong to the operator.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodSpec;

/// Name of the app's container.
pub const APP_CONTAINER: &str = "app";
/// Names of the other containers of a workshop's pod.
pub const RESERVED_CONTAINERS: [&str; 2] = ["sidecar", "isolation"];
/// Name of the volume with the owner's files. Not `work`: many pod templates have a volume of that name.
pub const STORAGE_VOLUME: &str = "kept-work";
/// Names of the volumes that the operator adds to pods.
pub const RESERVED_VOLUMES: [&str; 3] = ["expiry", "proxy-secret", STORAGE_VOLUME];

/// Metadata and spec of a pod template.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) spec: PodSpec,
}
