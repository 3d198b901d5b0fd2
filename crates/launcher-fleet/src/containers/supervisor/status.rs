//! Changes of a Workshop's status by its supervisor: the steps of a start, readiness, crashes.

use std::sync::Arc;

use launcher_domain::crash::CrashVerdict;
use launcher_domain::{Crash, FailureReason, StartStep};
use launcher_workshop::WorkshopStatus;

use crate::containers::workload::{Record, Workload};

/// Sets the step of the start. The time at which the workshop was first ready stays.
pub(super) async fn set_step(workload: &Arc<Workload>, step: StartStep) {
    set_starting(workload, step, None).await;
}

/// Sets the step of the start, with its progress: see [`start_progress`](launcher_domain::Report::start_progress).
pub(super) async fn set_progress(workload: &Arc<Workload>, step: StartStep, progress: u32) {
    set_starting(workload, step, Some(progress)).await;
}

async fn set_starting(workload: &Arc<Workload>, step: StartStep, start_progress: Option<u32>) {
    let since = workload.starting_since();
    let change = move |record: &mut Record| {
        let mut status = WorkshopStatus::starting(step, record.status().ready_at);
        status.report.start_progress = start_progress;
        status.conditions = since.map(WorkshopStatus::unready_since).into_iter().collect();
        record.set_status(status);
    };
    workload.stored_record().settle(change).await;
}

/// Sets the status `Running`, with the workshop's addresses. The time at which the workshop was first ready stays.
pub(super) async fn set_ready(workload: &Arc<Workload>) {
    let (context, name) = (workload.context(), workload.stored_record().name());
    let (now, urls) = (context.data_dir.clock.now(), context.settings.origins.urls(name));
    workload.stored_record().settle(move |record| record.set_ready(now, urls.clone())).await;
}

/// True once the Workshop has expired. With a planned snapshot, the grace period must be over, too.
pub(super) fn is_expired(workload: &Workload) -> bool {
    let now = workload.context().data_dir.clock.now();
    workload.stored_record().get().end().is_some_and(|end| end <= now)
}

/// Decides whether a crashed app starts again in its container, which has the owner's files. If so, stores and reports the
/// crash. The status then says that the app is being restarted, so that the next launch starts it, even if another launcher
/// does this.
pub(super) async fn record_crash(workload: &Arc<Workload>, reason: &FailureReason) -> CrashVerdict {
    let record = workload.stored_record().get();
    let (now, was_ready) = (workload.context().data_dir.clock.now(), record.status().ready_at.is_some());
    let mut crashes = record.crashes;
    let verdict = crashes.record(now, was_ready);
    if verdict == CrashVerdict::StartAgain {
        let workshop = workload.stored_record().name();
        tracing::warn!(workshop, reason = reason.message, "app crashed, starting it again");
        let crash = Crash { at: now, code: reason.code, files_lost: false };
        let change = move |record: &mut Record| record.set_crashed(&crashes, crash.clone(), StartStep::RestartingApp);
        workload.stored_record().settle(change).await;
    }
    verdict
}
