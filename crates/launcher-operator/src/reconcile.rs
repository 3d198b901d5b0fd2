//! Reconciles one Workshop: reads the watch cache, validates, builds, applies, and writes the status.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::core::error_boundary::InvalidObject;
use kube::runtime::controller::Action;
use kube::runtime::reflector::store::WriterDropped;
use launcher_domain::{Crash, FailureCode, FailureReason, Report};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use tokio::time::{Instant, timeout};

use crate::apply::annotations::{self, PodAnnotationError};
use crate::apply::{self, ApplyError, deletion, refusal};
use crate::children::Guarded;
use crate::context::Context;
use crate::diagnose::{
    Diagnosis, ObservedWorkload, add, app_crashes, archive_address, diagnose, material_report, moved, pull_fails,
    restore_address,
};
use crate::lease::NotLeading;
use crate::live_read::{self, RESYNC_INTERVAL, read_live, requeue_delay};
use crate::metadata::is_of_another_workshop;
use crate::status;
use crate::status::failure_details::{self, Explained};
use crate::status::write::{self, StatusWriteError};
use crate::traces;
use crate::validate::{has_expired, has_passed, is_forbidden};
use crate::workload::{Wanted, awaits_restart, is_outdated};

/// Timeout of one reconcile, which is then retried. Without this timeout, the Kubernetes client retries for minutes.
const DEADLINE: Duration = Duration::from_secs(30);
/// Interval of checks for a volume in use. The end of the other pod reconciles only the Workshop of that pod.
const VOLUME_INTERVAL: Duration = Duration::from_secs(2);
/// Interval of attempts to create a pod in a namespace whose quota is full.
const QUOTA_INTERVAL: Duration = Duration::from_secs(3);

/// Error of a reconcile. The operator retries the reconcile after a backoff.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReconcileError {
    #[error(transparent)]
    Apply(#[from] ApplyError),
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    #[error("the watches have ended: {0}")]
    Watches(#[from] WriterDropped),
    #[error("failed to re-read the Workshop: {0}")]
    Reread(kube::Error),
    #[error(transparent)]
    Status(#[from] StatusWriteError),
    #[error(transparent)]
    PodAnnotation(#[from] PodAnnotationError),
    #[error("the API server did not answer within {} seconds", DEADLINE.as_secs())]
    Slow,
}

/// Reconciles a Workshop within [`DEADLINE`], and records outcome and duration in the metrics.
pub(crate) async fn reconcile(object: Arc<Guarded>, context: Arc<Context>) -> Result<Action, ReconcileError> {
    let began = Instant::now();
    context.children.ready().await?;
    let outcome = match timeout(DEADLINE, reconcile_object(&object, &context)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(ReconcileError::Slow),
    };
    let word = if outcome.is_ok() { "ok" } else { "error" };
    context.metrics.record_reconcile(word, began.elapsed());
    if outcome.is_ok() {
        context.backoff.forget(&object.name_any());
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
    if is_final(known) {
        return end(known, context).await;
    }
    let (pods, wanted) = look(known, context);
    if !live_read::is_needed(known, wanted.as_ref().ok(), &pods, context, now) {
        return reconcile_spec(known, wanted, pods, context, now).await;
    }
    match read_live(context, known).await.map_err(ReconcileError::Reread)? {
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
    mut pods: Vec<Pod>,
    context: &Context,
    now: Timestamp,
) -> Result<Action, ReconcileError> {
    let (name, uid) = (workshop.name_any(), workshop.uid().unwrap_or_default());
    if is_final(workshop) {
        return end(workshop, context).await;
    }
    if has_expired(workshop, now) {
        return finish(workshop, status::expired(workshop, now), context).await;
    }
    let Wanted { validated, manifests: built } = match wanted {
        Ok(wanted) => wanted,
        Err(reason) => return finish(workshop, status::failed(workshop, &reason, None, now), context).await,
    };
    let gone = gone_pod(workshop, &pods, context);
    let (applied, routes) = match apply::apply(context, &name, &uid, &built, &pods, now).await {
        Ok(applied) => applied,
        Err(error) => return handle_refused_apply(workshop, error, context, now).await,
    };
    // The pod of a Workshop that has been ready can fail or become ready again while its Service or Ingress is refused.
    let routes = match routes {
        Err(error) if !was_ready(workshop) => return handle_refused_apply(workshop, error, context, now).await,
        routes => routes,
    };
    context.forget_refusals(&name);
    pods.retain(|pod| !is_of_another_workshop(&pod.metadata, &uid));
    let present = pods.len();
    // Only the diagnosis uses the pod that is gone: it explains the disruption.
    pods.extend(gone);
    let (observed_pods, pods) = (&pods[..], &pods[..present]);
    let keeps_files = workshop.spec.storage.is_some();
    let moved = moved(observed_pods).filter(|_| keeps_files);
    let unreported_since = write::unreported_since(workshop, context, now);
    let waiting_since = status::waiting_since(workshop, &applied, unreported_since);
    // The start timeout of the next pod begins at the disruption. The cluster notices the loss of a node minutes after the
    // pod lost its readiness.
    let waiting_since = waiting_since.max(moved.as_ref().map_or_else(|| last_move(workshop), |crash| crash.at));
    let pull_fails_since = pull_fails(pods).then(|| context.pull_failures.record(&name, now));
    if pull_fails_since.is_none() {
        context.pull_failures.forget(&name);
    }
    let crashes = app_crashes(workshop, pods);
    let crash_verdict = crashes.as_ref().map(|crashes| crashes.verdict);
    let observed =
        ObservedWorkload { pods: observed_pods, waiting_since, pull_fails_since, crash_verdict, keeps_files };
    let Explained { diagnosis, log_tail, listens_elsewhere } =
        failure_details::explain(context, workshop, diagnose(&observed, &context.settings, now)).await;
    let since = if matches!(diagnosis, Diagnosis::Waiting { .. }) { unreported_since } else { now };
    let mut status = status::of_applied(workshop, &applied, &diagnosis, log_tail, since);
    status.report.listens_elsewhere = listens_elsewhere;
    if routes.is_err() {
        status = status::with_previous_exposure(status, workshop);
    }
    // The pods that await a restart are deleted, so the status already describes the successor. A restart with a
    // forbidden pod template would fail the Workshop.
    let can_restart = !is_forbidden(&validated, &context.settings);
    let stays_outdated =
        |pod: &Pod| is_outdated(pod, &built.pod.metadata) && !awaits_restart(&pod.metadata, &built.pod.metadata);
    if can_restart && !status.phase.is_final() && pods.iter().any(stays_outdated) {
        status = status::with_outdated_pod(status);
    }
    status = status::with_archive_address(status, archive_address(&workshop.spec, pods));
    status = status::with_restore_address(status, restore_address(&workshop.spec, pods));
    let last_crash = crashes.as_ref().and_then(|crashes| crashes.last.clone()).or(moved);
    // A pod that replaces another one has no report yet: the status keeps the former one.
    let material = material_report(workshop, pods, &context.settings);
    status.report = status.report.with_lasting(Report { last_crash, material, ..Report::default() });
    if !status.phase.is_final() {
        let expiry = workshop.spec.expiry(status.ready_at);
        status = status::with_expiry(status, expiry);
    }
    let next = requeue_delay(&diagnosis, workshop.spec.end(status.ready_at), pods, now);
    if let Some(delay) = write::remaining_delay(workshop, &status, context, now) {
        routes?;
        return Ok(Action::requeue(delay.min(next)));
    }
    write::write_status(workshop, status.clone(), context).await?;
    // After the status: if the operator is killed in between, the next one counts the crash again, as the same one.
    annotations::write_crashes(context, crashes.as_ref()).await?;
    annotations::write_expiry(context, pods, &workshop.spec, status.ready_at, now).await?;
    traces::record_steps(workshop, pods, &status, now);
    routes?;
    Ok(Action::requeue(next))
}

/// Returns the pod of a Workshop that the cluster has disrupted, if it is gone, and if the status does not report it yet.
fn gone_pod(workshop: &Workshop, seen: &[Pod], context: &Context) -> Option<Pod> {
    let pod = context.disrupted_pods.find(&workshop.name_any(), workshop.metadata.uid.as_deref()?)?;
    if seen.iter().any(|one| one.metadata.uid == pod.metadata.uid) {
        return None;
    }
    let at = moved(std::slice::from_ref(&pod)).map(|crash| crash.at);
    let reported = workshop.status.as_ref().and_then(|status| Some(status.report.last_crash.as_ref()?.at));
    // The status may have a later crash of the next pod: the disruption is then reported, too.
    let is_reported = workshop.spec.storage.is_some() && reported.is_some() && reported >= at;
    (!is_reported).then_some(pod)
}

/// Returns the time of the last move of a Workshop to another pod, from its status.
fn last_move(workshop: &Workshop) -> Timestamp {
    let crash = workshop.status.as_ref().and_then(|status| status.report.last_crash.as_ref());
    let is_move = |crash: &&Crash| matches!(crash.code, FailureCode::Evicted | FailureCode::NodeLost);
    crash.filter(is_move).map_or(Timestamp::MIN, |crash| crash.at)
}

/// True if the app of the Workshop has been ready at some time.
fn was_ready(workshop: &Workshop) -> bool {
    workshop.status.as_ref().is_some_and(|status| status.ready_at.is_some())
}

/// Handles a failed apply. If the Workshop causes the refusal, its status explains the cause, and it fails when the
/// refusal lasts longer than the grace period. After all other errors the operator only retries. A Workshop that has been
/// ready keeps running, unless it has no pod.
async fn handle_refused_apply(
    workshop: &Workshop,
    error: ApplyError,
    context: &Context,
    now: Timestamp,
) -> Result<Action, ReconcileError> {
    let name = workshop.name_any();
    context.unreported_steps.forget(&name);
    let was_ready = was_ready(workshop);
    let lacks_pod = refusal::is_about_pod(&error);
    let Some(reason) = refusal::of_workshop(&error).filter(|_| !was_ready || lacks_pod) else {
        context.forget_refusals(&name);
        if was_ready && lacks_pod {
            write::write_status(workshop, status::without_pod(workshop, now), context).await?;
        }
        return Err(error.into());
    };
    // The launcher holds the next launches of a class whose quota is full. This one waits like them.
    if context.settings.is_of_class() && refusal::waits_for_quota(&error) {
        context.forget_refusals(&name);
        write::write_status(workshop, status::waiting_for_quota(workshop, &reason, now), context).await?;
        return Ok(Action::requeue(QUOTA_INTERVAL));
    }
    let is_volume_in_use = matches!(error, ApplyError::VolumeInUse { .. });
    let (waits, others, grace) = if is_volume_in_use {
        (&context.volume_waits, &context.refusals, context.settings.start_timeout)
    } else {
        (&context.refusals, &context.volume_waits, context.settings.room_grace)
    };
    others.forget(&name);
    if has_passed(Some(add(waits.record(&name, now), grace)), now) {
        return finish(workshop, status::failed(workshop, &reason, None, now), context).await;
    }
    if is_volume_in_use {
        write::write_status(workshop, status::waiting_for_volume(workshop, &error.to_string(), now), context).await?;
        return Ok(Action::requeue(VOLUME_INTERVAL));
    }
    write::write_status(workshop, status::refused(workshop, &reason, now), context).await?;
    Err(error.into())
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

/// True if the Workshop has failed or expired. Both are final, because the work in the app's memory is lost. The only
/// exception is a failure because of an invalid spec: it ends when the spec is corrected.
fn is_final(workshop: &Workshop) -> bool {
    workshop.status.as_ref().is_some_and(|status| {
        let is_corrected = status.phase == Phase::Failed && status.is_outdated(workshop.metadata.generation);
        status.phase.is_final() && !is_corrected
    })
}

/// Writes the status `Failed` for a Workshop that cannot be parsed.
async fn report_unreadable(object: &InvalidObject, context: &Context) -> Result<Action, ReconcileError> {
    let name = object.metadata.name.clone().unwrap_or_default();
    context.unreported_steps.forget(&name);
    tracing::warn!(workshop = %name, error = %object.error, "Workshop cannot be parsed, setting its status to Failed");
    let reason = FailureReason::new(FailureCode::InvalidSpec, Some(object.error.as_str().into()));
    let Some(now) = live_read::read_unparsed(context, &object.metadata).await.map_err(ReconcileError::Reread)? else {
        return Ok(Action::await_change());
    };
    let known = now.data.get("status").and_then(|status| serde_json::from_value(status.clone()).ok());
    let status = status::unreadable(known.as_ref(), now.metadata.generation, reason, context.clock.now());
    if known.as_ref() != Some(&status) {
        write::write_unparsed(context, &now, &status).await?;
    }
    Ok(Action::requeue(RESYNC_INTERVAL))
}

/// Logs a failed reconcile, and returns when to retry it.
pub(crate) fn retry(object: Arc<Guarded>, error: &ReconcileError, context: Arc<Context>) -> Action {
    let name = object.name_any();
    let delay = context.backoff.failed(&name);
    let stale = matches!(error, ReconcileError::Status(error) if error.is_conflict());
    if stale {
        tracing::debug!(workshop = %name, "Workshop changed during its reconcile, retrying");
    } else {
        tracing::warn!(workshop = %name, %error, retry_seconds = delay.as_secs_f64(), "reconcile failed, retrying");
    }
    Action::requeue(delay)
}
