//! A template as sent.

use std::collections::BTreeMap;

use launcher_domain::access::Action;
use launcher_domain::template::Resources;
use launcher_domain::{Caller, Template, TemplateSettings};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::named::{AppTypeName, SecurityProfileName};
use super::rfc3339;
use crate::identity::permit;

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
    /// The image's reference.
    #[schema(example = "quay.io/jupyter/base-notebook:latest")]
    image: String,
    /// Where the app listens.
    #[schema(example = 8888)]
    port: u16,
    /// Replaces the image's entry point when not empty. For administrators; always empty for others.
    command: Vec<String>,
    /// Replaces the image's arguments when not empty. For administrators; always empty for others.
    args: Vec<String>,
    /// Environment of the app. For administrators; always empty for others.
    env: BTreeMap<String, String>,
    resources: ResourcesResponse,
    #[schema(value_type = SecurityProfileName)]
    security_profile: &'static str,
    /// From ready to the first expiry.
    #[schema(example = 7200)]
    lifetime_seconds: u32,
    /// What one extension adds at most.
    #[schema(example = 3600)]
    extension_seconds: u32,
    /// From ready to the end that no extension passes.
    #[schema(example = 28800)]
    max_lifetime_seconds: u32,
    /// Whether users see it in the catalog and can launch it.
    active: bool,
    /// 1 at first, +1 at each change; the ETag is made of it.
    version: i64,
    /// The administrator who created it. Informational: it restricts nothing.
    #[schema(example = "admin@example.org")]
    created_by: String,
    /// When it was created.
    #[schema(format = DateTime, example = "2026-03-02T08:00:00.000Z")]
    created_at: String,
    /// When it last changed.
    #[schema(format = DateTime, example = "2026-03-02T08:00:00.000Z")]
    updated_at: String,
}

/// What a workshop's container may use, as Kubernetes quantities.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResourcesResponse {
    /// CPU that is set aside for it.
    #[schema(example = "100m")]
    cpu_request: String,
    /// CPU that it may use at most.
    #[schema(example = "2")]
    cpu_limit: String,
    /// Memory that is set aside for it.
    #[schema(example = "256Mi")]
    memory_request: String,
    /// Memory that it may use at most; more ends it.
    #[schema(example = "2Gi")]
    memory_limit: String,
}

impl WorkshopTemplateResponse {
    /// Converts a template for this caller. Callers who manage templates also see the app's command, arguments and
    /// environment, which may hold addresses and keys. Others see only the fields needed to choose a template.
    pub(crate) fn new(template: Template, caller: &Caller) -> Self {
        let response = Self::whole(template);
        if permit(caller, Action::ManageTemplates).is_ok() {
            return response;
        }
        Self { command: Vec::new(), args: Vec::new(), env: BTreeMap::new(), ..response }
    }

    fn whole(template: Template) -> Self {
        let Template { template_id, settings, active, version, created_by, created_at, updated_at } = template;
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
            lifetime_seconds,
            extension_seconds,
            max_lifetime_seconds,
            active,
            version,
            created_by: created_by.into(),
            created_at: rfc3339(created_at),
            updated_at: rfc3339(updated_at),
        }
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
