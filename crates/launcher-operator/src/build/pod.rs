//! The pod: the app, and in front of it the sidecar.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Capabilities, Container, ContainerPort, EnvVar, HTTPGetAction, Lifecycle, LifecycleHandler, LocalObjectReference,
    PodSecurityContext, PodSpec, Probe, ResourceRequirements, SeccompProfile, SecurityContext, SleepAction,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use launcher_domain::SecurityProfile;
use launcher_workshop::with_port;

use super::preset;
use crate::settings::{OperatorSettings, Placement};
use crate::validate::Validated;

/// The name of the app's container.
pub const APP_CONTAINER: &str = "app";
/// The name of the sidecar's container.
pub const SIDECAR_CONTAINER: &str = "sidecar";
/// Where the sidecar listens for its owner.
pub(super) const SIDECAR_PORT: i32 = 8080;
/// Where the sidecar answers probes.
const TELEMETRY_PORT: i32 = 8081;
/// The user of the sidecar: nobody that an image knows.
const SIDECAR_USER: i64 = 65532;
/// How long the sidecar goes on as if nothing were, when its pod ends, in seconds: until those in front have heard that the
/// pod is no longer theirs to ask. An app that does not stop with it could listen in its place, and would be sent whatever
/// still comes.
const SIDECAR_STAYS: i64 = 5;
/// In seconds: after that the sidecar gives requests under way another 25.
const TERMINATION_GRACE: i64 = 35;
/// What a stock image that starts as root needs in order to step down to its user; Pod Security `baseline` allows these.
const BASELINE_CAPABILITIES: [&str; 7] = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"];

pub(super) fn pod(workshop: &Validated, settings: &OperatorSettings) -> PodSpec {
    let secrets: Vec<_> =
        settings.pull_secrets.iter().map(|name| LocalObjectReference { name: name.clone() }).collect();
    let Placement { node_selector, tolerations } = settings.placement.clone();
    PodSpec {
        containers: vec![app(workshop, settings), sidecar(workshop, settings)],
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
        command: words(&with_port(&workshop.command, workshop.port)),
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

fn sidecar(workshop: &Validated, settings: &OperatorSettings) -> Container {
    let sidecar = &settings.sidecar;
    let env = [
        ("SERVICE_OWNER_EMAIL", workshop.owner.to_string()),
        ("SERVICE_APP_PORT", workshop.port.to_string()),
        ("SERVICE_REQUIRE_AUTHENTICATION", sidecar.require_authentication.to_string()),
        ("SERVICE_TRUSTED_AUTH_HEADER", sidecar.trusted_auth_header.clone()),
        ("SERVICE_SESSION_COOKIE_PREFIX", sidecar.session_cookie_prefix.clone()),
    ];
    let ports = [("http", SIDECAR_PORT), ("telemetry", TELEMETRY_PORT)].map(|(name, port)| ContainerPort {
        name: Some(name.to_owned()),
        container_port: port,
        protocol: Some("TCP".to_owned()),
        ..ContainerPort::default()
    });
    Container {
        name: SIDECAR_CONTAINER.to_owned(),
        image: Some(sidecar.image.clone()),
        image_pull_policy: Some(settings.pull_policy.as_str().to_owned()),
        env: Some(variables(env.map(|(name, value)| (name.to_owned(), value)).into())),
        ports: Some(ports.into()),
        // A workshop is ready when its app answers, which the sidecar asks; every second, because somebody waits.
        readiness_probe: Some(probe("/readyz", 1, 3)),
        liveness_probe: Some(probe("/healthz", 20, 3)),
        lifecycle: Some(Lifecycle {
            pre_stop: Some(LifecycleHandler {
                sleep: Some(SleepAction { seconds: SIDECAR_STAYS }),
                ..LifecycleHandler::default()
            }),
            ..Lifecycle::default()
        }),
        // At most: a thousand connections, each with a head of 64 KiB that is not complete.
        resources: Some(amounts(["5m", "16Mi"], ["1", "256Mi"])),
        security_context: Some(SecurityContext { read_only_root_filesystem: Some(true), ..restricted(SIDECAR_USER) }),
        ..Container::default()
    }
}

fn probe(path: &str, period: i32, failures: i32) -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some(path.to_owned()),
            port: IntOrString::Int(TELEMETRY_PORT),
            scheme: Some("HTTP".to_owned()),
            ..HTTPGetAction::default()
        }),
        period_seconds: Some(period),
        timeout_seconds: Some(2),
        success_threshold: Some(1),
        failure_threshold: Some(failures),
        ..Probe::default()
    }
}

fn restricted(user: i64) -> SecurityContext {
    SecurityContext {
        run_as_non_root: Some(true),
        run_as_user: Some(user),
        privileged: Some(false),
        allow_privilege_escalation: Some(false),
        capabilities: Some(Capabilities { drop: Some(vec!["ALL".to_owned()]), add: None }),
        ..SecurityContext::default()
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

fn runtime_default() -> SeccompProfile {
    SeccompProfile { type_: "RuntimeDefault".to_owned(), localhost_profile: None }
}

fn amounts<T: AsRef<str>>(requests: [T; 2], limits: [T; 2]) -> ResourceRequirements {
    let named = |[cpu, memory]: [T; 2]| {
        [("cpu", cpu), ("memory", memory)]
            .map(|(name, amount)| (name.to_owned(), Quantity(amount.as_ref().to_owned())))
            .into()
    };
    ResourceRequirements { requests: Some(named(requests)), limits: Some(named(limits)), claims: None }
}

/// The words of a command; none when there are none, so that the image's own stay.
fn words(words: &[String]) -> Option<Vec<String>> {
    (!words.is_empty()).then(|| words.iter().map(|word| literal(word)).collect())
}

fn variables(env: BTreeMap<String, String>) -> Vec<EnvVar> {
    env.into_iter().map(|(name, value)| EnvVar { name, value: Some(literal(&value)), value_from: None }).collect()
}

/// Kubernetes expands `$(NAME)` in commands, arguments and values, and reads `$$` as `$`. What an admin wrote stays data;
/// `$(PORT)` is replaced before, as on any other fleet.
fn literal(text: &str) -> String {
    text.replace('$', "$$")
}
