//! Writes the status of a Workshop. A phase change is also reported with a metric and a log entry, and its result with a
//! Kubernetes Event.
//!
//! The operator limits how often it writes the step of a start. The steps follow each other quickly, and each write costs
//! processor time of the API server: this delays the start if many Workshops start together. The status therefore lacks the
//! current step for some time. The more Workshops start together, the longer is this time.

use std::time::Duration;

use jiff::Timestamp;
use kube::api::Patch;
use kube::runtime::events::{Event, EventType, Recorder};
use kube::{Resource, ResourceExt};
use launcher_domain::Report;
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use serde_json::json;

use crate::context::{Context, RequestError};
use crate::memory::{Id, Since};
use crate::metadata::server_side_apply;

/// Writes the status if it differs from the current one. Fails if the Workshop has changed since it was read.
pub(crate) async fn write_status(
    workshop: &Workshop,
    status: WorkshopStatus,
    context: &Context,
) -> Result<(), RequestError> {
    if workshop.status.clone().unwrap_or_default() == status {
        return Ok(());
    }
    patch(context, workshop, &status).await?;
    notify(context, workshop, &status).await;
    Ok(())
}

/// Writes a status as an untyped object, because the Workshop, also the one in the response, may be unreadable. Fails if the
/// Workshop has changed since it was read.
pub(crate) async fn patch(
    context: &Context,
    workshop: &(impl ResourceExt + Sync),
    status: &WorkshopStatus,
) -> Result<(), RequestError> {
    context.fence.check()?;
    let failed = RequestError::to("write the status");
    let status = serde_json::to_value(status).map_err(kube::Error::SerdeError).map_err(&failed)?;
    let name = workshop.name_any();
    let mut body = json!({
        "apiVersion": Workshop::api_version(&()),
        "kind": Workshop::kind(&()),
        "metadata": { "name": name },
        "status": status,
    });
    if let Some(version) = workshop.resource_version() {
        body["metadata"]["resourceVersion"] = version.into();
    }
    match context.untyped_workshops().patch_status(&name, &server_side_apply(), &Patch::Apply(&body)).await {
        Ok(_) => Ok(()),
        // The Workshop was deleted during the reconcile: it needs no status.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// Reports the phase if it has changed. If writing the Event fails, this only logs the error.
async fn notify(context: &Context, workshop: &Workshop, status: &WorkshopStatus) {
    let before = workshop.status.as_ref();
    let same = before.is_some_and(|before| before.phase == status.phase && before.reason == status.reason);
    if same {
        return;
    }
    context.metrics.record_transition(status.phase, status.reason.as_deref());
    let name = workshop.metadata.name.as_deref().unwrap_or_default();
    tracing::info!(workshop = name, phase = ?status.phase, reason = status.reason, "Workshop phase changed");
    // The scheduler and the kubelet already report the steps of the first start, with Events of the pod.
    if matches!(status.phase, Phase::Pending | Phase::Starting) && status.ready_at.is_none() {
        return;
    }
    let event = Event {
        type_: if status.phase == Phase::Failed { EventType::Warning } else { EventType::Normal },
        reason: format!("{:?}", status.phase),
        note: note(status),
        action: "Reconcile".to_owned(),
        secondary: None,
    };
    // Use a new recorder for each Event. A shared recorder would keep all Events in memory for minutes to count
    // repetitions, but a phase change does not repeat.
    let recorder = Recorder::new(context.client.clone(), context.reporter.clone());
    if let Err(error) = recorder.publish(&event, &workshop.object_ref(&())).await {
        tracing::warn!(workshop = name, %error, "writing the Event of a phase change failed");
    }
}

fn note(status: &WorkshopStatus) -> Option<String> {
    match (&status.message, &status.report.url) {
        (Some(message), _) => {
            let reason = status.reason.as_deref().unwrap_or_default();
            Some(format!("{reason}: {message}").chars().take(1000).collect())
        }
        (None, Some(url)) => Some(format!("The app answers at {url}")),
        (None, None) => None,
    }
}

/// Time for which a status may lack the current step, if few Workshops start together.
const LEAST_DELAY: Duration = Duration::from_secs(2);
/// The same time, if many Workshops start together.
const MOST_DELAY: Duration = Duration::from_secs(15);
/// Part of the delay for each Workshop whose status lacks its step. A start takes about this processor time: see
/// `docs/performance.md`.
const DELAY_OF_ONE: Duration = Duration::from_millis(500);

/// Returns the time at which this operator first reconciled the Workshop, if the Workshop has no status yet, and
/// otherwise `now`.
pub(crate) fn unreported_since(workshop: &Workshop, context: &Context, now: Timestamp) -> Timestamp {
    if workshop.status.is_some() { now } else { record(workshop, context, now) }
}

fn record(workshop: &Workshop, context: &Context, now: Timestamp) -> Timestamp {
    context.memory.record(Id::of(&workshop.metadata), Since::Unreported, now)
}

/// Returns how long the write of this status can still wait. Returns `None` if it must be written now: something
/// other than the step has changed, or the delay is over.
pub(crate) fn remaining_delay(
    workshop: &Workshop,
    status: &WorkshopStatus,
    context: &Context,
    now: Timestamp,
) -> Option<Duration> {
    let rest = || {
        let since = record(workshop, context, now);
        let elapsed = Duration::try_from(now.duration_since(since)).ok()?;
        delay(context.memory.count(Since::Unreported)).checked_sub(elapsed).filter(|rest| !rest.is_zero())
    };
    let rest = if tells_only_another_step(workshop, status) { rest() } else { None };
    if rest.is_none() {
        context.memory.clear(Id::of(&workshop.metadata).uid, &[Since::Unreported]);
    }
    rest
}

/// Returns the time for which a status may lack the current step, if this many Workshops lack theirs.
fn delay(unreported: usize) -> Duration {
    let delay = DELAY_OF_ONE.saturating_mul(u32::try_from(unreported).unwrap_or(u32::MAX));
    delay.clamp(LEAST_DELAY, MOST_DELAY)
}

/// True if the status differs from the one of the Workshop, but not in phase, generation, last crash, material, or the
/// address at which the pod waits for the launcher.
fn tells_only_another_step(workshop: &Workshop, status: &WorkshopStatus) -> bool {
    let Some(known) = &workshop.status else {
        return status.phase == Phase::Starting && status.report.lasting() == Report::default();
    };
    let told = |of: &WorkshopStatus| (of.phase, of.observed_generation, of.restore_address, of.report.lasting());
    status.phase == Phase::Starting && known != status && told(known) == told(status)
}
