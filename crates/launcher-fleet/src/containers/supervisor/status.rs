//! Changes of a Workshop's status by its supervisor: the steps of a start, readiness, crashes.

use std::sync::Arc;

use launcher_domain::{FailureReason, Report, StartStep};
use launcher_workshop::lifecycle::{self, Action};
use launcher_workshop::{Phase, WorkshopStatus};

use super::outcome::Outcome;
use crate::containers::workload::Workload;
use crate::machine::{ready, starting};

/// Sets the step of the start.
pub(super) async fn set_step(workload: &Arc<Workload>, step: StartStep) {
    observe(workload, starting(step)).await;
}

/// Sets the step of the start, with its progress: see [`start_progress`](launcher_domain::Report::start_progress).
pub(super) async fn set_progress(workload: &Arc<Workload>, step: StartStep, progress: u32) {
    let report = Report { start_progress: Some(progress), ..Report::default() };
    observe(workload, lifecycle::Workload { report, ..starting(step) }).await;
}

/// Sets the status `Running`, with the workshop's addresses.
pub(super) async fn set_ready(workload: &Arc<Workload>) {
    let urls = workload.context().settings.origins.urls(workload.stored_record().name());
    observe(workload, ready(urls)).await;
}

/// Observes the workload, and stores the status that follows.
pub(super) async fn observe(workload: &Arc<Workload>, observed: lifecycle::Workload) {
    workload.stored_record().observe(observed, workload.context().data_dir.clock.now()).await;
}

/// Returns the final status if the lifetime of the Workshop is over.
pub(super) fn expired(workload: &Workload) -> Option<Box<WorkshopStatus>> {
    workload.stored_record().expired(workload.context().data_dir.clock.now())
}

/// Stores and reports a crash after which the app starts again in its container, which has the owner's files. The status
/// then says that the app is being restarted, so that the next launch starts it, even if another launcher does this.
///
/// # Errors
/// The app does not start again.
pub(super) async fn record_crash(workload: &Arc<Workload>, reason: Box<FailureReason>) -> Result<(), Outcome> {
    let stored = workload.stored_record();
    let (mut record, now) = (stored.get(), workload.context().data_dir.clock.now());
    let decision = record.observe_crash(&reason, now);
    match decision.action {
        Action::Restart => {}
        _ if decision.status.phase == Phase::Expired => return Err(Outcome::Expired(Box::new(decision.status))),
        _ => return Err(Outcome::Failed(reason)),
    }
    tracing::warn!(workshop = stored.name(), reason = reason.message, "app crashed, starting it again");
    stored.settle(move |record| drop(record.observe_crash(&reason, now))).await;
    Ok(())
}
