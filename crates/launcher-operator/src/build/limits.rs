//! Security contexts and CPU and memory limits of the containers.

use k8s_openapi::api::core::v1::{Capabilities, ResourceRequirements, SeccompProfile, SecurityContext};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// User ID of the sidecar. The stock app images have no user with this ID.
pub(super) const SIDECAR_USER: i64 = 65532;
/// CPU and memory requests of the sidecar.
pub(super) const SIDECAR_REQUESTS: [&str; 2] = ["5m", "16Mi"];
/// CPU and memory limits of the sidecar. `launcher-sidecar/src/memory.rs` calculates the sidecar's maximum memory use.
/// A test there reads this line and checks that the limit is larger.
pub(super) const SIDECAR_LIMITS: [&str; 2] = ["1", "256Mi"];
/// Capabilities that stock images need to switch from root to an unprivileged user. Pod Security `baseline` allows
/// them.
const BASELINE_CAPABILITIES: [&str; 7] = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"];

pub(super) fn restricted(user: i64) -> SecurityContext {
    SecurityContext {
        run_as_non_root: Some(true),
        run_as_user: Some(user),
        privileged: Some(false),
        allow_privilege_escalation: Some(false),
        capabilities: Some(Capabilities { drop: Some(vec!["ALL".to_owned()]), add: None }),
        ..SecurityContext::default()
    }
}

pub(super) fn baseline() -> SecurityContext {
    SecurityContext {
        privileged: Some(false),
        allow_privilege_escalation: Some(false),
        capabilities: Some(Capabilities {
            drop: Some(vec!["ALL".to_owned()]),
            add: Some(BASELINE_CAPABILITIES.map(str::to_owned).into()),
        }),
        ..SecurityContext::default()
    }
}

pub(super) fn runtime_default() -> SeccompProfile {
    SeccompProfile { type_: "RuntimeDefault".to_owned(), localhost_profile: None }
}

pub(super) fn amounts<T: AsRef<str>>(requests: [T; 2], limits: [T; 2]) -> ResourceRequirements {
    let named = |[cpu, memory]: [T; 2]| {
        [("cpu", cpu), ("memory", memory)]
            .map(|(name, amount)| (name.to_owned(), Quantity(amount.as_ref().to_owned())))
            .into()
    };
    ResourceRequirements { requests: Some(named(requests)), limits: Some(named(limits)), claims: None }
}
