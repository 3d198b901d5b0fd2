//! The WorkshopDownload resource: one download of the files of a volume.
#![expect(unreachable_pub, reason = "KubeSchema derives a copy of each struct inside a function")]

use std::net::SocketAddr;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state: a pod that sends the files of a volume once.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "workshoplauncher.dev",
    version = "v1alpha1",
    kind = "WorkshopDownload",
    doc = "Download of the files of one volume. The operator runs it in a pod with the same name, which sends the files once. The launcher creates and deletes it.",
    plural = "workshopdownloads",
    category = "workshop-launcher",
    namespaced,
    status = "WorkshopDownloadStatus",
    derive = "PartialEq",
    printcolumn = r#"{"name": "Volume", "type": "string", "jsonPath": ".spec.volume"}"#,
    printcolumn = r#"{"name": "Address", "type": "string", "jsonPath": ".status.address"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message", "priority": 1}"#
)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopDownloadSpec {
    /// Name of the volume: the name of its PersistentVolumeClaim.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the volume cannot change: create another download"))]
    #[schemars(length(min = 1, max = 63), regex(pattern = "^work-[a-z0-9]+$"))]
    pub volume: String,
    /// SHA-256 of the token that the client sends to the pod, in hexadecimal. The resource never contains the token.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the token cannot change: create another download"))]
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub token_sha256: String,
}

/// Observed state, written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopDownloadStatus {
    /// IP address and port of the pod, when it is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub address: Option<SocketAddr>,
    /// Reason why the pod is not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
