//! Validation of a Workshop's spec, for the fleets that run the app's image.

use std::collections::BTreeMap;

use launcher_domain::names::is_k8s_name;
use launcher_domain::quantity::Quantity;
use launcher_domain::template::is_mount_path;
use launcher_domain::{AppType, EmailAddress, FailureCode, FailureDetail, FailureReason, SecurityProfile};

use super::probe::{SIDECAR_PORT, TELEMETRY_PORT};
use super::spec::is_reserved_variable;
use crate::material::WorkshopMaterial;
use crate::snapshot::WorkshopSnapshot;
use crate::spec::{WorkshopResources, WorkshopSpec, WorkshopStorage};

/// A validated spec. Only [`ValidSpec::parse`] creates it.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidSpec {
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
    /// Variables of the app with a secret value.
    pub secret_env: Vec<String>,
    /// Requests and limits of the app.
    pub resources: WorkshopResources,
    /// Volume with the owner's files.
    pub storage: Option<WorkshopStorage>,
    /// Directory of the app whose files outlive a crash of the app. `None` with storage, whose files outlive it anyway.
    pub crash_safe_directory: Option<String>,
    /// Snapshot of the files at the end.
    pub snapshot: Option<WorkshopSnapshot>,
    /// Course material.
    pub material: Option<WorkshopMaterial>,
    /// Security profile of the app.
    pub profile: SecurityProfile,
}

impl ValidSpec {
    /// Validates a spec.
    ///
    /// # Errors
    /// A failure with the code `InvalidSpec`. Its message names the field and the valid values.
    pub fn parse(spec: &WorkshopSpec) -> Result<Self, FailureReason> {
        let owner = spec.owner_email().ok_or_else(|| invalid(FailureDetail::SpecOwner))?;
        ensure(is_image(&spec.image), FailureDetail::SpecImage)?;
        let app_type = spec.app_type().ok_or_else(|| invalid(FailureDetail::SpecAppType))?;
        ensure(spec.port != 0, FailureDetail::SpecPort)?;
        ensure(![SIDECAR_PORT, TELEMETRY_PORT].contains(&spec.port), FailureDetail::SpecPortReserved)?;
        let profile = spec.security_profile().ok_or_else(|| invalid(FailureDetail::SpecSecurityProfile))?;
        for name in spec.env.keys().chain(&spec.secret_env) {
            ensure(is_variable(name), FailureDetail::SpecVariable { name: format!("{name:?}") })?;
        }
        ensure(spec.lifetime_seconds > 0, FailureDetail::SpecLifetime)?;
        check_resources(&spec.resources)?;
        if let Some(storage) = &spec.storage {
            let WorkshopStorage { volume, size, path } = storage;
            let is_valid = is_k8s_name(volume) && is_mount_path(path) && Quantity::parse(size).is_ok();
            ensure(is_valid, FailureDetail::SpecStorage)?;
        }
        let crash_safe = spec.crash_safe_directory.as_deref();
        ensure(crash_safe.is_none_or(is_mount_path), FailureDetail::SpecCrashSafeDirectory)?;
        let directory = spec.snapshot.as_ref().and_then(|snapshot| snapshot.directory.as_deref());
        ensure(directory.is_none_or(is_mount_path), FailureDetail::SpecSnapshot)?;
        if let Some(material) = &spec.material {
            let storage = spec.storage.as_ref().map(|storage| &storage.path).or(spec.crash_safe_directory.as_ref());
            let is_of_storage = storage.is_none_or(|path| *path == material.directory);
            let is_valid = is_mount_path(&material.directory) && is_of_storage && material.has_valid_sources();
            ensure(is_valid, FailureDetail::SpecMaterial)?;
        }
        Ok(Self {
            owner,
            image: spec.image.clone(),
            app_type,
            port: spec.port,
            command: spec.command.clone(),
            args: spec.args.clone(),
            env: spec.env.clone(),
            secret_env: spec.secret_env.clone(),
            resources: spec.resources.clone(),
            storage: spec.storage.clone(),
            crash_safe_directory: spec.crash_safe_directory.clone().filter(|_| spec.storage.is_none()),
            snapshot: spec.snapshot.clone(),
            material: spec.material.clone(),
            profile,
        })
    }
}

/// Parses a quantity of the field `spec.resources.<field>`.
///
/// # Errors
/// A failure with the code `InvalidSpec`. Its message names the field.
pub fn parse_quantity(field: &str, text: &str) -> Result<Quantity, FailureReason> {
    Quantity::parse(text)
        .map_err(|error| invalid(FailureDetail::SpecQuantity { field: field.to_owned(), error: error.to_string() }))
}

/// Returns the failure of a Workshop with an invalid spec.
#[must_use]
pub fn invalid(detail: FailureDetail) -> FailureReason {
    FailureReason::new(FailureCode::InvalidSpec, Some(detail))
}

fn check_resources(resources: &WorkshopResources) -> Result<(), FailureReason> {
    let WorkshopResources { cpu_request, cpu_limit, memory_request, memory_limit } = resources;
    for (name, request, limit) in [("cpu", cpu_request, cpu_limit), ("memory", memory_request, memory_limit)] {
        let request = parse_quantity(&format!("{name}Request"), request)?;
        let limit = parse_quantity(&format!("{name}Limit"), limit)?;
        ensure(request.compare(&limit).is_le(), FailureDetail::SpecRequest { resource: name.to_owned() })?;
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

fn ensure(holds: bool, detail: FailureDetail) -> Result<(), FailureReason> {
    if holds { Ok(()) } else { Err(invalid(detail)) }
}
