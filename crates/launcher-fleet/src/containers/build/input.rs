//! Common input of the builders of both containers: the settings and the validated Workshop.

use std::collections::BTreeMap;
use std::path::Path;

use launcher_domain::brand::Brand;
use launcher_domain::{FailureDetail, FailureReason, SecretValues, names as domain_names};
use launcher_workshop::app::{ValidSpec, invalid};
use launcher_workshop::{ResourceExt, Workshop};

use crate::containers::engine::ProcessLimits;

/// Settings of the fleet and of one Workshop that its containers depend on.
#[derive(Debug, Clone, Copy)]
pub struct BuildSettings<'a> {
    /// Identifier of the fleet's containers.
    pub fleet_id: &'a str,
    /// Identity of the fleet to which the volumes belong.
    pub volumes_of: &'a str,
    /// Image of the sidecar.
    pub sidecar_image: &'a str,
    /// Image of the program that places course material; `None`: workshops have no material.
    pub material_image: Option<&'a str>,
    /// User ID of the sidecar.
    pub sidecar_user: u32,
    /// User ID for apps with the profile `restricted`. Never 0, because 0 is root.
    pub run_as_user: u32,
    /// True if workshops may connect to the internet.
    pub internet: bool,
    /// True if the engine can limit the disk space of a container.
    pub limits_disk: bool,
    /// The seccomp profile, as a security option of the engine.
    pub seccomp: &'a str,
    /// Limits of a process on the engine's machine.
    pub process_limits: ProcessLimits,
    /// True if only the owner has access. False admits every request, for development only.
    pub require_authentication: bool,
    /// Header with the caller's identity.
    pub trusted_header: &'a str,
    /// Name prefix of the auth proxy's cookies, which the sidecar removes from requests to the app.
    pub session_cookie_prefix: &'a str,
    /// Origin of the workshop, without a slash at the end.
    pub origin: &'a str,
    /// URL of the launcher's page of this workshop.
    pub workshop_page: Option<&'a str>,
    /// The brand that the sidecar shows.
    pub brand: &'a Brand,
    /// Values of the variables of the app in `spec.secretEnv`.
    pub secrets: &'a SecretValues,
    /// Directory of this machine with the sidecar's sockets.
    pub run_dir: &'a Path,
    /// Directory of this machine with the sidecar's files: `expires-at`.
    pub config_dir: &'a Path,
    /// Directory of this machine with the secrets of the course material.
    pub secrets_dir: &'a Path,
}

/// The validated Workshop of both containers.
pub(super) struct Validated {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) spec: ValidSpec,
}

/// Validates a Workshop. The failure names the invalid field.
pub(super) fn validate(workshop: &Workshop) -> Result<Validated, FailureReason> {
    let name = workshop.name_any();
    if !domain_names::is_k8s_name(&name) {
        return Err(invalid(FailureDetail::SpecName));
    }
    let uid = workshop.uid().ok_or_else(|| invalid(FailureDetail::SpecUid))?;
    Ok(Validated { name, uid, spec: ValidSpec::parse(&workshop.spec)? })
}

/// Converts environment variables to the form of the engine's API.
pub(super) fn variables(env: BTreeMap<String, String>) -> Vec<String> {
    env.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}
