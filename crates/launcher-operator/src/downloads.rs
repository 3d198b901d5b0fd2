//! Reconciles WorkshopDownloads: a pod reads the volume of each, until the files are sent. The operator ends a download
//! that is complete, that is too old, or that blocks a launch.

mod next_step;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use kube::runtime::controller::{self, Action};
use kube::runtime::{Config, Controller, watcher};
use kube::{Api, Resource, ResourceExt};
use launcher_workshop::{MANAGED_BY_LABEL, WorkshopDownload, WorkshopDownloadStatus};
use serde_json::json;
use tokio::time::timeout;

use crate::build::reader_pod;
use crate::children::watch;
use crate::context::Context;
use crate::identifiers::{FIELD_MANAGER, VOLUME_LABEL};
use crate::lease::NotLeading;
use next_step::{Step, next_step};

/// Interval of checks for the pods of a download. They have no watch, because only few downloads exist at a time.
const POLL: Duration = Duration::from_secs(1);
/// Timeout of one reconcile, which is then retried.
const DEADLINE: Duration = Duration::from_secs(30);
/// Delay of the retry after an error.
const RETRY: Duration = Duration::from_secs(2);

/// Error of a reconcile. The operator retries the reconcile.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DownloadError {
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    #[error("failed to {0}: {1}")]
    Request(&'static str, kube::Error),
    #[error("the API server did not answer within {} seconds", DEADLINE.as_secs())]
    Slow,
}

/// Reconciles WorkshopDownloads until the future is dropped. A missing CRD is no error: Workshops do not need it.
pub(crate) async fn run(context: Arc<Context>) {
    let api = downloads(&context);
    let outcomes = Controller::new(api, watch())
        .with_config(Config::default().concurrency(context.settings.concurrency))
        .run(reconcile, |_, _, _| Action::requeue(RETRY), context);
    outcomes
        .for_each(async |outcome| {
            if let Err(error) = outcome {
                note(&error)
            }
        })
        .await;
    // The stream ends only when the process stops.
    std::future::pending().await
}

/// The function `reconcile` has already logged a failed reconcile. A download that is gone needs nothing.
fn note<E: std::error::Error>(error: &controller::Error<E, watcher::Error>) {
    if let controller::Error::QueueError(error) = error {
        tracing::warn!(%error, "watching downloads failed, retrying");
    }
}

async fn reconcile(download: Arc<WorkshopDownload>, context: Arc<Context>) -> Result<Action, DownloadError> {
    let outcome = timeout(DEADLINE, reconcile_one(&download, &context)).await.unwrap_or(Err(DownloadError::Slow));
    if let Err(error) = &outcome {
        tracing::warn!(download = %download.name_any(), %error, "reconcile of a download failed, retrying");
    }
    outcome
}

async fn reconcile_one(download: &WorkshopDownload, context: &Context) -> Result<Action, DownloadError> {
    if download.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let pods = pods_with_volume(download, context).await?;
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

/// Lists the pods that have the volume: of workshops, and of downloads.
async fn pods_with_volume(download: &WorkshopDownload, context: &Context) -> Result<Vec<Pod>, DownloadError> {
    let params = ListParams::default().labels(&format!("{VOLUME_LABEL}={}", download.spec.volume));
    let listed = pods(context).list(&params).await.map_err(|error| DownloadError::Request("list pods", error))?;
    Ok(listed.items)
}

/// Creates the pod, after checks that do not rely on the watch cache: the download still exists, and the volume is one of
/// this operator.
async fn create(download: &WorkshopDownload, context: &Context) -> Result<(), DownloadError> {
    let found = downloads(context).get_opt(&download.name_any()).await;
    let found = found.map_err(|error| DownloadError::Request("read the download", error))?;
    if found.is_none_or(|found| found.uid() != download.uid()) {
        return Ok(());
    }
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let claim = claims.get_metadata_opt(&download.spec.volume).await;
    let claim = claim.map_err(|error| DownloadError::Request("read the PersistentVolumeClaim", error))?;
    if claim.is_none_or(|claim| claim.labels().get("managed-by").is_none_or(|by| by != MANAGED_BY_LABEL)) {
        return end(
            download,
            None,
            "the volume does not exist, or does not have the label managed-by: workshop-launcher",
            context,
        )
        .await;
    }
    context.fence.check()?;
    let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    match pods(context).create(&params, &reader_pod(download, &context.settings)).await {
        Ok(_) => {
            tracing::info!(download = %download.name_any(), "created the pod of a download");
            Ok(())
        }
        // An earlier attempt has created it.
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        // A quota or an admission rule: the launcher reports it when its time is over.
        Err(kube::Error::Api(refusal)) if matches!(refusal.code, 403 | 422) => {
            let status = WorkshopDownloadStatus { message: Some(refusal.message.clone()), address: None };
            write(download, status, context).await
        }
        Err(error) => Err(DownloadError::Request("create the pod", error)),
    }
}

/// Deletes the pod and the download. The deletion of the pod does not wait for the garbage collector, because a launch may
/// wait for the volume.
async fn end(
    download: &WorkshopDownload,
    pod: Option<&Pod>,
    reason: &'static str,
    context: &Context,
) -> Result<(), DownloadError> {
    context.fence.check()?;
    tracing::info!(download = %download.name_any(), reason, "ending a download");
    if let Some(pod) = pod.filter(|pod| pod.metadata.deletion_timestamp.is_none()) {
        let deleted = pods(context).delete(&pod.name_any(), &exactly(pod)).await.map(drop);
        unless_gone("delete the pod", deleted)?;
    }
    let deleted = downloads(context).delete(&download.name_any(), &exactly(download)).await.map(drop);
    unless_gone("delete the download", deleted)
}

fn exactly<K: Resource>(object: &K) -> DeleteParams {
    DeleteParams::background().preconditions(Preconditions { uid: object.meta().uid.clone(), resource_version: None })
}

/// Writes the status if it differs from the current one.
async fn write(
    download: &WorkshopDownload,
    status: WorkshopDownloadStatus,
    context: &Context,
) -> Result<(), DownloadError> {
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
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let written = downloads(context).patch_status(&download.name_any(), &params, &Patch::Apply(&body)).await;
    unless_gone("write the status", written.map(drop))
}

/// The launcher deletes a download at any time, and its pod is then deleted, too.
fn unless_gone(action: &'static str, outcome: Result<(), kube::Error>) -> Result<(), DownloadError> {
    match outcome {
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        outcome => outcome.map_err(|error| DownloadError::Request(action, error)),
    }
}

fn downloads(context: &Context) -> Api<WorkshopDownload> {
    Api::namespaced(context.client.clone(), &context.settings.namespace)
}

fn pods(context: &Context) -> Api<Pod> {
    Api::namespaced(context.client.clone(), &context.settings.namespace)
}
