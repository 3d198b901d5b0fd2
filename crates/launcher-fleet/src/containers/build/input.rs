//! Common input of the builders of both containers: the settings and the validated Workshop.

use std::collections::BTreeMap;
use std::path::Path;

use launcher_domain::{FailureDetail, FailureReason, SecretValues, names as domain_names};
use launcher_workshop::app::{ValidSpec, invalid};
use launcher_workshop::{ResourceExt, Workshop};

use crate::containers::engine::ProcessLimits;
use crate::containers::settings::ContainerOptions;
use crate::machine::OriginSettings;

/// Settings of the fleet and of one Workshop that its containers depend on.
#[derive(Debug, Clone, Copy)]
pub struct BuildSettings<'a> {
    /// Identifier of the fleet's containers.
    pub fleet_id: &'a str,
    /// Identity of the fleet to which the volumes belong.
    pub volumes_of: &'a str,
    pub options: &'a ContainerOptions,
    pub origins: &'a OriginSettings,
    pub sidecar_user: u32,
    pub limits_disk: bool,
    /// The seccomp profile, as a security option of the engine.
    pub seccomp: &'a str,
    pub process_limits: ProcessLimits,
    /// Values of the variables of the app in `spec.secretEnv`.
    pub secrets: &'a SecretValues,
    /// Directory of this machine with the sidecar's sockets.
    pub run_dir: &'a Path,
    /// Directory of this machine with the sidecar's files: `expires-at`.
    pub config_dir: &'a Path,
    /// Directory of this machine with the secrets of the course material.
    pub secrets_dir: &'a Path,
}

pub(super) struct Validated {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) spec: ValidSpec,
}

pub(super) fn validate(workshop: &Workshop) -> Result<Validated, FailureReason> {
    let name = workshop.name_any();
    if !domain_names::is_k8s_name(&name) {
        return Err(invalid(FailureDetail::SpecName));
    }
    let uid = workshop.uid().ok_or_else(|| invalid(FailureDetail::SpecUid))?;
    Ok(Validated { name, uid, spec: ValidSpec::parse(&workshop.spec)? })
}

pub(super) fn variables(env: BTreeMap<String, String>) -> Vec<String> {
    env.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}
