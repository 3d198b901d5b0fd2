//! Security contexts and CPU and memory limits of the containers.

use k8s_openapi::api::core::v1::{Capabilities, ResourceRequirements, SeccompProfile, SecurityContext};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use launcher_domain::SecurityProfile;
use launcher_workshop::app::BASELINE_CAPABILITIES;

use crate::settings::OperatorSettings;

/// Security context without root and without capabilities. Without `user`, the cluster assigns the user ID.
pub(super) fn restricted(user: Option<i64>) -> SecurityContext {
    SecurityContext {
        run_as_non_root: Some(true),
        run_as_user: user,
        privileged: Some(false),
        allow_privilege_escalation: Some(false),
        capabilities: Some(Capabilities { drop: Some(vec!["ALL".to_owned()]), add: None }),
        ..SecurityContext::default()
    }
}

/// Returns the security context of the app.
pub(super) fn app_security(profile: SecurityProfile, settings: &OperatorSettings) -> SecurityContext {
    match profile {
        SecurityProfile::Restricted => restricted(settings.run_as_user),
        SecurityProfile::Baseline => baseline(),
    }
}

fn baseline() -> SecurityContext {
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
