//! Reconciles WorkshopDownloads: a pod reads the volume of each, until the files are sent. The operator ends a download
//! that is complete, that is too old, or that blocks a launch.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::api::{ListParams, Patch};
use kube::runtime::controller::{self, Action};
use kube::runtime::{Config, Controller};
use kube::{Resource, ResourceExt};
use launcher_workshop::app::SIDECAR_PORT;
use launcher_workshop::{APP_LABEL, WorkshopDownload, WorkshopDownloadStatus, is_managed};
use serde_json::json;
use tokio::time::timeout;

use crate::build::{MAX_DOWNLOAD_SECONDS, reader_pod};
use crate::cache::watch;
use crate::context::{Context, DEADLINE, RequestError};
use crate::diagnose::{condition, has_ended};
use crate::metadata::{VOLUME_LABEL, creation, deletion_of, is_owned_by, server_side_apply, unless_gone};

/// Interval of checks for the pods of a download. They have no watch, because only few downloads exist at a time.
const POLL: Duration = Duration::from_secs(1);
const RETRY: Duration = Duration::from_secs(2);

/// Maximum age of a download whose pod was never ready. The launcher waits for 30 seconds, and deletes the download itself.
const START: SignedDuration = SignedDuration::from_secs(90);

/// Reconciles WorkshopDownloads until the future is dropped. A missing CRD is no error: Workshops do not need it.
pub(crate) async fn run(context: Arc<Context>) {
    let outcomes = Controller::new(context.api(), watch())
        .with_config(Config::default().concurrency(context.settings.concurrency))
        .run(reconcile, |_, _, _| Action::requeue(RETRY), context);
    outcomes
        .for_each(async |outcome| {
            // The function `reconcile` has already logged a failed reconcile. A download that is gone needs nothing.
            if let Err(controller::Error::QueueError(error)) = outcome {
                tracing::warn!(%error, "watching downloads failed, retrying");
            }
        })
        .await;
    // The stream ends only when the process stops.
    std::future::pending().await
}

async fn reconcile(download: Arc<WorkshopDownload>, context: Arc<Context>) -> Result<Action, RequestError> {
    let outcome = timeout(DEADLINE, reconcile_one(&download, &context)).await.unwrap_or(Err(RequestError::Slow));
    if let Err(error) = &outcome {
        tracing::warn!(download = %download.name_any(), %error, "reconcile of a download failed, retrying");
    }
    outcome
}

async fn reconcile_one(download: &WorkshopDownload, context: &Context) -> Result<Action, RequestError> {
    if download.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    // Pods of workshops, and of downloads.
    let with_volume = ListParams::default().labels(&format!("{VOLUME_LABEL}={}", download.spec.volume));
    let pods = context.api::<Pod>().list(&with_volume).await.map_err(RequestError::to("list pods"))?.items;
    match next_step(download, &pods, context.clock.now()) {
        Step::Create => create(download, context).await?,
        Step::Report(status) => write(download, status, context).await?,
        Step::End { pod, reason } => {
            end(download, pod, reason, context).await?;
            return Ok(Action::await_change());
        }
    }
    Ok(Action::requeue(POLL))
}

/// Creates the pod, after checks that do not rely on the watch cache: the download still exists, and the volume is one of
/// this operator.
async fn create(download: &WorkshopDownload, context: &Context) -> Result<(), RequestError> {
    let found = context.api::<WorkshopDownload>().get_opt(&download.name_any()).await;
    let found = found.map_err(RequestError::to("read the download"))?;
    if found.is_none_or(|found| found.uid() != download.uid()) {
        return Ok(());
    }
    let claim = context.api::<PersistentVolumeClaim>().get_metadata_opt(&download.spec.volume).await;
    let claim = claim.map_err(RequestError::to("read the PersistentVolumeClaim"))?;
    if !claim.as_ref().is_some_and(is_managed) {
        let reason = "the volume does not exist, or does not have the label managed-by: workshop-launcher";
        return end(download, None, reason, context).await;
    }
    context.fence.check()?;
    match context.api::<Pod>().create(&creation(), &reader_pod(download, &context.settings)).await {
        Ok(_) => {
            tracing::info!(download = %download.name_any(), "created the pod of a download");
            Ok(())
        }
        // An earlier attempt has created it.
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        // A quota or an admission rule: the launcher reports it when its time is over.
        Err(kube::Error::Api(refusal)) if matches!(refusal.code, 403 | 422) => {
            let status = WorkshopDownloadStatus { message: Some(refusal.message.clone()), address: None };
            write(download, status, context).await
        }
        Err(error) => Err(RequestError::to("create the pod")(error)),
    }
}

/// Deletes the pod and the download, unless the launcher has deleted them. The deletion of the pod does not wait for the garbage
/// collector, because a launch may wait for the volume.
async fn end(
    download: &WorkshopDownload,
    pod: Option<&Pod>,
    reason: &'static str,
    context: &Context,
) -> Result<(), RequestError> {
    context.fence.check()?;
    tracing::info!(download = %download.name_any(), reason, "ending a download");
    if let Some(pod) = pod.filter(|pod| pod.metadata.deletion_timestamp.is_none()) {
        let deleted = context.api::<Pod>().delete(&pod.name_any(), &deletion_of(&pod.metadata)).await;
        unless_gone(deleted).map_err(RequestError::to("delete the pod"))?;
    }
    let downloads = context.api::<WorkshopDownload>();
    let deleted = downloads.delete(&download.name_any(), &deletion_of(&download.metadata)).await;
    unless_gone(deleted).map_err(RequestError::to("delete the download"))
}

/// Writes the status if it differs from the current one, and the download still exists.
async fn write(
    download: &WorkshopDownload,
    status: WorkshopDownloadStatus,
    context: &Context,
) -> Result<(), RequestError> {
    if download.status.as_ref() == Some(&status) {
        return Ok(());
    }
    context.fence.check()?;
    let body = json!({
        "apiVersion": WorkshopDownload::api_version(&()),
        "kind": WorkshopDownload::kind(&()),
        "metadata": { "name": download.name_any(), "uid": download.uid() },
        "status": status,
    });
    let downloads = context.api::<WorkshopDownload>();
    let written = downloads.patch_status(&download.name_any(), &server_side_apply(), &Patch::Apply(&body)).await;
    unless_gone(written).map_err(RequestError::to("write the status"))
}

#[derive(Debug, PartialEq)]
enum Step<'a> {
    Create,
    /// Write this status, and check again.
    Report(WorkshopDownloadStatus),
    /// Delete the pod and the download.
    End {
        pod: Option<&'a Pod>,
        reason: &'static str,
    },
}

/// Returns the next step of a download. `pods` are all pods with its volume.
fn next_step<'a>(download: &WorkshopDownload, pods: &'a [Pod], now: Timestamp) -> Step<'a> {
    let uid = download.metadata.uid.as_deref().unwrap_or_default();
    let pod = pods.iter().find(|pod| is_owned_by(&pod.metadata, uid));
    let was_ready = download.status.as_ref().is_some_and(|status| status.address.is_some());
    let age = download.metadata.creation_timestamp.as_ref().map_or(SignedDuration::ZERO, |at| now.duration_since(at.0));
    let end = |reason| Step::End { pod, reason };
    if age > SignedDuration::from_secs(MAX_DOWNLOAD_SECONDS) {
        return end("it is too old");
    }
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
    if pods.iter().any(|other| is_of_workshop(other) && is_blocked_by(other, found)) {
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

fn ready_address(pod: &Pod) -> Option<SocketAddr> {
    condition(pod, "Ready").filter(|condition| condition.status == "True")?;
    let ip: IpAddr = pod.status.as_ref()?.pod_ip.as_deref()?.parse().ok()?;
    Some(SocketAddr::new(ip, SIDECAR_PORT))
}

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
mod tests {
    use serde_json::Value;

    use super::*;

    const CREATED: &str = "2026-01-01T12:00:00Z";

    fn download(status: Value) -> WorkshopDownload {
        let object = json!({
            "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "WorkshopDownload",
            "metadata": { "name": "work-a-1", "uid": "download", "creationTimestamp": CREATED },
            "spec": { "volume": "work-a", "tokenSha256": "0".repeat(64) },
            "status": status,
        });
        serde_json::from_value(object).unwrap()
    }

    fn new() -> WorkshopDownload {
        download(json!({}))
    }

    fn was_ready() -> WorkshopDownload {
        download(json!({ "address": "10.0.0.1:8080" }))
    }

    fn pod(app: &str, node: Option<&str>, status: Value) -> Pod {
        let owner = if app == APP_LABEL { "workshop" } else { "download" };
        let object = json!({
            "metadata": {
                "name": app, "labels": { "app": app },
                "ownerReferences": [{ "apiVersion": "a", "kind": "b", "name": "c", "uid": owner }],
            },
            "spec": { "nodeName": node, "containers": [] },
            "status": status,
        });
        serde_json::from_value(object).unwrap()
    }

    fn reader(node: Option<&str>, status: Value) -> Pod {
        pod("workshop-download", node, status)
    }

    fn ready(ip: &str) -> Value {
        json!({ "phase": "Running", "podIP": ip, "conditions": [{ "type": "Ready", "status": "True" }] })
    }

    fn unschedulable() -> Value {
        json!({ "conditions": [{ "type": "PodScheduled", "status": "False", "message": "no room" }] })
    }

    /// The next step at this age in seconds.
    fn step<'a>(download: &WorkshopDownload, pods: &'a [Pod], age: u64) -> Step<'a> {
        next_step(download, pods, CREATED.parse::<Timestamp>().unwrap() + Duration::from_secs(age))
    }

    fn reason(step: Step<'_>) -> Option<&'static str> {
        match step {
            Step::End { reason, .. } => Some(reason),
            Step::Create | Step::Report(_) => None,
        }
    }

    fn message(step: Step<'_>) -> Option<String> {
        match step {
            Step::Report(status) => status.message,
            Step::Create | Step::End { .. } => None,
        }
    }

    #[test]
    fn pod_is_created_once_and_soon() {
        assert_eq!(step(&new(), &[], 0), Step::Create);
        assert_eq!(step(&new(), &[pod(APP_LABEL, Some("a"), json!({}))], 0), Step::Create);
        assert_eq!(reason(step(&new(), &[], 91)), Some("it never had a pod"));
        assert_eq!(reason(step(&was_ready(), &[], 1)), Some("its pod is gone"));
    }

    #[test]
    fn ready_pod_is_reported_with_its_address() {
        for (ip, address) in [("10.0.0.7", "10.0.0.7:8080"), ("fd00::7", "[fd00::7]:8080")] {
            let pods = [reader(Some("a"), ready(ip))];
            let status = WorkshopDownloadStatus { address: Some(address.parse().unwrap()), message: None };
            assert_eq!(step(&new(), &pods, 1), Step::Report(status));
        }
        let loaded = [reader(Some("a"), json!({ "phase": "Running" }))];
        let Step::Report(status) = step(&was_ready(), &loaded, 600) else { panic!("a busy pod may miss a probe") };
        assert_eq!(Some(status), was_ready().status);
    }

    #[test]
    fn obstacle_of_a_pod_is_reported_until_the_start_is_over() {
        let waiting = json!({ "containerStatuses": [{
            "name": "archive", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "waiting": { "reason": "ImagePullBackOff" } },
        }] });
        for (status, expected) in [
            (unschedulable(), "no room"),
            (waiting, "the pod is starting: ImagePullBackOff"),
            (json!({}), "the pod is starting"),
        ] {
            let pods = [reader(None, status)];
            assert_eq!(message(step(&new(), &pods, 90)).as_deref(), Some(expected));
            assert_eq!(reason(step(&new(), &pods, 91)), Some("its pod was never ready"));
        }
    }

    #[test]
    fn ended_pod_ends_the_download() {
        for phase in ["Succeeded", "Failed"] {
            let pods = [reader(Some("a"), json!({ "phase": phase }))];
            assert_eq!(reason(step(&was_ready(), &pods, 1)), Some("its pod has ended"));
        }
        let mut leaving = reader(Some("a"), ready("10.0.0.7"));
        leaving.metadata.deletion_timestamp = serde_json::from_value(json!(CREATED)).unwrap();
        assert_eq!(reason(step(&was_ready(), &[leaving], 1)), Some("its pod has ended"));
    }

    #[test]
    fn download_ends_at_its_maximum_age() {
        let pods = [reader(Some("a"), ready("10.0.0.7"))];
        let most = u64::try_from(MAX_DOWNLOAD_SECONDS).unwrap();
        assert_eq!(reason(step(&was_ready(), &pods, most)), None);
        assert_eq!(reason(step(&was_ready(), &pods, most + 1)), Some("it is too old"));
    }

    #[test]
    fn launch_that_needs_the_volume_elsewhere_ends_the_download() {
        let workshops = [
            (pod(APP_LABEL, Some("a"), json!({})), None),
            (pod(APP_LABEL, None, json!({})), None),
            (pod(APP_LABEL, Some("b"), json!({})), Some("a launch needs the volume")),
            (pod(APP_LABEL, None, unschedulable()), Some("a launch needs the volume")),
        ];
        for (workshop, expected) in workshops {
            let node = workshop.spec.as_ref().unwrap().node_name.clone();
            let pods = [workshop, reader(Some("a"), ready("10.0.0.7"))];
            assert_eq!(reason(step(&was_ready(), &pods, 1)), expected, "workshop on {node:?}");
            assert!(!matches!(step(&was_ready(), &pods, 1), Step::End { pod, .. } if pod != Some(&pods[1])));
        }
        let waiting = [pod(APP_LABEL, Some("a"), json!({})), reader(None, json!({}))];
        assert_eq!(reason(step(&new(), &waiting, 1)), None, "the reader has no node yet");
        let mut leaving = pod(APP_LABEL, Some("b"), json!({}));
        leaving.metadata.deletion_timestamp = serde_json::from_value(json!(CREATED)).unwrap();
        assert_eq!(reason(step(&was_ready(), &[leaving, reader(Some("a"), ready("10.0.0.7"))], 1)), None);
    }
}
