//! Builds the pod of a Workshop. It has the name of its Workshop, so that the API server never accepts a second one.
//!
//! Its containers are the app, the sidecar, and with a snapshot the one that sends the files.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Container, LocalObjectReference, Pod, PodSecurityContext, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_domain::SecurityProfile;
use launcher_workshop::app::{ContainerCommand, SIDECAR_REQUESTS};

use super::container::{amounts, app_security, own_container, runtime_default, secret_variables, variables, words};
use super::digest::{SPEC_DIGEST, TEMPLATE_DIGEST, metadata};
use super::sidecar::sidecar_user;
use super::{archive, digest, material, pod_template, sidecar, storage};
use crate::metadata::{CRASHES, CrashRecord, EXPIRES_AT, LAST_CRASH, RESTARTED_AT, VOLUME_LABEL};
use crate::settings::OperatorSettings;
use crate::validate::{Validated, permitted};

pub use launcher_workshop::pod_template::APP_CONTAINER;

/// Termination grace period, in seconds: 5 for the sidecar's preStop sleep, 25 for its in-flight requests, and 5 spare.
const TERMINATION_GRACE: i64 = 35;
/// Annotations that forbid the cluster autoscaler and Karpenter to remove a node while a workshop runs on it. The work
/// in the workshop's memory would be lost.
const NO_EVICTION: [(&str, &str); 2] =
    [("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), ("karpenter.sh/do-not-disrupt", "true")];
/// Empty expiry annotation. The digest of the pod is computed with it, so the digest does not depend on the expiry.
const NO_EXPIRY: (&str, &str) = (EXPIRES_AT, "");
/// Annotation without a crash, for the frame page.
const NO_CRASH: (&str, &str) = (LAST_CRASH, "");
/// The name of the init container that waits for the network policies.
pub const ISOLATION_CONTAINER: &str = "isolation";
/// Exit code of `launcher-sidecar wait-isolated` if the pod can still connect to the API server at the timeout.
pub const NOT_ISOLATED: i32 = 3;

pub(super) fn pod(workshop: &Validated, settings: &OperatorSettings) -> Pod {
    let spec = pod_spec(workshop, settings);
    let annotations: BTreeMap<String, String> = NO_EVICTION
        .into_iter()
        .chain([NO_EXPIRY, NO_CRASH])
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut own = ObjectMeta { annotations: Some(annotations), ..metadata(workshop) };
    if let Some(storage) = &workshop.spec.storage {
        own.labels.get_or_insert_default().insert(VOLUME_LABEL.to_owned(), storage.volume.clone());
    }
    let mut metadata = match permitted(workshop, settings) {
        Some(template) => pod_template::merge_metadata(own, template),
        None => own,
    };
    let annotations = metadata.annotations.get_or_insert_default();
    let template = digest::of_template(annotations, &spec);
    annotations.insert(SPEC_DIGEST.to_owned(), digest::of(workshop));
    annotations.insert(TEMPLATE_DIGEST.to_owned(), template);
    let lifetime = || relative_expiry(workshop.spec.lifetime_seconds);
    annotations.insert(EXPIRES_AT.to_owned(), workshop.expiry.map_or_else(lifetime, |expiry| expiry.to_string()));
    annotations.extend(crash_record(workshop, settings).map(|record| (CRASHES.to_owned(), record.to_text())));
    if let Some(restarted_at) = workshop.spec.restarted_at {
        annotations.insert(RESTARTED_AT.to_owned(), restarted_at.to_string());
    }
    Pod { metadata, spec: Some(spec), status: None }
}

/// Returns the parts of every pod: those from the settings, and the absence of other access to the cluster.
pub(super) fn of_settings(settings: &OperatorSettings) -> PodSpec {
    let secrets: Vec<_> =
        settings.image_pull_secrets.iter().map(|name| LocalObjectReference { name: name.clone() }).collect();
    let (node_selector, tolerations) = (settings.node_selector.clone(), settings.tolerations.clone());
    PodSpec {
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        image_pull_secrets: (!secrets.is_empty()).then_some(secrets),
        node_selector: (!node_selector.is_empty()).then_some(node_selector),
        tolerations: (!tolerations.is_empty()).then_some(tolerations),
        ..PodSpec::default()
    }
}

fn pod_spec(workshop: &Validated, settings: &OperatorSettings) -> PodSpec {
    let kept = workshop.spec.storage.as_ref();
    let volumes =
        [sidecar::volumes(settings), storage::volumes(workshop, settings), material::volumes(workshop, settings)];
    let security_context =
        PodSecurityContext { seccomp_profile: Some(runtime_default()), ..PodSecurityContext::default() };
    let own = PodSpec {
        init_containers: init_containers(workshop, settings),
        containers: containers(workshop, settings),
        volumes: Some(volumes.concat()),
        // Only `baseline` apps may run as root. A user namespace removes the rights of that root user on the node.
        host_users: (settings.user_namespaces && workshop.spec.profile == SecurityProfile::Baseline).then_some(false),
        security_context: Some(match kept {
            Some(_) => storage::with_group(security_context, settings),
            None => security_context,
        }),
        termination_grace_period_seconds: Some(TERMINATION_GRACE),
        ..of_settings(settings)
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
    both.into_iter().chain(archive::snapshot_container(workshop, settings)).collect()
}

/// Returns the operator's init containers. Saved files and material are loaded after the network policies are enforced. Saved
/// files replace those of the image, and material is merged with both.
fn init_containers(workshop: &Validated, settings: &OperatorSettings) -> Option<Vec<Container>> {
    let isolation = settings.isolation_wait().map(|most| isolation_container(settings, most));
    let files = storage::copy_containers(workshop, settings);
    let saved = archive::saved_files_container(workshop, settings);
    let material = material::container(workshop, settings);
    let containers: Vec<_> = isolation.into_iter().chain(files).chain(saved).chain(material).collect();
    (!containers.is_empty()).then_some(containers)
}

fn app(workshop: &Validated, settings: &OperatorSettings) -> Container {
    let spec = &workshop.spec;
    let app = spec.app(&settings.origin(&workshop.name));
    let ContainerCommand { command, args } = app.container_command();
    let mounts: Vec<_> =
        storage::mount(workshop, settings).into_iter().chain(material::app_mounts(workshop, settings)).collect();
    Container {
        name: APP_CONTAINER.to_owned(),
        image: Some(spec.image.clone()),
        image_pull_policy: Some(settings.image_pull_policy.as_str().to_owned()),
        command: words(&command),
        args: words(&args),
        env: Some([variables(app.environment()), secret_variables(&workshop.name, &spec.secret_env)].concat()),
        resources: Some(amounts(
            [&spec.resources.cpu_request, &spec.resources.memory_request],
            [&spec.resources.cpu_limit, &spec.resources.memory_limit],
        )),
        volume_mounts: (!mounts.is_empty()).then_some(mounts),
        security_context: Some(app_security(spec.profile, settings)),
        ..Container::default()
    }
}

/// Returns the value of the annotation [`EXPIRES_AT`] for a workshop that expires this number of seconds after it was first
/// ready. The sidecar reads this form.
pub(crate) fn relative_expiry(lifetime_seconds: u32) -> String {
    format!("+{lifetime_seconds}")
}

/// Returns the record of crashes if files of the pod outlive a crash of the app. With course material alone, only the files in
/// its directories do.
fn crash_record(workshop: &Validated, settings: &OperatorSettings) -> Option<CrashRecord> {
    if workshop.spec.storage.is_some() {
        return None;
    }
    let is_crash_safe = storage::crash_safe_directory(workshop, settings).is_some();
    (is_crash_safe || material::placed(workshop, settings).is_some()).then(|| CrashRecord::new(!is_crash_safe))
}

/// Builds the init container that delays the app until the cluster enforces the pod's network policies. Some network plugins
/// enforce them only a moment after the pod has its address. Until then, an app could reach other pods, the kubelet and the
/// API server. The container waits at most `most` until it cannot connect to the API server any more, because the
/// network policies forbid that connection.
fn isolation_container(settings: &OperatorSettings, most: Duration) -> Container {
    let timeout = ("SERVICE_ISOLATION_TIMEOUT".to_owned(), most.as_secs().to_string());
    Container {
        args: Some(vec!["wait-isolated".to_owned()]),
        env: Some(variables([timeout].into())),
        // The same requests as the sidecar's. The init container ends before the sidecar starts, so these requests do
        // not increase the pod's requests.
        resources: Some(amounts(SIDECAR_REQUESTS, ["1", "32Mi"])),
        ..own_container(ISOLATION_CONTAINER, sidecar_user(settings), settings)
    }
}
