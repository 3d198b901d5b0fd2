//! Builds the pod of a WorkshopDownload: one container that reads a volume, and sends its files once.

use k8s_openapi::api::core::v1::{
    Affinity, Container, HTTPGetAction, LocalObjectReference, PersistentVolumeClaimVolumeSource, Pod, PodAffinity,
    PodAffinityTerm, PodSecurityContext, PodSpec, Probe, Volume,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, OwnerReference};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::{Resource, ResourceExt};
use launcher_workshop::WorkshopDownload;
use launcher_workshop::app::SIDECAR_PORT;
use launcher_workshop::pod_template::STORAGE_VOLUME;

use super::archive_program::{self, ArchiveProgram};
use super::limits::runtime_default;
use super::storage;
use crate::identifiers::VOLUME_LABEL;
use crate::settings::{OperatorSettings, Placement};

/// Name of the container.
const CONTAINER: &str = "archive";
/// Seconds without a client after which the program ends. The launcher connects within a second of the pod's readiness,
/// but the pod may wait for the image or for its address.
const WAIT: u32 = 60;
/// Maximum seconds of a download. The kubelet then kills the pod, also if no operator runs.
pub const MAX_SECONDS: i64 = 6 * 60 * 60;
/// Termination grace period in seconds. The program has nothing to save.
const TERMINATION_GRACE: i64 = 1;

/// Builds the pod.
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
    let secrets: Vec<_> =
        settings.pull_secrets.iter().map(|name| LocalObjectReference { name: name.clone() }).collect();
    let Placement { node_selector, tolerations } = settings.placement.clone();
    let context = PodSecurityContext { seccomp_profile: Some(runtime_default()), ..PodSecurityContext::default() };
    let spec = PodSpec {
        containers: vec![container(download, settings)],
        volumes: Some(vec![claim(volume)]),
        affinity: Some(same_node(volume)),
        restart_policy: Some("Never".to_owned()),
        active_deadline_seconds: Some(MAX_SECONDS),
        termination_grace_period_seconds: Some(TERMINATION_GRACE),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        image_pull_secrets: (!secrets.is_empty()).then_some(secrets),
        security_context: Some(storage::with_group(context, settings)),
        node_selector: (!node_selector.is_empty()).then_some(node_selector),
        tolerations: (!tolerations.is_empty()).then_some(tolerations),
        ..PodSpec::default()
    };
    Pod { metadata, spec: Some(spec), status: None }
}

fn container(download: &WorkshopDownload, settings: &OperatorSettings) -> Container {
    let program = ArchiveProgram {
        name: CONTAINER,
        volume: STORAGE_VOLUME,
        token_sha256: &download.spec.token_sha256,
        wait: WAIT,
        port: SIDECAR_PORT,
    };
    Container { readiness_probe: Some(readiness()), ..archive_program::container(&program, settings) }
}

fn claim(volume: &str) -> Volume {
    let source = PersistentVolumeClaimVolumeSource { claim_name: volume.to_owned(), read_only: None };
    Volume { name: STORAGE_VOLUME.to_owned(), persistent_volume_claim: Some(source), ..Volume::default() }
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
