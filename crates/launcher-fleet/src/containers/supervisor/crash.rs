//! A crash of the app. The app starts again in its container, which has the owner's files.

use std::sync::Arc;

use launcher_domain::crash::CrashVerdict;
use launcher_domain::{Crash, FailureReason, StartStep};
use launcher_workshop::WorkshopStatus;

use crate::containers::workload::{Record, Workload};

/// Decides whether a crashed app starts again. If so, stores and reports the crash. The status then says that the app is
/// being restarted, so that the next launch starts it, even if another launcher does this.
pub(super) async fn record_crash(workload: &Arc<Workload>, reason: &FailureReason) -> CrashVerdict {
    let record = workload.stored_record().get();
    let (now, was_ready) = (workload.context().data_dir.clock.now(), record.status().ready_at.is_some());
    let mut crashes = record.crashes;
    let verdict = crashes.record(now, was_ready);
    if verdict == CrashVerdict::StartAgain {
        let workshop = workload.stored_record().name();
        tracing::warn!(workshop, reason = reason.message, "app crashed, starting it again");
        let last_crash = Some(Crash { at: now, code: reason.code, files_lost: false }.into());
        let change = move |record: &mut Record| {
            record.crashes.clone_from(&crashes);
            let starting = WorkshopStatus::starting(StartStep::RestartingApp, record.status().ready_at);
            record.set_status(WorkshopStatus { last_crash: last_crash.clone(), ..starting });
        };
        workload.stored_record().settle(change).await;
    }
    verdict
}
