//! Spec of a Workshop: the desired state.
#![expect(unreachable_pub, reason = "KubeSchema derives a copy of each struct inside a function")]

use std::collections::BTreeMap;

use jiff::Timestamp;
use kube::{CustomResource, KubeSchema};
use launcher_domain::template::Resources;
use launcher_domain::{AppType, EmailAddress, Instance, SecurityProfile};
use serde::{Deserialize, Serialize};

use crate::status::WorkshopStatus;

/// Desired state: one workshop of one owner.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "workshoplauncher.dev",
    version = "v1alpha1",
    kind = "Workshop",
    plural = "workshops",
    shortname = "ws",
    namespaced,
    status = "WorkshopStatus",
    derive = "PartialEq",
    printcolumn = r#"{"name": "Owner", "type": "string", "jsonPath": ".spec.owner"}"#,
    printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase"}"#,
    printcolumn = r#"{"name": "URL", "type": "string", "jsonPath": ".status.url"}"#,
    printcolumn = r#"{"name": "Expires", "type": "date", "jsonPath": ".spec.expiresAt"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopSpec {
    /// E-mail address of the owner, the only user that the sidecar admits.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the owner cannot change"))]
    #[schemars(length(min = 3, max = 254))]
    pub owner: String,
    /// Image of the app.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the image cannot change: launch another workshop"))]
    #[schemars(length(min = 1, max = 255))]
    pub image: String,
    /// App type: rstudio, notebook or custom.
    pub app_type: String,
    /// Port on which the app listens.
    #[x_kube(validation = Rule::new("self != 8080 && self != 8081").message("8080 and 8081 are the sidecar's"))]
    #[schemars(range(min = 1, max = 65535))]
    pub port: u16,
    /// Command: replaces the image's entry point, unless empty. Only `$(PORT)` is expanded, to the app's port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Arguments: replace the image's arguments, unless empty. Only `$(PORT)` is expanded, to the app's port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment of the app.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Resource requests and limits of the app.
    pub resources: WorkshopResources,
    /// Security profile of the app's container: restricted or baseline.
    pub security_profile: String,
    /// Time from ready to the expiry, in seconds. Ignored once expiresAt is set.
    pub lifetime_seconds: u32,
    /// Expiry. The launcher sets it once the workshop has been ready, and moves it with each extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// Resource requests and limits, as Kubernetes quantities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopResources {
    /// CPU request.
    #[schemars(length(min = 1, max = 32))]
    pub cpu_request: String,
    /// CPU limit.
    #[schemars(length(min = 1, max = 32))]
    pub cpu_limit: String,
    /// Memory request.
    #[schemars(length(min = 1, max = 32))]
    pub memory_request: String,
    /// Memory limit. An app that exceeds it is killed.
    #[schemars(length(min = 1, max = 32))]
    pub memory_limit: String,
}

impl WorkshopSpec {
    /// Returns the desired spec of an instance.
    #[must_use]
    pub fn of(instance: &Instance) -> Self {
        let settings = &instance.settings;
        let Resources { cpu_request, cpu_limit, memory_request, memory_limit } = &settings.resources;
        Self {
            owner: instance.owner_email.to_string(),
            image: settings.image.clone(),
            app_type: settings.app_type.as_str().to_owned(),
            port: settings.port,
            command: settings.command.clone(),
            args: settings.args.clone(),
            env: settings.env.clone(),
            resources: WorkshopResources {
                cpu_request: cpu_request.to_string(),
                cpu_limit: cpu_limit.to_string(),
                memory_request: memory_request.to_string(),
                memory_limit: memory_limit.to_string(),
            },
            security_profile: settings.security_profile.as_str().to_owned(),
            lifetime_seconds: settings.lifetime_seconds,
            expires_at: instance.expires_at,
        }
    }

    /// Returns the owner in the canonical form that the sidecar compares; `None` if the spec has no valid address.
    #[must_use]
    pub fn owner_email(&self) -> Option<EmailAddress> {
        EmailAddress::parse(&self.owner).ok()
    }

    /// Returns the app type; `None` if it is unknown.
    #[must_use]
    pub fn app_type(&self) -> Option<AppType> {
        AppType::parse(&self.app_type)
    }

    /// Returns the security profile; `None` if it is unknown.
    #[must_use]
    pub fn security_profile(&self) -> Option<SecurityProfile> {
        SecurityProfile::parse(&self.security_profile)
    }

    /// Returns the expiry: `expiresAt` if it is set, otherwise `ready_at` plus the lifetime. `None` before the workshop
    /// was ready.
    #[must_use]
    pub fn expiry(&self, ready_at: Option<Timestamp>) -> Option<Timestamp> {
        let lifetime = jiff::SignedDuration::from_secs(i64::from(self.lifetime_seconds));
        self.expires_at.or_else(|| ready_at.and_then(|ready| ready.checked_add(lifetime).ok()))
    }
}
