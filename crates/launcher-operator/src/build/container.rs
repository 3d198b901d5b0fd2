//! Parts of every container: security context, CPU and memory, and escaped commands, arguments and variables.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Capabilities, Container, ContainerPort, EnvVar, EnvVarSource, ResourceRequirements, SeccompProfile,
    SecretKeySelector, SecurityContext, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use launcher_domain::SecurityProfile;
use launcher_workshop::app::BASELINE_CAPABILITIES;
use launcher_workshop::{parameter_key, parameters_secret};

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

/// Builds a container of the operator's own, with a read-only root file system and without root.
pub(super) fn own_container(name: &str, user: Option<i64>, settings: &OperatorSettings) -> Container {
    let security = SecurityContext { read_only_root_filesystem: Some(true), ..restricted(user) };
    Container {
        name: name.to_owned(),
        image: Some(settings.sidecar_image.clone()),
        image_pull_policy: Some(settings.image_pull_policy.as_str().to_owned()),
        security_context: Some(security),
        ..Container::default()
    }
}

pub(super) fn port(name: Option<&str>, port: u16) -> ContainerPort {
    ContainerPort {
        name: name.map(str::to_owned),
        container_port: port.into(),
        protocol: Some("TCP".to_owned()),
        ..ContainerPort::default()
    }
}

pub(super) fn mount(volume: &str, path: &str) -> VolumeMount {
    VolumeMount { name: volume.to_owned(), mount_path: path.to_owned(), ..VolumeMount::default() }
}

pub(super) fn read_only_mount(volume: &str, path: &str) -> VolumeMount {
    VolumeMount { read_only: Some(true), ..mount(volume, path) }
}

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

/// Escapes a command or its arguments. Returns `None` for an empty list, so that the image's default applies.
pub(super) fn words(words: &[String]) -> Option<Vec<String>> {
    (!words.is_empty()).then(|| words.iter().map(|word| literal(word)).collect())
}

/// Converts environment variables to the form of a container, with escaped values.
pub(super) fn variables(env: BTreeMap<String, String>) -> Vec<EnvVar> {
    env.into_iter().map(|(name, value)| EnvVar { name, value: Some(literal(&value)), value_from: None }).collect()
}

/// Returns variables whose values are in the Secret of the launch parameters. The pod does not start without it.
pub(super) fn secret_variables(workshop: &str, names: &[String]) -> Vec<EnvVar> {
    let selector = |name: &String| SecretKeySelector {
        name: parameters_secret(workshop),
        key: parameter_key(name),
        optional: Some(false),
    };
    let source = |name| EnvVarSource { secret_key_ref: Some(selector(name)), ..EnvVarSource::default() };
    let variable = |name| EnvVar { name: String::clone(name), value: None, value_from: Some(source(name)) };
    names.iter().map(variable).collect()
}

/// Escapes `$` as `$$`. Kubernetes expands `$(NAME)` in commands, arguments and values, and reads `$$` as `$`. The
/// supported references, such as `$(PORT)`, were replaced before, in the same way for all fleets.
fn literal(text: &str) -> String {
    text.replace('$', "$$")
}
