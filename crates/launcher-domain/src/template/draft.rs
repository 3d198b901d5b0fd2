//! A template as an admin writes it: nothing checked but the shape.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{AppType, SecurityProfile, Template};

/// The body of a create or an update, and of a seed. What is left out takes its default. Unknown fields are refused:
/// a mistyped `memroy_limit` must not silently be the default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateDraft {
    /// 1–80 characters.
    pub name: String,
    /// Markdown, at most 4,000 characters.
    #[serde(default)]
    pub description: String,
    /// The kind of app.
    pub app_type: AppType,
    /// An image reference of at most 255 characters.
    pub image: String,
    /// Where the app listens; the kind's own port when left out, required for `custom`.
    #[serde(default)]
    pub port: Option<i64>,
    /// Replaces the image's entry point when not empty.
    #[serde(default)]
    pub command: Vec<String>,
    /// Replaces the image's arguments when not empty.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment of the app.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What the container may use.
    #[serde(default)]
    pub resources: ResourcesDraft,
    /// How tightly the container is held.
    #[serde(default)]
    pub security_profile: SecurityProfile,
    /// From ready to the first expiry, in seconds; 7200 when left out.
    #[serde(default)]
    pub lifetime_seconds: Option<i64>,
    /// What one extension adds at most, in seconds; 3600 when left out.
    #[serde(default)]
    pub extension_seconds: Option<i64>,
    /// From ready to the end that no extension passes, in seconds; 28800 when left out.
    #[serde(default)]
    pub max_lifetime_seconds: Option<i64>,
    /// Whether users see it in the catalog; true when left out.
    #[serde(default = "yes")]
    pub active: bool,
}

/// What the container may use, in Kubernetes' notation; each has a default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourcesDraft {
    /// CPU that is set aside; `100m` when left out.
    #[serde(default)]
    pub cpu_request: Option<String>,
    /// CPU at most; `2` when left out.
    #[serde(default)]
    pub cpu_limit: Option<String>,
    /// Memory that is set aside; `256Mi` when left out.
    #[serde(default)]
    pub memory_request: Option<String>,
    /// Memory at most; `2Gi` when left out.
    #[serde(default)]
    pub memory_limit: Option<String>,
}

fn yes() -> bool {
    true
}

impl From<&Template> for TemplateDraft {
    /// The draft that would make this template again: what an edit starts from.
    fn from(template: &Template) -> Self {
        let settings = template.settings.clone();
        Self {
            name: settings.name,
            description: settings.description,
            app_type: settings.app_type,
            image: settings.image,
            port: Some(settings.port.into()),
            command: settings.command,
            args: settings.args,
            env: settings.env,
            resources: ResourcesDraft {
                cpu_request: Some(settings.resources.cpu_request.to_string()),
                cpu_limit: Some(settings.resources.cpu_limit.to_string()),
                memory_request: Some(settings.resources.memory_request.to_string()),
                memory_limit: Some(settings.resources.memory_limit.to_string()),
            },
            security_profile: settings.security_profile,
            lifetime_seconds: Some(settings.lifetime_seconds.into()),
            extension_seconds: Some(settings.extension_seconds.into()),
            max_lifetime_seconds: Some(settings.max_lifetime_seconds.into()),
            active: template.active,
        }
    }
}
