//! Validates a Workshop. The failure of an invalid Workshop names the invalid field.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use launcher_domain::quantity::Quantity;
use launcher_domain::{AppType, EmailAddress, FailureCode, FailureReason, SecurityProfile, names};
use launcher_workshop::app::{SIDECAR_PORT, TELEMETRY_PORT, is_reserved_variable};
use launcher_workshop::{Workshop, WorkshopResources};

/// A validated Workshop. Only [`validate`] creates it. Later steps of a reconcile use it instead of the raw spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// Name of the Workshop. Its Deployment, Service and Ingress have the same name, and its host begins with it.
    pub name: String,
    /// Namespace of the Workshop and its resources.
    pub namespace: String,
    /// Owner reference for each resource. It makes Kubernetes delete the resource with the Workshop.
    pub owner_reference: OwnerReference,
    /// E-mail address of the owner, the only user that the sidecar admits.
    pub owner: EmailAddress,
    /// The app's image.
    pub image: String,
    /// App type.
    pub app_type: AppType,
    /// Port of the app.
    pub port: u16,
    /// Replaces the image's entry point when not empty.
    pub command: Vec<String>,
    /// Replaces the preset's arguments when not empty. A preset is the default for the app type and image.
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
/// A failure with the code `InvalidSpec`. Its message names the field and the valid values.
pub fn validate(workshop: &Workshop) -> Result<Validated, FailureReason> {
    let spec = &workshop.spec;
    let name = workshop.name_any();
    ensure(names::is_k8s_name(&name), "metadata.name is not a DNS label that begins with a letter.")?;
    let owner = workshop.controller_owner_ref(&()).ok_or_else(|| wrong("metadata.uid is missing."))?;
    // `blockOwnerDeletion` makes a foreground deletion keep the Workshop until this resource is gone.
    let owner_reference = OwnerReference { block_owner_deletion: Some(true), ..owner };
    let namespace = workshop.namespace().ok_or_else(|| wrong("metadata.namespace is missing."))?;
    let owner = spec.owner_email().ok_or_else(|| wrong("spec.owner is not an e-mail address."))?;
    ensure(is_image(&spec.image), "spec.image is not an image reference of 1 to 255 characters.")?;
    let app_type = spec.app_type().ok_or_else(|| wrong("spec.appType is not rstudio, notebook or custom."))?;
    ensure(spec.port != 0, "spec.port is not between 1 and 65535.")?;
    ensure(
        ![SIDECAR_PORT, TELEMETRY_PORT].contains(&spec.port),
        "spec.port is a port of the sidecar: use a port other than 8080 and 8081.",
    )?;
    let profile =
        spec.security_profile().ok_or_else(|| wrong("spec.securityProfile is not restricted or baseline."))?;
    for name in spec.env.keys() {
        ensure(is_variable(name), &format!("spec.env sets {name:?}: the name is reserved or invalid."))?;
    }
    ensure(spec.lifetime_seconds > 0, "spec.lifetimeSeconds is 0: use at least 1.")?;
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

/// True if this time has passed. `None` means "never".
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
        ensure(request.compare(&limit).is_le(), &format!("spec.resources.{name}Request exceeds {name}Limit."))?;
    }
    Ok(())
}

/// True for a valid name of an environment variable that is not reserved: letters, digits and underscores.
fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !is_reserved_variable(name)
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
