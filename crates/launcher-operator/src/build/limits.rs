//! What containers may use and do: security contexts, CPU and memory.

use k8s_openapi::api::core::v1::{Capabilities, ResourceRequirements, SeccompProfile, SecurityContext};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// The user of the sidecar: nobody that an image knows.
pub(super) const SIDECAR_USER: i64 = 65532;
/// CPU and memory set aside for the sidecar.
pub(super) const SIDECAR_REQUESTS: [&str; 2] = ["5m", "16Mi"];
/// CPU and memory that the sidecar may use at most. Its worst case is below, by the arithmetic of `launcher-sidecar`'s
/// `memory.rs`, where a test reads this line.
pub(super) const SIDECAR_LIMITS: [&str; 2] = ["1", "256Mi"];
/// What a stock image that starts as root needs in order to step down to its user; Pod Security `baseline` allows these.
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
