//! A template as the API sends it.

use std::collections::BTreeMap;

use launcher_domain::template::{Resources, Storage};
use launcher_domain::{Icon, Listing, PodTemplateObject, Template, TemplateSettings};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::launch_parameter::ParameterResponse;
use super::material::MaterialResponse;
use super::named::{AppTypeName, AtExpiryName, IconName, SecurityProfileName, StorageKindName};
use super::time::rfc3339;
use crate::permission::{Allowed, ManageTemplates};

/// A shared catalog entry. Times are RFC 3339 in UTC with milliseconds, durations in seconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkshopTemplateResponse {
    /// The identifier in paths.
    template_id: Uuid,
    /// 1 to 80 characters.
    #[schema(example = "Statistics 101")]
    name: String,
    /// Markdown.
    description: String,
    #[schema(value_type = AppTypeName)]
    app_type: &'static str,
    /// Reference of the image.
    #[schema(example = "quay.io/jupyter/base-notebook:latest")]
    image: String,
    /// Port on which the app listens.
    #[schema(example = 8888)]
    port: u16,
    /// Replaces the image's entry point if not empty. Empty for callers who are not admins.
    command: Vec<String>,
    /// Replaces the image's arguments if not empty. Empty for callers who are not admins.
    args: Vec<String>,
    /// Environment of the app. Empty for callers who are not admins.
    env: BTreeMap<String, String>,
    resources: ResourcesResponse,
    #[schema(value_type = SecurityProfileName)]
    security_profile: &'static str,
    /// Partial Kubernetes PodTemplateSpec of the pod; null without one. null for callers who are not admins.
    #[schema(required, value_type = Option<Object>)]
    pod_template: Option<PodTemplateObject>,
    /// Storage of the user's files; null if they end with the workshop, on a cluster also with a crash of the app.
    #[schema(required)]
    storage: Option<StorageResponse>,
    /// Course material; null without any. null for callers who are not admins.
    #[schema(required)]
    material: Option<MaterialResponse>,
    /// Values that a launch asks for.
    parameters: Vec<ParameterResponse>,
    /// Time from ready to the first expiry.
    #[schema(example = 7200)]
    lifetime_seconds: u32,
    /// Maximum that one extension adds.
    #[schema(example = 3600)]
    extension_seconds: u32,
    /// Maximum time from ready to the expiry, with all extensions.
    #[schema(example = 28800)]
    max_lifetime_seconds: u32,
    /// True if users can launch the template. They also see it in the catalog, unless it is unlisted.
    active: bool,
    /// Tags, at most 8.
    #[schema(example = json!(["statistics"]))]
    tags: Vec<String>,
    /// Icon in the catalog. null: the icon of the kind of app.
    #[schema(required, value_type = Option<IconName>)]
    icon: Option<&'static str>,
    /// True if the list of templates omits the template for callers who are not admins. They can read and launch it.
    unlisted: bool,
    /// Slug of the template's link, unique among all templates.
    #[schema(required, example = "statistics-101")]
    slug: Option<String>,
    /// Starts at 1 and increases with each change. The ETag contains it.
    version: i64,
    /// The admin who created the template. For information only.
    #[schema(example = "admin@example.org")]
    created_by: String,
    /// Time of the template's creation.
    #[schema(format = DateTime, example = "2026-03-02T08:00:00.000Z")]
    created_at: String,
    /// Time of the template's last change.
    #[schema(format = DateTime, example = "2026-03-02T08:00:00.000Z")]
    updated_at: String,
}

/// Resources of a workshop's container, as Kubernetes quantities.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResourcesResponse {
    /// CPU request: reserved for the container.
    #[schema(example = "100m")]
    cpu_request: String,
    /// CPU limit.
    #[schema(example = "2")]
    cpu_limit: String,
    /// Memory request: reserved for the container.
    #[schema(example = "256Mi")]
    memory_request: String,
    /// Memory limit. A container that exceeds it is killed.
    #[schema(example = "2Gi")]
    memory_limit: String,
}

/// Storage of the user's files: a directory that outlives a crash of the app, or the workshop.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StorageResponse {
    #[schema(value_type = StorageKindName)]
    kind: &'static str,
    /// Size of a new volume, as a Kubernetes quantity. Not used for the kind workshop.
    #[schema(example = "1Gi")]
    size: String,
    /// Directory of the app with the files.
    #[schema(example = "/home/jovyan")]
    path: String,
    #[schema(value_type = AtExpiryName)]
    at_expiry: &'static str,
}

impl WorkshopTemplateResponse {
    /// Converts a template. A caller who may manage templates also gets the app's command, arguments, environment,
    /// pod template and course material, which may contain addresses and keys. Other callers get only the fields that they need to choose a template.
    pub(crate) fn new(template: Template, manager: Option<&Allowed<ManageTemplates>>) -> Self {
        let response = Self::whole(template);
        if manager.is_some() {
            return response;
        }
        Self {
            command: Vec::new(),
            args: Vec::new(),
            env: BTreeMap::new(),
            pod_template: None,
            material: None,
            ..response
        }
    }

    fn whole(template: Template) -> Self {
        let Template { template_id, settings, listing, active, version, created_by, created_at, updated_at } = template;
        let Listing { tags, icon, unlisted, slug } = listing;
        let TemplateSettings {
            name,
            description,
            app_type,
            image,
            port,
            command,
            args,
            env,
            resources,
            security_profile,
            pod_template,
            storage,
            material,
            parameters,
            lifetime_seconds,
            extension_seconds,
            max_lifetime_seconds,
        } = settings;
        Self {
            template_id,
            name,
            description,
            app_type: app_type.as_str(),
            image,
            port,
            command,
            args,
            env,
            resources: resources.into(),
            security_profile: security_profile.as_str(),
            pod_template,
            storage: storage.map(StorageResponse::from),
            material: material.map(MaterialResponse::from),
            parameters: parameters.into_iter().map(ParameterResponse::from).collect(),
            lifetime_seconds,
            extension_seconds,
            max_lifetime_seconds,
            active,
            tags,
            icon: icon.map(Icon::as_str),
            unlisted,
            slug,
            version,
            created_by: created_by.into(),
            created_at: rfc3339(created_at),
            updated_at: rfc3339(updated_at),
        }
    }
}

impl From<Storage> for StorageResponse {
    fn from(Storage { kind, size, path, at_expiry }: Storage) -> Self {
        Self { kind: kind.as_str(), size: size.into(), path, at_expiry: at_expiry.as_str() }
    }
}

impl From<Resources> for ResourcesResponse {
    fn from(resources: Resources) -> Self {
        let Resources { cpu_request, cpu_limit, memory_request, memory_limit } = resources;
        Self {
            cpu_request: cpu_request.into(),
            cpu_limit: cpu_limit.into(),
            memory_request: memory_request.into(),
            memory_limit: memory_limit.into(),
        }
    }
}
