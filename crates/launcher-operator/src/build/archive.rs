//! Builds what exchanges files with the launcher. The program `launcher-sidecar archive` reads a volume. It is the only container
//! of the pod of a WorkshopDownload, and a container of the pod of a Workshop with a snapshot. The program `launcher-material
//! receive` places saved files in the pod of a Workshop that starts with them.

use k8s_openapi::api::core::v1::{
    Affinity, Container, HTTPGetAction, Pod, PodAffinity, PodAffinityTerm, PodSecurityContext, PodSpec, Probe,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, OwnerReference};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::{Resource, ResourceExt};
use launcher_workshop::WorkshopDownload;
use launcher_workshop::app::{SIDECAR_PORT, SIDECAR_REQUESTS};
use launcher_workshop::pod_template::{CRASH_SAFE_VOLUME, SAVED_FILES, SNAPSHOT, STORAGE_VOLUME};

use super::container::{amounts, own_container, read_only_mount, runtime_default, variables};
use super::pod::of_settings;
use super::{container, storage};
use crate::metadata::VOLUME_LABEL;
use crate::settings::OperatorSettings;
use crate::validate::Validated;

const READER_CONTAINER: &str = "archive";
/// Seconds without a client after which the program ends. The launcher connects within a second of the pod's readiness,
/// but the pod may wait for the image or for its address.
const WAIT: u32 = 60;
/// Maximum seconds of a download. The kubelet then kills the pod, also if no operator runs.
pub const MAX_DOWNLOAD_SECONDS: i64 = 6 * 60 * 60;
/// Termination grace period of the pod of a download in seconds. The program has nothing to save.
const TERMINATION_GRACE: i64 = 1;
const MODE: &str = "archive";
/// CPU and memory limits. The program has a few buffers of 64 KiB. The kernel's cache of the files counts too, but it
/// is reclaimed.
const LIMITS: [&str; 2] = ["1", "64Mi"];
/// File that exists after the saved files are placed: after a restart of the node, the kubelet runs the init containers again.
const SAVED_MARKER: &str = "/launcher-program/saved-files-placed";
/// File for the reason why saved files cannot be placed. The kubelet copies it to the status of the pod.
const REPORT: &str = "/dev/termination-log";
/// Ports of the programs in the pod of a Workshop. The second one is for apps that have the first one. NetworkPolicies name both.
const SNAPSHOT_PORTS: [u16; 2] = [8082, 8083];

/// Builds the pod of a WorkshopDownload: one container that reads a volume, and sends its files once.
///
/// It has the group of apps with the profile `restricted`, which is also the group of the stock images with the profile
/// `baseline`. The claim is not read-only, only its mount: storage could otherwise attach the disk for reading only, and a
/// launch on the same node would fail. The kubelet also gives the files of a read-only claim no group.
#[must_use]
pub fn reader_pod(download: &WorkshopDownload, settings: &OperatorSettings) -> Pod {
    let volume = &download.spec.volume;
    let mut labels = launcher_workshop::download_labels();
    labels.insert(VOLUME_LABEL.to_owned(), volume.clone());
    let metadata = ObjectMeta {
        name: Some(download.name_any()),
        namespace: Some(settings.namespace.clone()),
        labels: Some(labels),
        // The operator must not need a permission for finalizers of this resource.
        owner_references: download
            .controller_owner_ref(&())
            .map(|owner| vec![OwnerReference { block_owner_deletion: None, ..owner }]),
        ..ObjectMeta::default()
    };
    let context = PodSecurityContext { seccomp_profile: Some(runtime_default()), ..PodSecurityContext::default() };
    let spec = PodSpec {
        containers: vec![reader_container(download, settings)],
        volumes: Some(vec![storage::kept_volume(volume)]),
        affinity: Some(same_node(volume)),
        restart_policy: Some("Never".to_owned()),
        active_deadline_seconds: Some(MAX_DOWNLOAD_SECONDS),
        termination_grace_period_seconds: Some(TERMINATION_GRACE),
        security_context: Some(storage::with_group(context, settings)),
        ..of_settings(settings)
    };
    Pod { metadata, spec: Some(spec), status: None }
}

fn reader_container(download: &WorkshopDownload, settings: &OperatorSettings) -> Container {
    let token = &download.spec.token_sha256;
    let container = archive_container(READER_CONTAINER, STORAGE_VOLUME, token, WAIT, SIDECAR_PORT, settings);
    Container { readiness_probe: Some(readiness()), ..container }
}

/// Requires the node of the pods that have the volume: most storage attaches a volume to one node at a time. The pod
/// itself matches, so it runs on any node if no other pod has the volume.
fn same_node(volume: &str) -> Affinity {
    let term = PodAffinityTerm {
        label_selector: Some(LabelSelector {
            match_labels: Some([(VOLUME_LABEL.to_owned(), volume.to_owned())].into()),
            ..LabelSelector::default()
        }),
        topology_key: "kubernetes.io/hostname".to_owned(),
        ..PodAffinityTerm::default()
    };
    Affinity {
        pod_affinity: Some(PodAffinity {
            required_during_scheduling_ignored_during_execution: Some(vec![term]),
            ..PodAffinity::default()
        }),
        ..Affinity::default()
    }
}

fn readiness() -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some("/ready".to_owned()),
            port: IntOrString::Int(SIDECAR_PORT.into()),
            ..HTTPGetAction::default()
        }),
        period_seconds: Some(1),
        ..Probe::default()
    }
}

/// Builds the container. It has the security of the profile `restricted`, and the user of apps with this profile. This is
/// also the user of the stock images with the profile `baseline`. The program lists files that this user cannot read. `wait`
/// is the maximum seconds until a client asks for the only archive; 0 if each request gets the archive.
fn archive_container(
    name: &str,
    volume: &str,
    token_sha256: &str,
    wait: u32,
    port: u16,
    settings: &OperatorSettings,
) -> Container {
    let folder = format!("/{volume}");
    let env = [
        ("SERVICE_ARCHIVE_DIRECTORY", folder.clone()),
        ("SERVICE_ARCHIVE_TOKEN_SHA256", token_sha256.to_owned()),
        ("SERVICE_ARCHIVE_WAIT", wait.to_string()),
    ];
    let address = (port != SIDECAR_PORT).then(|| ("SERVICE_LISTEN_ADDR", format!("0.0.0.0:{port}")));
    let env = env.into_iter().chain(address).map(|(name, value)| (name.to_owned(), value));
    Container {
        args: Some(vec![MODE.to_owned()]),
        env: Some(variables(env.collect())),
        ports: Some(vec![container::port(None, port)]),
        resources: Some(amounts(SIDECAR_REQUESTS, LIMITS)),
        volume_mounts: Some(vec![read_only_mount(volume, &folder)]),
        ..own_container(name, settings.run_as_user, settings)
    }
}

/// Builds the container that sends the files of the crash-safe directory to the launcher, which saves them at the end of the
/// workshop. It runs as long as the app. It has no readiness probe, and the program ends only with its pod: an app is reachable
/// only while all containers of its pod are ready.
///
/// Returns a container if the Workshop has a snapshot and a crash-safe directory. Without the directory, the files exist
/// only in the container of the app.
pub(super) fn snapshot_container(workshop: &Validated, settings: &OperatorSettings) -> Option<Container> {
    let snapshot = workshop.spec.snapshot.as_ref()?;
    storage::crash_safe_directory(workshop, settings)?;
    let port = snapshot_port(workshop.spec.port);
    Some(archive_container(SNAPSHOT, CRASH_SAFE_VOLUME, &snapshot.token_sha256, 0, port, settings))
}

/// Builds the init container that places the saved files of an earlier Workshop. It follows the one that copies the files of the
/// image, and like this one it runs in the image of the app, whose user must own the files.
///
/// Returns a container if the Workshop starts with saved files. It then has a crash-safe directory and a snapshot.
pub(super) fn saved_files_container(workshop: &Validated, settings: &OperatorSettings) -> Option<Container> {
    workshop.spec.restore.as_ref()?;
    let (snapshot, port) = (workshop.spec.snapshot.as_ref()?, snapshot_port(workshop.spec.port));
    storage::crash_safe_directory(workshop, settings)?;
    let (number, digest) = (port.to_string(), &snapshot.token_sha256);
    let words = [storage::PROGRAM, "receive", storage::FILES_FOLDER, SAVED_MARKER, &number, digest, REPORT];
    let container = storage::container_in_image(SAVED_FILES, &words, workshop, settings);
    Some(Container { ports: Some(vec![container::port(None, port)]), ..container })
}

/// Returns the port of the program in the pod of an app with this port.
pub(crate) fn snapshot_port(app: u16) -> u16 {
    let [first, second] = SNAPSHOT_PORTS;
    if app == first { second } else { first }
}
