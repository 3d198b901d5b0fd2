//! Template draft, as an admin writes it: only its shape is checked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::app_type::AppType;
use super::entry::Template;
use super::icon::Icon;
use super::listing::Listing;
use super::material::MaterialDraft;
use super::parameter::ParameterDraft;
use super::pod_template::PodTemplateObject;
use super::security_profile::SecurityProfile;
use super::storage::StorageDraft;

/// Body of a request that creates or updates a template, or an entry of the seed file. Missing fields get their
/// defaults. Unknown fields are rejected: with a mistyped `memroy_limit` the default would apply silently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateDraft {
    /// Name of the template, 1–80 characters.
    pub name: String,
    /// Description in Markdown, at most 4,000 characters.
    #[serde(default)]
    pub description: String,
    /// The kind of app.
    pub app_type: AppType,
    /// An image reference of at most 255 characters.
    pub image: String,
    /// Port of the app. The default depends on the kind of app; a `custom` app requires a port.
    #[serde(default)]
    pub port: Option<i64>,
    /// Command: replaces the image's entry point, unless empty.
    #[serde(default)]
    pub command: Vec<String>,
    /// Arguments: replace the image's arguments, unless empty.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment of the app.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Resource requests and limits.
    #[serde(default)]
    pub resources: ResourcesDraft,
    /// Security profile of the container.
    #[serde(default)]
    pub security_profile: SecurityProfile,
    /// Partial Kubernetes PodTemplateSpec of the workshop's pod.
    #[serde(default)]
    pub pod_template: Option<PodTemplateObject>,
    /// Storage of the user's files. Without it, the files end with the workshop.
    #[serde(default)]
    pub storage: Option<StorageDraft>,
    /// Course material: files that are in the workshop's directory when it opens.
    #[serde(default)]
    pub material: Option<MaterialDraft>,
    /// Launch parameters, at most 10.
    #[serde(default)]
    pub parameters: Vec<ParameterDraft>,
    /// Time from ready to the first expiry, in seconds; default 7200.
    #[serde(default)]
    pub lifetime_seconds: Option<i64>,
    /// Maximum seconds that one extension adds; default 3600.
    #[serde(default)]
    pub extension_seconds: Option<i64>,
    /// Time from ready to the latest possible expiry, in seconds; default 28800.
    #[serde(default)]
    pub max_lifetime_seconds: Option<i64>,
    /// True when users can launch the template; default true.
    #[serde(default = "yes")]
    pub active: bool,
    /// Tags, at most 8 of 1–30 characters each. Two tags must not differ only in case.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Icon in the catalog. The default depends on the kind of app.
    #[serde(default)]
    pub icon: Option<Icon>,
    /// True when users find the template only by its link; default false.
    #[serde(default)]
    pub unlisted: bool,
    /// Slug of the template's link, unique among all templates: 2–40 characters `a-z`, `0-9` and `-`.
    #[serde(default)]
    pub slug: Option<String>,
}

/// Resource requests and limits of the container, in Kubernetes notation; each has a default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourcesDraft {
    /// CPU request; default `100m`.
    #[serde(default)]
    pub cpu_request: Option<String>,
    /// CPU limit; default `2`.
    #[serde(default)]
    pub cpu_limit: Option<String>,
    /// Memory request; default `256Mi`.
    #[serde(default)]
    pub memory_request: Option<String>,
    /// Memory limit; default `2Gi`.
    #[serde(default)]
    pub memory_limit: Option<String>,
}

fn yes() -> bool {
    true
}

impl From<&Template> for TemplateDraft {
    /// Returns the draft that recreates this template. An admin's edit form starts with it.
    fn from(template: &Template) -> Self {
        let settings = template.settings.clone();
        let Listing { tags, icon, unlisted, slug } = template.listing.clone();
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
            pod_template: settings.pod_template,
            storage: settings.storage.map(StorageDraft::from),
            material: settings.material.map(MaterialDraft::from),
            parameters: settings.parameters.into_iter().map(ParameterDraft::from).collect(),
            lifetime_seconds: Some(settings.lifetime_seconds.into()),
            extension_seconds: Some(settings.extension_seconds.into()),
            max_lifetime_seconds: Some(settings.max_lifetime_seconds.into()),
            active: template.active,
            tags,
            icon,
            unlisted,
            slug,
        }
    }
}
