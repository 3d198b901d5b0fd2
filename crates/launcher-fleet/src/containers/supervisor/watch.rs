//! Watches the containers of a launched Workshop: waits until the app answers, and then until the workshop ends.

use std::sync::Arc;
use std::time::Duration;

use launcher_workshop::Phase;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::files::{FrameStatus, write_frame_status};
use super::observed::{Observed, Stage, Verdict};
use super::outcome::Outcome;
use super::probe::wait_until_ready;
use super::step::{is_expired, set_ready};
use crate::containers::diagnose;
use crate::containers::workload::Workload;

/// Polling interval for the expiry and the values of the frame page. A timer for the expiry would miss changes of the clock and a suspended machine.
const EXPIRY_INTERVAL: Duration = Duration::from_millis(250);
/// Interval of inspections without an event. Events may be lost with the connection to the engine.
const INSPECTION_INTERVAL: Duration = Duration::from_secs(15);
/// Delay before a second inspection confirms a crash or a failure. If the engine stops, it ends the app before the
/// sidecar. This is not a crash of the app.
const SECOND_LOOK: Duration = Duration::from_secs(1);

/// Waits until the app answers, gives the owner access, and then waits until the workshop ends.
pub(super) async fn watch(workload: &Arc<Workload>) -> Outcome {
    let is_adopted = workload.stored_record().phase() == Phase::Running;
    if !is_adopted {
        let start_timeout = workload.context().settings.start_timeout;
        let run_dir = workload.run_dir();
        tokio::select! {
            () = wait_until_ready(&run_dir) => {}
            outcome = wait_for_end(workload) => return outcome,
            () = sleep(start_timeout) => {
                let app = Observed::of(workload).await.ok().and_then(|observed| observed.app);
                return Outcome::failed(diagnose::start_timeout(app.as_ref()));
            }
        }
    }
    workload.set_open(true);
    // For an adopted workshop too: the launcher's public address may have changed.
    set_ready(workload).await;
    if !is_adopted {
        tracing::info!(workshop = workload.stored_record().name(), "Workshop is ready");
    }
    let outcome = wait_for_end(workload).await;
    workload.set_open(false);
    outcome
}

/// Waits for the expiry or for the end of a container. It writes new values for the frame page.
async fn wait_for_end(workload: &Arc<Workload>) -> Outcome {
    let (mut ticks, mut inspections) = (interval(EXPIRY_INTERVAL), interval(INSPECTION_INTERVAL));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    inspections.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut written = None;
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                if is_expired(workload) {
                    return Outcome::Expired;
                }
                let status = FrameStatus::of(workload);
                if written.as_ref() != Some(&status) {
                    match write_frame_status(workload, &status).await {
                        Ok(()) => written = Some(status),
                        Err(error) => {
                            let workshop = workload.stored_record().name();
                            tracing::debug!(workshop, %error, "writing values of the frame page failed, retrying");
                        }
                    }
                }
                continue;
            }
            () = workload.woken() => {}
            _ = inspections.tick() => {}
        }
        if let Some(outcome) = inspect(workload).await {
            return outcome;
        }
    }
}

/// Returns the outcome if a container has ended. Without the engine the sidecar still serves, so an unreachable engine
/// ends nothing.
async fn inspect(workload: &Arc<Workload>) -> Option<Outcome> {
    let mut verdict = look(workload).await?;
    if matches!(verdict, Verdict::AppEnded(_) | Verdict::Failed(_)) {
        sleep(SECOND_LOOK).await;
        verdict = look(workload).await?;
    }
    outcome(verdict)
}

fn outcome(verdict: Verdict) -> Option<Outcome> {
    match verdict {
        Verdict::Running => None,
        Verdict::Ended | Verdict::NotStarted => Some(Outcome::Restart),
        Verdict::AppEnded(reason) => Some(Outcome::Crashed(reason)),
        Verdict::Failed(reason) => Some(Outcome::Failed(reason)),
    }
}

async fn look(workload: &Arc<Workload>) -> Option<Verdict> {
    match Observed::of(workload).await {
        Ok(observed) => Some(observed.verdict(Stage::Started)),
        Err(error) => {
            let workshop = workload.stored_record().name();
            tracing::debug!(workshop, %error, "inspecting containers failed, retrying");
            None
        }
    }
}
