//! Validates a Workshop. The failure of an invalid Workshop names the invalid field.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use launcher_domain::quantity::Quantity;
use launcher_domain::{AppType, EmailAddress, FailureCode, FailureDetail, FailureReason, SecurityProfile, names};
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
    ensure(names::is_k8s_name(&name), FailureDetail::SpecName)?;
    let owner = workshop.controller_owner_ref(&()).ok_or_else(|| wrong(FailureDetail::SpecUid))?;
    // `blockOwnerDeletion` makes a foreground deletion keep the Workshop until this resource is gone.
    let owner_reference = OwnerReference { block_owner_deletion: Some(true), ..owner };
    let namespace = workshop.namespace().ok_or_else(|| wrong(FailureDetail::SpecNamespace))?;
    let owner = spec.owner_email().ok_or_else(|| wrong(FailureDetail::SpecOwner))?;
    ensure(is_image(&spec.image), FailureDetail::SpecImage)?;
    let app_type = spec.app_type().ok_or_else(|| wrong(FailureDetail::SpecAppType))?;
    ensure(spec.port != 0, FailureDetail::SpecPort)?;
    ensure(![SIDECAR_PORT, TELEMETRY_PORT].contains(&spec.port), FailureDetail::SpecPortReserved)?;
    let profile = spec.security_profile().ok_or_else(|| wrong(FailureDetail::SpecSecurityProfile))?;
    for name in spec.env.keys() {
        ensure(is_variable(name), FailureDetail::SpecVariable { name: format!("{name:?}") })?;
    }
    ensure(spec.lifetime_seconds > 0, FailureDetail::SpecLifetime)?;
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
        let request = quantity(format!("{name}Request"), request)?;
        let limit = quantity(format!("{name}Limit"), limit)?;
        ensure(request.compare(&limit).is_le(), FailureDetail::SpecRequest { resource: name.to_owned() })?;
    }
    Ok(())
}

fn quantity(field: String, text: &str) -> Result<Quantity, FailureReason> {
    Quantity::parse(text).map_err(|error| wrong(FailureDetail::SpecQuantity { field, error: error.to_string() }))
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

fn ensure(holds: bool, detail: FailureDetail) -> Result<(), FailureReason> {
    if holds { Ok(()) } else { Err(wrong(detail)) }
}

fn wrong(detail: FailureDetail) -> FailureReason {
    FailureReason::new(FailureCode::InvalidSpec, Some(detail))
}
