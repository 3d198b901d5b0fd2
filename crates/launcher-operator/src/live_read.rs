//! Reads a Workshop from the API server instead of the watch cache. The cache is stale for more than a minute if a
//! watch connection has died unnoticed. Also returns the time until the next reconcile of a Workshop if nothing changes.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use kube::api::DynamicObject;
use launcher_workshop::Workshop;
use launcher_workshop::lifecycle::has_expired;

use crate::context::{Context, RequestError};
use crate::diagnose::has_ended;
use crate::workload::{LEAST_AGE, Plan, Wanted, plan};

pub(crate) const RESYNC_INTERVAL: Duration = Duration::from_secs(600);
/// Purpose of the requests.
const REREAD: &str = "re-read the Workshop";

/// True if a reconcile of this cached Workshop, which has these pods, would terminate the Workshop, create one of its
/// resources, or delete its pod. The operator then reads the Workshop first. `wanted` is `None` for an invalid Workshop.
pub(crate) fn is_needed(
    workshop: &Workshop,
    wanted: Option<&Wanted>,
    pods: &[Pod],
    context: &Context,
    now: Timestamp,
) -> bool {
    let Some(Wanted { manifests, .. }) = wanted else { return true };
    has_expired(workshop, now)
        || !context.children.has_others(&context.settings.namespace, workshop, manifests)
        || plan(pods, &manifests.pod.metadata, now) != Plan::Keep
}

/// Reads a Workshop that is known from the cache. Returns `None` if it is gone or being deleted, or if a new Workshop
/// has its name.
pub(crate) async fn read_live(context: &Context, known: &Workshop) -> Result<Option<Workshop>, RequestError> {
    let found = context.api::<Workshop>().get_opt(&known.name_any()).await.map_err(RequestError::to(REREAD))?;
    Ok(found.filter(|found| found.uid() == known.uid() && found.metadata.deletion_timestamp.is_none()))
}

/// Reads a Workshop whose spec cannot be parsed. Returns `None` if it is gone or has changed: the watch reports that.
pub(crate) async fn read_unparsed(
    context: &Context,
    known: &ObjectMeta,
) -> Result<Option<DynamicObject>, RequestError> {
    let name = known.name.as_deref().unwrap_or_default();
    let found = context.untyped_workshops().get_opt(name).await.map_err(RequestError::to(REREAD))?;
    Ok(found.filter(|found| found.metadata.uid == known.uid && found.metadata.generation == known.generation))
}

/// Returns the time until `next`, the next deadline of the workload. It is at most [`RESYNC_INTERVAL`], and at most
/// [`LEAST_AGE`] if a pod has ended.
pub(crate) fn requeue_delay(next: Option<Timestamp>, pods: &[Pod], now: Timestamp) -> Duration {
    let most = if pods.iter().any(has_ended) { LEAST_AGE } else { RESYNC_INTERVAL };
    next.map_or(most, |next| Duration::try_from(next.duration_since(now)).unwrap_or_default().min(most))
}
