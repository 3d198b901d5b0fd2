//! Builds the pod with its containers: app, sidecar, and with a snapshot the one that sends the files.

use k8s_openapi::api::core::v1::{Container, LocalObjectReference, PodSecurityContext, PodSpec, Volume};
use launcher_domain::SecurityProfile;
use launcher_workshop::app::{AppSpec, ContainerCommand, ValidSpec};
pub use launcher_workshop::pod_template::APP_CONTAINER;

use super::limits::{amounts, app_security, runtime_default};
use super::literal::{secret_variables, variables, words};
use super::{crash_safe, isolation, material, pod_template, sidecar, snapshot, storage};
use crate::pod_policy::permitted;
use crate::settings::{OperatorSettings, Placement};
use crate::validate::Validated;

/// Termination grace period, in seconds: 5 for the sidecar's preStop sleep, 25 for its in-flight requests, and 5 spare.
const TERMINATION_GRACE: i64 = 35;

pub(super) fn pod(workshop: &Validated, settings: &OperatorSettings) -> PodSpec {
    let secrets: Vec<_> =
        settings.pull_secrets.iter().map(|name| LocalObjectReference { name: name.clone() }).collect();
    let Placement { node_selector, tolerations } = settings.placement.clone();
    let kept = workshop.spec.storage.as_ref();
    let security_context =
        PodSecurityContext { seccomp_profile: Some(runtime_default()), ..PodSecurityContext::default() };
    let own = PodSpec {
        init_containers: init_containers(workshop, settings),
        containers: containers(workshop, settings),
        volumes: Some(volumes(workshop, settings)),
        // Only `baseline` apps may run as root. A user namespace removes the rights of that root user on the node.
        host_users: (settings.user_namespaces && workshop.spec.profile == SecurityProfile::Baseline).then_some(false),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        image_pull_secrets: (!secrets.is_empty()).then_some(secrets),
        security_context: Some(match kept {
            Some(_) => storage::with_group(security_context, settings),
            None => security_context,
        }),
        termination_grace_period_seconds: Some(TERMINATION_GRACE),
        node_selector: (!node_selector.is_empty()).then_some(node_selector),
        tolerations: (!tolerations.is_empty()).then_some(tolerations),
        ..PodSpec::default()
    };
    let merged = match permitted(workshop, settings) {
        Some(template) => pod_template::merge_spec(own, template),
        None => own,
    };
    if material::placed(workshop, settings).is_some() { material::with_group(merged, settings) } else { merged }
}

/// Returns the containers, in the order in which they start.
fn containers(workshop: &Validated, settings: &OperatorSettings) -> Vec<Container> {
    let both = [app(workshop, settings), sidecar::container(workshop, settings)];
    both.into_iter().chain(snapshot::container(workshop, settings)).collect()
}

/// Returns the operator's init containers. Material is loaded after the network policies are enforced, and beside the files
/// of the image.
fn init_containers(workshop: &Validated, settings: &OperatorSettings) -> Option<Vec<Container>> {
    let isolation = settings.wait_for_isolation.map(|most| isolation::container(settings, most));
    let files = crash_safe::containers(workshop, settings);
    let containers: Vec<_> =
        isolation.into_iter().chain(files).chain(material::container(workshop, settings)).collect();
    (!containers.is_empty()).then_some(containers)
}

fn volumes(workshop: &Validated, settings: &OperatorSettings) -> Vec<Volume> {
    let kept = workshop.spec.storage.as_ref().map(storage::volume);
    let files = kept.into_iter().chain(crash_safe::volumes(workshop, settings));
    sidecar::volumes(settings).into_iter().chain(files).chain(material::volumes(workshop, settings)).collect()
}

fn app(workshop: &Validated, settings: &OperatorSettings) -> Container {
    let ValidSpec { app_type, image, port, command, args, env, secret_env, resources, storage, profile, .. } =
        &workshop.spec;
    let app = AppSpec { app_type: *app_type, image, port: *port, command, args, env };
    let ContainerCommand { command, args } = app.container_command(&settings.origin(&workshop.name));
    let kept = storage.as_ref().map(storage::mount);
    let files = kept.or_else(|| crash_safe::directory(workshop, settings).map(crash_safe::mount));
    let mounts: Vec<_> = files.into_iter().chain(material::app_mounts(workshop, settings)).collect();
    Container {
        name: APP_CONTAINER.to_owned(),
        image: Some(image.clone()),
        image_pull_policy: Some(settings.pull_policy.as_str().to_owned()),
        command: words(&command),
        args: words(&args),
        env: Some([variables(app.environment()), secret_variables(&workshop.name, secret_env)].concat()),
        resources: Some(amounts(
            [&resources.cpu_request, &resources.memory_request],
            [&resources.cpu_limit, &resources.memory_limit],
        )),
        volume_mounts: (!mounts.is_empty()).then_some(mounts),
        security_context: Some(app_security(*profile, settings)),
        ..Container::default()
    }
}
