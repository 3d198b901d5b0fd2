//! Spec of a Workshop: the desired state.
#![expect(unreachable_pub, reason = "KubeSchema derives a copy of each struct inside a function")]

use std::collections::BTreeMap;

use jiff::Timestamp;
use kube::{CustomResource, KubeSchema};
use launcher_domain::template::Resources;
use launcher_domain::{AppType, EmailAddress, Instance, SecurityProfile};
use serde::{Deserialize, Serialize};

use crate::status::WorkshopStatus;

/// What should run: one workshop of one owner.
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
    /// The e-mail address of the one person the sidecar lets through.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the owner cannot change"))]
    #[schemars(length(min = 3, max = 254))]
    pub owner: String,
    /// The image of the app.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the image cannot change: launch another workshop"))]
    #[schemars(length(min = 1, max = 255))]
    pub image: String,
    /// The kind of app: rstudio, notebook or custom.
    pub app_type: String,
    /// Where the app listens.
    #[x_kube(validation = Rule::new("self != 8080 && self != 8081").message("8080 and 8081 are the sidecar's"))]
    #[schemars(range(min = 1, max = 65535))]
    pub port: u16,
    /// Replaces the image's entry point when not empty. `$(PORT)` in a word is where the app listens; all else is data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Replaces the image's arguments when not empty. `$(PORT)` in a word is where the app listens; all else is data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment of the app.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What the app may use.
    pub resources: WorkshopResources,
    /// How tightly the app is held: restricted or baseline.
    pub security_profile: String,
    /// From ready to the end, in seconds, unless expiresAt says otherwise.
    pub lifetime_seconds: u32,
    /// The end; set once the workshop was ready, moved by each extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// What the app may use, as Kubernetes quantities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopResources {
    /// CPU that is set aside for it.
    #[schemars(length(min = 1, max = 32))]
    pub cpu_request: String,
    /// CPU that it may use at most.
    #[schemars(length(min = 1, max = 32))]
    pub cpu_limit: String,
    /// Memory that is set aside for it.
    #[schemars(length(min = 1, max = 32))]
    pub memory_request: String,
    /// Memory that it may use at most.
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

    /// Returns the owner as the sidecar compares it; `None` when the spec holds no valid address.
    #[must_use]
    pub fn owner_email(&self) -> Option<EmailAddress> {
        EmailAddress::parse(&self.owner).ok()
    }

    /// Returns the kind of app; `None` when it is unknown.
    #[must_use]
    pub fn app_type(&self) -> Option<AppType> {
        AppType::parse(&self.app_type)
    }

    /// Returns the security profile; `None` when it is unknown.
    #[must_use]
    pub fn security_profile(&self) -> Option<SecurityProfile> {
        SecurityProfile::parse(&self.security_profile)
    }

    /// Returns the expiry: `expiresAt`, or the lifetime counted from `ready_at`.
    #[must_use]
    pub fn expiry(&self, ready_at: Option<Timestamp>) -> Option<Timestamp> {
        let lifetime = jiff::SignedDuration::from_secs(i64::from(self.lifetime_seconds));
        self.expires_at.or_else(|| ready_at.and_then(|ready| ready.checked_add(lifetime).ok()))
    }
}

/// Replaces `$(PORT)` with `port` in the words of a command or of arguments, as every fleet does.
#[must_use]
pub fn with_port(words: &[String], port: u16) -> Vec<String> {
    words.iter().map(|word| word.replace("$(PORT)", &port.to_string())).collect()
}
