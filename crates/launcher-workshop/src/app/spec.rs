//! The part of a Workshop that describes the app, and the app's environment. Validation of a Workshop's spec, for the
//! fleets that run the app's image.

use std::collections::BTreeMap;
use std::ops::Deref;

use launcher_domain::local_path::LocalPath;
use launcher_domain::names::is_k8s_name;
use launcher_domain::quantity::Quantity;
use launcher_domain::template::{
    DISABLE_AUTH, PORT, WORKSHOP_HOST, WORKSHOP_ORIGIN, WORKSHOP_URL, is_identifier, is_image, is_mount_path,
    is_reserved_variable,
};
use launcher_domain::{AppType, EmailAddress, FailureCode, FailureDetail, FailureReason, SecurityProfile};

use crate::app::sidecar::{SIDECAR_PORT, TELEMETRY_PORT};
use crate::spec::{WorkshopResources, WorkshopSpec, WorkshopStorage};

/// The app of a Workshop. What the fleets pass to the app is derived here from the spec, so no fleet lists its fields.
#[derive(Debug, Clone)]
pub struct AppSpec<'a> {
    pub(super) app_type: AppType,
    /// Port of the app: the template's port in a container, or a port that the local fleet allocates.
    pub(super) port: u16,
    /// Origin of the workshop, without a slash at its end: `https://intro-abcdefghij.example.org`.
    pub(super) origin: String,
    pub(super) spec: &'a WorkshopSpec,
}

impl<'a> AppSpec<'a> {
    /// Returns the app of a Workshop that listens on this port; `None` if the app type is unknown. `origin` is the origin
    /// of the workshop, with or without a slash at its end.
    #[must_use]
    pub fn of(spec: &'a WorkshopSpec, port: u16, origin: &str) -> Option<Self> {
        Some(Self::new(spec, spec.app_type()?, port, origin))
    }

    fn new(spec: &'a WorkshopSpec, app_type: AppType, port: u16, origin: &str) -> Self {
        Self { app_type, port, origin: origin.trim_end_matches('/').to_owned(), spec }
    }

    /// Returns the template's variables, expanded, with those that the service sets. A template cannot override them.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let start_path = self.spec.start_path.as_deref().unwrap_or("/");
        let own = [
            (PORT, self.port.to_string()),
            (WORKSHOP_HOST, self.host().to_owned()),
            (WORKSHOP_ORIGIN, self.origin.clone()),
            (WORKSHOP_URL, format!("{}{start_path}", self.origin)),
            (DISABLE_AUTH, "true".to_owned()),
        ];
        let template = self.spec.env.iter().map(|(name, value)| (name.clone(), self.expand(value)));
        template.chain(own.map(|(name, value)| (name.to_owned(), value))).collect()
    }

    /// Returns the host of the workshop, with its port if that is not the default of the scheme.
    fn host(&self) -> &str {
        self.origin.split_once("://").map_or(&*self.origin, |(_, host)| host)
    }

    /// Replaces `$(PORT)`, `$(HOST)` and `$(ORIGIN)` by the app's port, and the workshop's host and origin.
    fn expand(&self, text: &str) -> String {
        let references = [("$(PORT)", &*self.port.to_string()), ("$(HOST)", self.host()), ("$(ORIGIN)", &self.origin)];
        references.into_iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    pub(super) fn expand_all(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| self.expand(word)).collect()
    }
}

/// A validated spec. Only [`ValidSpec::parse`] creates it. The fields without a type of their own are those of the
/// [`WorkshopSpec`].
#[derive(Debug, Clone, PartialEq)]
pub struct ValidSpec {
    /// E-mail address of the owner, the only user that the sidecar admits.
    pub owner: EmailAddress,
    pub app_type: AppType,
    pub profile: SecurityProfile,
    /// The spec, without a crash-safe directory if it has storage, whose files outlive a crash anyway.
    spec: WorkshopSpec,
}

impl Deref for ValidSpec {
    type Target = WorkshopSpec;

    fn deref(&self) -> &WorkshopSpec {
        &self.spec
    }
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
        let is_of_app = |path: &str| LocalPath::parse_of_app(path).is_some();
        ensure(spec.start_path.as_deref().is_none_or(is_of_app), FailureDetail::SpecStartPath)?;
        let profile = spec.security_profile().ok_or_else(|| invalid(FailureDetail::SpecSecurityProfile))?;
        for name in spec.env.keys().chain(&spec.secret_env) {
            ensure(
                is_identifier(name) && !is_reserved_variable(name),
                FailureDetail::SpecVariable { name: format!("{name:?}") },
            )?;
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
        let crash_safe_directory = spec.crash_safe_directory.clone().filter(|_| spec.storage.is_none());
        Ok(Self { owner, app_type, profile, spec: WorkshopSpec { crash_safe_directory, ..spec.clone() } })
    }

    /// Returns the app in its container. `origin` is the origin of the workshop.
    #[must_use]
    pub fn app(&self, origin: &str) -> AppSpec<'_> {
        AppSpec::new(&self.spec, self.app_type, self.port, origin)
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

/// Fails with this detail unless the condition holds.
///
/// # Errors
/// A failure with the code `InvalidSpec`.
pub fn ensure(holds: bool, detail: FailureDetail) -> Result<(), FailureReason> {
    if holds { Ok(()) } else { Err(invalid(detail)) }
}
