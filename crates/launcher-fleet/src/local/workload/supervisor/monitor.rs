//! Monitors a started app: waits until it answers, and then until its expiry.

use std::sync::Arc;
use std::time::Duration;

use launcher_domain::{FailureCode, FailureDetail, FailureReason};
use launcher_workshop::{Phase, WorkshopStatus};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::readiness::{Readiness, wait_for_app};
use super::stop_reason::StopReason;
use crate::local::records::{Record, Started, log};
use crate::local::workload::handle::Workload;
use crate::machine::Supervised;

/// Polling interval for the expiry and the size of the log. A timer for the expiry would miss changes of the clock and
/// a suspended machine.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Reason why the monitoring of an app ended.
#[derive(Debug)]
pub(super) enum AppOutcome {
    Stopped(StopReason),
    /// The app exited.
    Crashed(FailureReason),
    /// Another program listens on the app's port. The supervisor restarts the app on another port.
    PortTaken,
}

/// Waits until the app answers, sets the status `Running`, and then waits for the expiry.
pub(super) async fn monitor_app(workload: &Arc<Workload>) -> AppOutcome {
    let record = workload.record().get();
    let Some(started) = &record.process else { return std::future::pending().await };
    if record.status().phase != Phase::Running {
        if let Err(outcome) = wait_until_ready(workload, started).await {
            return outcome;
        }
        workload.attach_proxy(started);
        set_ready(workload).await;
    }
    wait_for_expiry(workload).await;
    AppOutcome::Stopped(StopReason::Expired)
}

async fn wait_until_ready(workload: &Arc<Workload>, started: &Started) -> Result<(), AppOutcome> {
    let start_timeout = workload.context().settings.start_timeout;
    let reason = tokio::select! {
        readiness = wait_for_app(workload, started.port) => match readiness {
            Ok(Readiness::Ready) => return Ok(()),
            Ok(Readiness::PortTaken) => return Err(AppOutcome::PortTaken),
            Err(error) => StopReason::NotStarted { problem: "the program on its port cannot be identified", error },
        },
        () = wait_for_expiry(workload) => StopReason::Expired,
        () = sleep(start_timeout) => {
            let detail = FailureDetail::StartLimit { seconds: start_timeout.as_secs().to_string() };
            StopReason::Failed(FailureReason::new(FailureCode::StartTimeout, Some(detail)))
        }
    };
    Err(AppOutcome::Stopped(reason))
}

async fn set_ready(workload: &Arc<Workload>) {
    let context = workload.context();
    let (now, url) = (context.data_dir.clock.now(), context.settings.origins.url(workload.name()));
    let frame_url = context.settings.origins.frame_url(workload.name());
    let change = move |record: &mut Record| {
        let ready_at = record.status().ready_at.or(Some(now));
        record.set_status(WorkshopStatus {
            phase: Phase::Running,
            url: Some(url.clone()),
            frame_url: Some(frame_url.clone()),
            ready_at,
            ..WorkshopStatus::default()
        });
    };
    workload.record().settle(change).await;
    tracing::info!(workshop = workload.name(), "Workshop is ready");
}

/// Waits for the expiry, and truncates a large log meanwhile. It reads the expiry again at each poll, because an
/// extension changes it.
async fn wait_for_expiry(workload: &Arc<Workload>) {
    let mut ticks = interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if is_expired(workload) {
            return;
        }
        if let Err(error) = log::cap(&workload.context().data_dir.layout.log(workload.name())) {
            tracing::debug!(workshop = workload.name(), %error, "truncating the app's log failed");
        }
    }
}

/// True once the Workshop has expired. With a planned snapshot, the grace period must be over, too.
pub(super) fn is_expired(workload: &Workload) -> bool {
    workload.record().get().end().is_some_and(|end| end <= workload.context().data_dir.clock.now())
}
