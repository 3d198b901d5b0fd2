//! Validated settings of a template.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::app_type::AppType;
use super::material::Material;
use super::parameter::Parameter;
use super::pod_template::PodTemplateObject;
use super::security_profile::SecurityProfile;
use super::storage::Storage;
use crate::quantity::Quantity;

/// Resource requests and limits of a workshop's container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// CPU request.
    pub cpu_request: Quantity,
    /// CPU limit.
    pub cpu_limit: Quantity,
    /// Memory request.
    pub memory_request: Quantity,
    /// Memory limit. An app that exceeds it is killed.
    pub memory_limit: Quantity,
}

/// Validated settings of a template. Each instance keeps a copy, which is stored once for each content.
///
/// Only fields that a workshop needs are settings. The presentation in the catalog is in `Listing`: a changed tag must
/// not create another stored copy of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateSettings {
    /// 1–80 characters.
    pub name: String,
    /// Markdown, at most 4,000 characters.
    pub description: String,
    /// The kind of app.
    pub app_type: AppType,
    /// An image reference of at most 255 characters.
    pub image: String,
    /// Port of the app, 1–65535 without the sidecar's ports.
    pub port: u16,
    /// Replaces the image's entry point when not empty; at most 64 words. `$(PORT)` is the app's port.
    pub command: Vec<String>,
    /// Replaces the image's arguments when not empty; at most 64 words. `$(PORT)` is the app's port.
    pub args: Vec<String>,
    /// Environment variables, at most 64.
    pub env: BTreeMap<String, String>,
    /// Resource requests and limits.
    pub resources: Resources,
    /// Security profile of the container.
    pub security_profile: SecurityProfile,
    /// Partial Kubernetes PodTemplateSpec of the workshop's pod, without `null` values; at most 32 KiB as JSON. Only the
    /// operator uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template: Option<PodTemplateObject>,
    /// Storage of the user's files; `None` if they end with the workshop, on a cluster also with a crash of the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// Files that are in the workshop's directory when it opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<Material>,
    /// Launch parameters, at most 10.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// Time from ready to the first expiry, in seconds.
    pub lifetime_seconds: u32,
    /// Maximum seconds that one extension adds.
    pub extension_seconds: u32,
    /// Time from ready to the latest possible expiry, in seconds.
    pub max_lifetime_seconds: u32,
}

impl TemplateSettings {
    /// True if the user's files outlive the workshop.
    #[must_use]
    pub fn keeps_files(&self) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.kind.is_kept())
    }
}
