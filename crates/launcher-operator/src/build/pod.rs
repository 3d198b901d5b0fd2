//! The pod: the app and the sidecar.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVar, LocalObjectReference, PodSecurityContext, PodSpec};
use launcher_domain::SecurityProfile;
use launcher_workshop::with_port;

use super::limits::{amounts, baseline, restricted, runtime_default};
use super::{isolation, preset, sidecar};
use crate::settings::{OperatorSettings, Placement};
use crate::validate::Validated;

/// The name of the app's container.
pub const APP_CONTAINER: &str = "app";
/// Termination grace period in seconds: covers the sidecar's preStop sleep and 25 s for its in-flight requests.
const TERMINATION_GRACE: i64 = 35;

pub(super) fn pod(workshop: &Validated, settings: &OperatorSettings) -> PodSpec {
    let secrets: Vec<_> =
        settings.pull_secrets.iter().map(|name| LocalObjectReference { name: name.clone() }).collect();
    let Placement { node_selector, tolerations } = settings.placement.clone();
    PodSpec {
        init_containers: settings.wait_for_isolation.map(|most| vec![isolation::container(settings, most)]),
        containers: vec![app(workshop, settings), sidecar::container(workshop, settings)],
        volumes: sidecar::volumes(settings),
        // Only `baseline` apps may be root in their container. In a user namespace that user has no rights on the node.
        host_users: (settings.user_namespaces && workshop.profile == SecurityProfile::Baseline).then_some(false),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        image_pull_secrets: (!secrets.is_empty()).then_some(secrets),
        security_context: Some(PodSecurityContext {
            seccomp_profile: Some(runtime_default()),
            ..PodSecurityContext::default()
        }),
        termination_grace_period_seconds: Some(TERMINATION_GRACE),
        node_selector: (!node_selector.is_empty()).then_some(node_selector),
        tolerations: (!tolerations.is_empty()).then_some(tolerations),
        ..PodSpec::default()
    }
}

fn app(workshop: &Validated, settings: &OperatorSettings) -> Container {
    let resources = &workshop.resources;
    let mut env = workshop.env.clone();
    env.insert("DISABLE_AUTH".to_owned(), "true".to_owned());
    env.insert("PORT".to_owned(), workshop.port.to_string());
    Container {
        name: APP_CONTAINER.to_owned(),
        image: Some(workshop.image.clone()),
        image_pull_policy: Some(settings.pull_policy.as_str().to_owned()),
        command: words(&with_port(&preset::command(workshop), workshop.port)),
        args: words(&with_port(&preset::args(workshop, settings), workshop.port)),
        env: Some(variables(env)),
        resources: Some(amounts(
            [&resources.cpu_request, &resources.memory_request],
            [&resources.cpu_limit, &resources.memory_limit],
        )),
        security_context: Some(match workshop.profile {
            SecurityProfile::Restricted => restricted(settings.run_as_user),
            SecurityProfile::Baseline => baseline(),
        }),
        ..Container::default()
    }
}

/// A command or its arguments; none if empty, so that the image's own apply.
fn words(words: &[String]) -> Option<Vec<String>> {
    (!words.is_empty()).then(|| words.iter().map(|word| literal(word)).collect())
}

pub(super) fn variables(env: BTreeMap<String, String>) -> Vec<EnvVar> {
    env.into_iter().map(|(name, value)| EnvVar { name, value: Some(literal(&value)), value_from: None }).collect()
}

/// Escapes `$`: Kubernetes expands `$(NAME)` in commands, arguments and values, and reads `$$` as `$`. Template text
/// stays data. `$(PORT)` is replaced earlier, as on any other fleet.
fn literal(text: &str) -> String {
    text.replace('$', "$$")
}
