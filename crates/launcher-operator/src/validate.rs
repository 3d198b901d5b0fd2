//! Validates a Workshop, or returns a failure that names the invalid field.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use launcher_domain::quantity::Quantity;
use launcher_domain::{AppType, EmailAddress, FailureCode, FailureReason, SecurityProfile, names};
use launcher_workshop::{Workshop, WorkshopResources};

/// The sidecar's ports, in the same pod.
const SIDECAR_PORTS: [u16; 2] = [8080, 8081];

/// A valid Workshop. Only [`validate`] creates it; later steps never see the raw spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// Name of the Workshop, its Deployment, Service and Ingress, and its host.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Owner reference of each resource, so that Kubernetes deletes it with the Workshop.
    pub owner_reference: OwnerReference,
    /// The only e-mail address that the sidecar admits.
    pub owner: EmailAddress,
    /// The app's image.
    pub image: String,
    /// The kind of app.
    pub app_type: AppType,
    /// Port of the app.
    pub port: u16,
    /// Replaces the image's entry point when not empty.
    pub command: Vec<String>,
    /// Replaces the preset's arguments when not empty.
    pub args: Vec<String>,
    /// Environment from the template.
    pub env: BTreeMap<String, String>,
    /// Requests and limits of the app.
    pub resources: WorkshopResources,
    /// Security profile of the app.
    pub profile: SecurityProfile,
}

/// Validates a Workshop.
///
/// # Errors
/// An invalid-spec failure whose message names the field and says what would be right.
pub fn validate(workshop: &Workshop) -> Result<Validated, FailureReason> {
    let spec = &workshop.spec;
    let name = workshop.name_any();
    ensure(names::is_k8s_name(&name), "metadata.name is not a DNS label that begins with a letter.")?;
    let owner = workshop.controller_owner_ref(&()).ok_or_else(|| wrong("metadata.uid is missing."))?;
    // A foreground deletion keeps the Workshop until all its resources are gone.
    let owner_reference = OwnerReference { block_owner_deletion: Some(true), ..owner };
    let namespace = workshop.namespace().ok_or_else(|| wrong("metadata.namespace is missing."))?;
    let owner = spec.owner_email().ok_or_else(|| wrong("spec.owner is not an e-mail address."))?;
    ensure(is_image(&spec.image), "spec.image is not an image reference of 1 to 255 characters.")?;
    let app_type = spec.app_type().ok_or_else(|| wrong("spec.appType is not rstudio, notebook or custom."))?;
    ensure(spec.port != 0, "spec.port is not between 1 and 65535.")?;
    ensure(!SIDECAR_PORTS.contains(&spec.port), "spec.port is the sidecar's: use another than 8080 and 8081.")?;
    let profile =
        spec.security_profile().ok_or_else(|| wrong("spec.securityProfile is not restricted or baseline."))?;
    for name in spec.env.keys() {
        ensure(is_variable(name), &format!("spec.env names {name:?}, which no template may set."))?;
    }
    ensure(spec.lifetime_seconds > 0, "spec.lifetimeSeconds is 0.")?;
    check_resources(&spec.resources)?;
    Ok(Validated {
        name,
        namespace,
        owner_reference,
        owner,
        image: spec.image.clone(),
        app_type,
        port: spec.port,
        command: spec.command.clone(),
        args: spec.args.clone(),
        env: spec.env.clone(),
        resources: spec.resources.clone(),
        profile,
    })
}

/// True if this time has passed. Without a time, it never does.
#[must_use]
pub fn has_passed(time: Option<Timestamp>, now: Timestamp) -> bool {
    time.is_some_and(|time| time <= now)
}

fn check_resources(resources: &WorkshopResources) -> Result<(), FailureReason> {
    let WorkshopResources { cpu_request, cpu_limit, memory_request, memory_limit } = resources;
    for (name, request, limit) in [("cpu", cpu_request, cpu_limit), ("memory", memory_request, memory_limit)] {
        let request =
            Quantity::parse(request).map_err(|error| wrong(&format!("spec.resources.{name}Request: {error}.")))?;
        let limit = Quantity::parse(limit).map_err(|error| wrong(&format!("spec.resources.{name}Limit: {error}.")))?;
        ensure(request.compare(&limit).is_le(), &format!("spec.resources.{name}Request is more than its limit."))?;
    }
    Ok(())
}

/// True for a C identifier that is not reserved.
fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name != "DISABLE_AUTH"
        && !name.starts_with("SERVICE_")
}

fn is_image(image: &str) -> bool {
    (1..=255).contains(&image.len())
        && image.starts_with(|first: char| first.is_ascii_alphanumeric())
        && image.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/:@+".contains(&byte))
}

fn ensure(holds: bool, detail: &str) -> Result<(), FailureReason> {
    if holds { Ok(()) } else { Err(wrong(detail)) }
}

fn wrong(detail: &str) -> FailureReason {
    FailureReason::new(FailureCode::InvalidSpec, Some(detail))
}
