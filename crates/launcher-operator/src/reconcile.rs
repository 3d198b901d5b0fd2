//! Reconciles one Workshop: reads the watch cache, validates, builds, applies, and writes the status.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::core::error_boundary::InvalidObject;
use kube::runtime::controller::Action;
use kube::runtime::reflector::store::WriterDropped;
use kube::{Resource, ResourceExt};
use launcher_domain::frame_path::frame_url;
use launcher_domain::{FailureCode, FailureReason};
use launcher_workshop::lifecycle::{self, Action as Next, Decision, Observed, Refusal, Routes, decide, was_ready};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use tokio::time::{Instant, timeout};

use crate::apply::{self, Applied, ApplyError, annotations, deletion, refusal};
use crate::cache::Guarded;
use crate::context::{Context, DEADLINE, RequestError};
use crate::diagnose::{Diagnosis, Look, add, crashes_before_readiness, diagnose, moved, pull_fails};
use crate::failure_details::explain;
use crate::live_read::{self, RESYNC_INTERVAL, read_live, requeue_delay};
use crate::memory::{Id, Since};
use crate::metadata::workshop_uid;
use crate::settings::Exposure;
use crate::traces;
use crate::validate::is_forbidden;
use crate::workload::{Wanted, awaits_restart, is_outdated};
use crate::write;

/// Interval of checks for a volume in use. The end of the other pod reconciles only the Workshop of that pod.
const VOLUME_INTERVAL: Duration = Duration::from_secs(2);
/// Interval of attempts to create a pod in a namespace whose quota is full.
const QUOTA_INTERVAL: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
pub(crate) enum ReconcileError {
    /// Failed deletion.
    #[error(transparent)]
    Remove(#[from] ApplyError),
    /// Failed apply. The Workshop has another deadline at `next`, which the backoff does not delay.
    #[error("{source}")]
    Apply { source: ApplyError, next: Option<Timestamp> },
    #[error("the watches have ended: {0}")]
    Watches(#[from] WriterDropped),
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Reconciles a Workshop within [`DEADLINE`], and records outcome and duration in the metrics.
pub(crate) async fn reconcile(object: Arc<Guarded>, context: Arc<Context>) -> Result<Action, ReconcileError> {
    let began = Instant::now();
    context.children.ready().await?;
    let outcome = timeout(DEADLINE, reconcile_object(&object, &context)).await;
    let outcome = outcome.unwrap_or(Err(RequestError::Slow.into()));
    let word = if outcome.is_ok() { "ok" } else { "error" };
    context.metrics.record_reconcile(word, began.elapsed());
    if outcome.is_ok() {
        context.memory.succeeded(Id::of(object.meta()).uid);
    }
    outcome
}

async fn reconcile_object(object: &Guarded, context: &Context) -> Result<Action, ReconcileError> {
    match &object.0 {
        Ok(workshop) if workshop.metadata.deletion_timestamp.is_some() => {
            let next = end(workshop, context).await?;
            deletion::complete(context, workshop).await?;
            Ok(next)
        }
        Ok(workshop) => reconcile_one(workshop, context).await,
        Err(unreadable) => report_unreadable(unreadable, context).await,
    }
}

/// Reconciles a readable Workshop. The cached Workshop may be stale: it may have been extended, corrected or deleted.
/// Before the operator creates a resource or terminates the Workshop, it therefore reads the Workshop again.
async fn reconcile_one(known: &Workshop, context: &Context) -> Result<Action, ReconcileError> {
    let now = context.clock.now();
    if lifecycle::is_final(known) {
        return end(known, context).await;
    }
    let (pods, wanted) = look(known, context);
    if !live_read::is_needed(known, wanted.as_ref().ok(), &pods, context, now) {
        return reconcile_spec(known, wanted, pods, context, now).await;
    }
    match read_live(context, known).await? {
        Some(workshop) => {
            let (pods, wanted) = look(&workshop, context);
            reconcile_spec(&workshop, wanted, pods, context, now).await
        }
        // The Workshop is gone or being deleted: do nothing until the watch reports a change.
        None => Ok(Action::await_change()),
    }
}

/// Returns the pods of a Workshop in the watch cache, and the desired workload.
fn look(workshop: &Workshop, context: &Context) -> (Vec<Pod>, Result<Wanted, FailureReason>) {
    let found = context.children.pod(&context.settings.namespace, &workshop.name_any());
    let mut pods: Vec<Pod> = found.into_iter().collect();
    if workshop.spec.storage.is_none() {
        // The operator creates no other pod while the workload has this one. The diagnosis then fails the Workshop.
        pods.extend(gone_pod(workshop, &pods, context));
    }
    let wanted = Wanted::of(workshop, &context.settings, &pods);
    (pods, wanted)
}

async fn reconcile_spec(
    workshop: &Workshop,
    wanted: Result<Wanted, FailureReason>,
    pods: Vec<Pod>,
    context: &Context,
    now: Timestamp,
) -> Result<Action, ReconcileError> {
    let (observed, wanted) = match wanted {
        Ok(wanted) => (Observed::Unknown, Some(wanted)),
        Err(reason) => (Observed::failed(reason), None),
    };
    match (decide::<()>(workshop, observed, now), wanted) {
        (Decision { action: Next::Start, .. }, Some(wanted)) => {
            reconcile_workload(workshop, &wanted, pods, context, now).await
        }
        (Decision { status, .. }, _) => finish(workshop, status, context).await,
    }
}

/// Applies the workload, observes it, and writes the status that follows.
async fn reconcile_workload(
    workshop: &Workshop,
    wanted: &Wanted,
    pods: Vec<Pod>,
    context: &Context,
    now: Timestamp,
) -> Result<Action, ReconcileError> {
    let (name, uid) = (workshop.name_any(), workshop.uid().unwrap_or_default());
    let gone = gone_pod(workshop, &pods, context);
    // Apply.
    let (applied, routes) = match apply::apply(context, &name, &uid, &wanted.manifests, &pods, now).await {
        Ok(applied) => applied,
        Err(error) => return handle_refused_pod(workshop, error, context, now).await,
    };
    // Observe.
    let is_of_another = |pod: &Pod| workshop_uid(&pod.metadata).is_some_and(|owner| owner != uid);
    let pods: Vec<Pod> = pods.into_iter().filter(|pod| !is_of_another(pod)).collect();
    let mut observed = observe(workshop, &applied, routes.as_ref().err(), &pods, gone, context, now);
    observed.workload.is_outdated = stays_outdated(wanted, &pods, context);
    // Decide.
    let first = decide(workshop, observed.workload.clone().into(), now);
    let Decision { status, action } = match explain(context, workshop, &observed, first.action.clone()).await {
        Some(explained) => decide(workshop, explained.into(), now),
        None => first,
    };
    // Write.
    let next = match action {
        Next::WaitUntil(next) => next,
        Next::SaveUntil(next) => Some(next),
        Next::Start | Next::Restart | Next::Explain(_) | Next::End => None,
    };
    let refused = routes.map_err(|source| ReconcileError::Apply { source, next });
    let next = requeue_delay(next, &pods, now);
    if let Some(delay) = write::remaining_delay(workshop, &status, context, now) {
        refused?;
        return Ok(Action::requeue(delay.min(next)));
    }
    // Before the status: afterwards, the operator could not tell these crashes from later ones.
    if status.phase == Phase::Running
        && let Some(early) = crashes_before_readiness(workshop, &pods)
    {
        annotations::write_crash(context, early, None).await?;
    }
    write::write_status(workshop, status.clone(), context).await?;
    traces::record_steps(workshop, &pods, &status, now);
    if status.phase.is_final() {
        return end(workshop, context).await;
    }
    // After the status: if the operator is killed in between, the next one counts the crash again, as the same one.
    if let (Some(unrecorded), Some(latest)) = (observed.unrecorded, observed.workload.crash) {
        annotations::write_crash(context, unrecorded, Some(&latest.crash)).await?;
    }
    annotations::write_expiry(context, &pods, &workshop.spec, status.ready_at, now).await?;
    refused?;
    Ok(Action::requeue(next))
}

/// Observes the applied workload of a Workshop, which has these pods. `refused` is the refusal of another object.
fn observe(
    workshop: &Workshop,
    applied: &Applied,
    refused: Option<&ApplyError>,
    pods: &[Pod],
    gone: Option<Pod>,
    context: &Context,
    now: Timestamp,
) -> Diagnosis {
    let id = Id::of(&workshop.metadata);
    let routes = match refused {
        // The pod of a Workshop that has been ready can fail or become ready again while another object is refused.
        Some(error) if !was_ready(workshop) => Routes::Refused(observe_refusal(workshop, error, context, now)),
        refused => {
            context.memory.clear(id.uid, &[Since::Refused, Since::VolumeInUse]);
            refused.map_or_else(|| exposed(applied.exposure), |_| Routes::Refused(Refusal::Fleet { lacks_app: false }))
        }
    };
    let pull_fails_since = pull_fails(pods).then(|| context.memory.record(id, Since::PullFails, now));
    if pull_fails_since.is_none() {
        context.memory.clear(id.uid, &[Since::PullFails]);
    }
    // The Service exists as long as the workload. While it is refused, the pod tells since when the workload exists.
    let pod_created = || pods.iter().filter_map(|pod| Some(pod.metadata.creation_timestamp.as_ref()?.0)).min();
    let created = applied.created.or_else(|| refused.and_then(|_| pod_created()));
    let seen = write::unreported_since(workshop, context, now);
    let look = Look { workshop, pods, gone, created, seen, pull_fails_since, routes };
    let mut observed = diagnose(look, &context.settings, now);
    let report = &mut observed.workload.report;
    (report.url, report.frame_url) = (applied.url.clone(), applied.url.as_deref().map(frame_url));
    observed
}

fn exposed(exposure: Exposure) -> Routes {
    match exposure {
        Exposure::Ingress => Routes::Exposed("IngressApplied"),
        Exposure::External => Routes::Exposed("RoutedElsewhere"),
        Exposure::None => Routes::Hidden("NoGate", "No Ingress: the operator's settings name no auth middleware."),
    }
}

/// True if a pod differs from the one that the operator would create now. The pods that await a restart are deleted, so the
/// status already describes the successor. A restart with a forbidden pod template would fail the Workshop.
fn stays_outdated(Wanted { validated, manifests }: &Wanted, pods: &[Pod], context: &Context) -> bool {
    let wanted = &manifests.pod.metadata;
    let stays = |pod: &Pod| is_outdated(pod, wanted) && !awaits_restart(&pod.metadata, wanted);
    !is_forbidden(validated, &context.settings) && pods.iter().any(stays)
}

/// Returns the pod of a Workshop that the cluster has disrupted, if it is gone, and if the status does not report it yet.
fn gone_pod(workshop: &Workshop, seen: &[Pod], context: &Context) -> Option<Pod> {
    let pod = context.memory.disrupted_pod(workshop.metadata.uid.as_deref()?)?;
    if seen.iter().any(|one| one.metadata.uid == pod.metadata.uid) {
        return None;
    }
    let at = moved([&pod]).map(|crash| crash.at);
    let reported = workshop.status.as_ref().and_then(|status| Some(status.report.last_crash.as_ref()?.at));
    // The status may have a later crash of the next pod: the disruption is then reported, too.
    let is_reported = workshop.spec.storage.is_some() && reported.is_some() && reported >= at;
    (!is_reported).then_some(pod)
}

/// Handles a pod or claim that could not be applied. A refusal that the Workshop causes becomes its failure after a grace
/// period. After all other errors the operator only retries.
async fn handle_refused_pod(
    workshop: &Workshop,
    error: ApplyError,
    context: &Context,
    now: Timestamp,
) -> Result<Action, ReconcileError> {
    context.memory.clear(Id::of(&workshop.metadata).uid, &[Since::Unreported]);
    let refusal = observe_refusal(workshop, &error, context, now);
    let Decision { status, action } = decide::<()>(workshop, Observed::Refused(refusal), now);
    let next = match action {
        Next::WaitUntil(next) => next,
        Next::SaveUntil(next) => Some(next),
        Next::Start | Next::Restart | Next::Explain(_) | Next::End => return finish(workshop, status, context).await,
    };
    write::write_status(workshop, status, context).await?;
    if let ApplyError::VolumeInUse { .. } = error {
        return Ok(Action::requeue(VOLUME_INTERVAL));
    }
    if waits_for_quota(&error, context) {
        return Ok(Action::requeue(QUOTA_INTERVAL));
    }
    Err(ReconcileError::Apply { source: error, next })
}

/// True if the pod waits for the quota of a class. The launcher holds the next launches of this class. This one waits like
/// them.
fn waits_for_quota(error: &ApplyError, context: &Context) -> bool {
    context.settings.is_of_class() && refusal::waits_for_quota(error)
}

/// Observes a refused apply, and since when it is refused.
fn observe_refusal(workshop: &Workshop, error: &ApplyError, context: &Context, now: Timestamp) -> Refusal {
    let id = Id::of(&workshop.metadata);
    let Some(reason) = refusal::of_workshop(error) else {
        context.memory.clear(id.uid, &[Since::Refused, Since::VolumeInUse]);
        return Refusal::Fleet { lacks_app: refusal::is_about_pod(error) };
    };
    if waits_for_quota(error, context) {
        context.memory.clear(id.uid, &[Since::Refused, Since::VolumeInUse]);
        return Refusal::Quota { message: reason.message };
    }
    let (wait, other, grace, condition, message) = match error {
        ApplyError::VolumeInUse { .. } => {
            let grace = context.settings.start_timeout;
            (Since::VolumeInUse, Since::Refused, grace, "VolumeInUse", error.to_string())
        }
        _ => {
            let grace = context.settings.room_grace;
            (Since::Refused, Since::VolumeInUse, grace, "Refused", reason.message.clone())
        }
    };
    context.memory.clear(id.uid, &[other]);
    Refusal::Workshop { condition, message, reason, until: add(context.memory.record(id, wait, now), grace) }
}

/// Writes the final status first, and then deletes the workload. The write fails if the Workshop has changed since it
/// was read, for example through an extension. If the operator is killed after the write, the next leader sees the
/// final status and deletes the workload.
async fn finish(workshop: &Workshop, status: WorkshopStatus, context: &Context) -> Result<Action, ReconcileError> {
    write::write_status(workshop, status, context).await?;
    end(workshop, context).await
}

/// Deletes the workload of a Workshop that has ended or is being deleted.
async fn end(workshop: &Workshop, context: &Context) -> Result<Action, ReconcileError> {
    apply::remove(context, &workshop.name_any(), &workshop.uid().unwrap_or_default()).await?;
    Ok(Action::await_change())
}

async fn report_unreadable(object: &InvalidObject, context: &Context) -> Result<Action, ReconcileError> {
    let name = object.metadata.name.clone().unwrap_or_default();
    context.memory.clear(Id::of(&object.metadata).uid, &[Since::Unreported]);
    tracing::warn!(workshop = %name, error = %object.error, "Workshop cannot be parsed, setting its status to Failed");
    let reason = FailureReason::new(FailureCode::InvalidSpec, Some(object.error.as_str().into()));
    let Some(now) = live_read::read_unparsed(context, &object.metadata).await? else {
        return Ok(Action::await_change());
    };
    let known = now.data.get("status").and_then(|status| serde_json::from_value(status.clone()).ok());
    let status = lifecycle::unreadable(known.as_ref(), now.metadata.generation, reason, context.clock.now());
    if known.as_ref() != Some(&status) {
        write::patch(context, &now, &status).await?;
    }
    Ok(Action::requeue(RESYNC_INTERVAL))
}

/// Logs a failed reconcile, and returns when to retry it.
pub(crate) fn retry(object: Arc<Guarded>, error: &ReconcileError, context: Arc<Context>) -> Action {
    let name = object.name_any();
    let mut delay = context.memory.failed(Id::of(object.meta()));
    if let ReconcileError::Apply { next: Some(next), .. } = error {
        delay = delay.min(requeue_delay(Some(*next), &[], context.clock.now()));
    }
    let stale = matches!(error, ReconcileError::Request(error) if error.is_conflict());
    if stale {
        tracing::debug!(workshop = %name, "Workshop changed during its reconcile, retrying");
    } else {
        tracing::warn!(workshop = %name, %error, retry_seconds = delay.as_secs_f64(), "reconcile failed, retrying");
    }
    Action::requeue(delay)
}
