//! The part of a Workshop that describes the app, and the app's environment. Validation of a Workshop's spec, for the
//! fleets that run the app's image.

use std::collections::BTreeMap;

use launcher_domain::names::is_k8s_name;
use launcher_domain::quantity::Quantity;
use launcher_domain::template::is_mount_path;
use launcher_domain::{AppType, EmailAddress, FailureCode, FailureDetail, FailureReason, SecurityProfile};

use crate::app::sidecar::{SIDECAR_PORT, TELEMETRY_PORT};
use crate::material::WorkshopMaterial;
use crate::spec::{WorkshopResources, WorkshopSnapshot, WorkshopSpec, WorkshopStorage};

/// Environment variable that disables the login of stock RStudio images. They need no login, because the sidecar admits
/// only the owner.
const DISABLE_AUTH: &str = "DISABLE_AUTH";
/// Environment variable with the app's port.
const PORT: &str = "PORT";
/// Name prefix of the environment variables that configure launcher, operator and sidecar.
const SERVICE_PREFIX: &str = "SERVICE_";

/// The part of a Workshop that describes the app, and the port on which the app listens.
#[derive(Debug, Clone, Copy)]
pub struct AppSpec<'a> {
    /// App type.
    pub app_type: AppType,
    /// Image reference. [`AppSpec::process_command`] does not use it.
    pub image: &'a str,
    /// Port of the app: the template's port in a container, or a port that the local fleet allocates.
    pub port: u16,
    /// The template's command; empty for the default of the app type.
    pub command: &'a [String],
    /// The template's arguments; empty for the default of the app type.
    pub args: &'a [String],
    /// The template's environment.
    pub env: &'a BTreeMap<String, String>,
}

impl AppSpec<'_> {
    /// Returns the template's variables, with `PORT` and `DISABLE_AUTH`. A template cannot override these two. The
    /// values are not expanded.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let mut environment = self.env.clone();
        environment.insert(PORT.to_owned(), self.port.to_string());
        environment.insert(DISABLE_AUTH.to_owned(), "true".to_owned());
        environment
    }

    /// Replaces `$(PORT)` in a command or in arguments by the app's port.
    pub(super) fn with_port(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| word.replace("$(PORT)", &self.port.to_string())).collect()
    }
}

/// True if templates may not set this environment variable.
#[must_use]
pub fn is_reserved_variable(name: &str) -> bool {
    name == DISABLE_AUTH || name.starts_with(SERVICE_PREFIX)
}

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
