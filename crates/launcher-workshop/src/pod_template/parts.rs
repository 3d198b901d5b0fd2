//! The parts of a pod template in the types of Kubernetes, and the names that belong to the operator.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodSpec;

/// Name of the app's container.
pub const APP_CONTAINER: &str = "app";
/// Names of the other containers of a workshop's pod.
pub const RESERVED_CONTAINERS: [&str; 2] = ["sidecar", "isolation"];
/// Names of the volumes that the operator adds to each pod.
pub const RESERVED_VOLUMES: [&str; 2] = ["expiry", "proxy-secret"];

/// Metadata and spec of a pod template.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) spec: PodSpec,
}
