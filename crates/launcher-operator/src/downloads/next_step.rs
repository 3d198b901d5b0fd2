//! Decides the next step of a download from its pods. Pure.

use std::net::{IpAddr, SocketAddr};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Pod, PodCondition};
use kube::ResourceExt;
use launcher_workshop::app::SIDECAR_PORT;
use launcher_workshop::{APP_LABEL, WorkshopDownload, WorkshopDownloadStatus};

use crate::build::MAX_DOWNLOAD_SECONDS;
use crate::owner::is_owned_by;

/// Maximum age of a download whose pod was never ready. The launcher waits for 30 seconds, and deletes the download itself.
const START: SignedDuration = SignedDuration::from_secs(90);

/// Next step of a download.
#[derive(Debug, PartialEq)]
pub(super) enum Step<'a> {
    /// Create the pod.
    Create,
    /// Write this status, and check again.
    Report(WorkshopDownloadStatus),
    /// Delete the pod and the download.
    End { pod: Option<&'a Pod>, reason: &'static str },
}

/// Returns the next step of a download. `pods` are all pods with its volume.
pub(super) fn next_step<'a>(download: &WorkshopDownload, pods: &'a [Pod], now: Timestamp) -> Step<'a> {
    let uid = download.metadata.uid.as_deref().unwrap_or_default();
    let pod = pods.iter().find(|pod| is_owned_by(&pod.metadata, uid));
    let was_ready = download.status.as_ref().is_some_and(|status| status.address.is_some());
    let age = download.metadata.creation_timestamp.as_ref().map_or(SignedDuration::ZERO, |at| now.duration_since(at.0));
    let end = |reason| Step::End { pod, reason };
    if age > SignedDuration::from_secs(MAX_DOWNLOAD_SECONDS) {
        return end("it is too old");
    }
    let workshops: Vec<_> = pods.iter().filter(|pod| is_of_workshop(pod)).collect();
    let Some(found) = pod else {
        return if was_ready {
            end("its pod is gone")
        } else if age > START {
            end("it never had a pod")
        } else {
            Step::Create
        };
    };
    if found.metadata.deletion_timestamp.is_some() || has_ended(found) {
        return end("its pod has ended");
    }
    if workshops.iter().any(|workshop| is_blocked_by(workshop, found)) {
        return end("a launch needs the volume");
    }
    match ready_address(found) {
        Some(address) => Step::Report(WorkshopDownloadStatus { address: Some(address), message: None }),
        None if !was_ready && age > START => end("its pod was never ready"),
        None if was_ready => Step::Report(download.status.clone().unwrap_or_default()),
        None => Step::Report(WorkshopDownloadStatus { address: None, message: Some(obstacle(found)) }),
    }
}

fn is_of_workshop(pod: &Pod) -> bool {
    pod.labels().get("app").is_some_and(|app| app == APP_LABEL) && pod.metadata.deletion_timestamp.is_none()
}

fn has_ended(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

/// True if the pod of a workshop cannot start while the pod of the download has the volume: the workshop's pod is on
/// another node, or the scheduler finds no node for it. A volume with the access mode ReadWriteOncePod has one pod only.
fn is_blocked_by(workshop: &Pod, reader: &Pod) -> bool {
    let node = |pod: &Pod| pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    match (node(workshop), node(reader)) {
        (Some(workshop), Some(reader)) => workshop != reader,
        (None, _) => condition(workshop, "PodScheduled").is_some_and(|condition| condition.status == "False"),
        (Some(_), None) => false,
    }
}

fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.iter().flatten().find(|condition| condition.type_ == kind)
}

/// Returns the address of a ready pod.
fn ready_address(pod: &Pod) -> Option<SocketAddr> {
    condition(pod, "Ready").filter(|condition| condition.status == "True")?;
    let ip: IpAddr = pod.status.as_ref()?.pod_ip.as_deref()?.parse().ok()?;
    Some(SocketAddr::new(ip, SIDECAR_PORT))
}

/// Returns the reason why a pod is not ready.
fn obstacle(pod: &Pod) -> String {
    let scheduled = condition(pod, "PodScheduled").filter(|condition| condition.status == "False");
    if let Some(message) = scheduled.and_then(|condition| condition.message.clone()) {
        return message;
    }
    let statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    let waiting = statuses.filter_map(|status| status.state.as_ref()?.waiting.as_ref()?.reason.clone()).next();
    waiting.map_or_else(|| "the pod is starting".to_owned(), |reason| format!("the pod is starting: {reason}"))
}

#[cfg(test)]
mod tests;
