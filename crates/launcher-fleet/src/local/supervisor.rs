//! The supervisor task of one Workshop: starts it, waits for it, terminates it, explains its failure.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::{FailureCode, FailureReason};
use launcher_workshop::{Phase, WorkshopStatus};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::Context;
use super::exit::ExitWatch;
use super::listener::{Listener, find_listener};
use super::readiness::{Readiness, wait_for_app};
use super::state::Record;
use super::workload::{DesiredState, Workload};
use super::{layout, log, start, termination};

/// Polling interval of the clock and the log. The clock is polled because it may jump, and the machine may be
/// suspended.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Maximum number of ports tried when other programs take them.
const PORT_ATTEMPTS: u32 = 3;

/// Supervises one Workshop.
#[derive(Debug)]
pub(super) struct Supervisor {
    workload: Arc<Workload>,
    context: Arc<Context>,
    /// The exit of the leading process, while one runs.
    exit: Option<ExitWatch>,
}

/// The remainder of a Workshop when its supervisor ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remainder {
    /// Its record, or a part of it: the next launcher takes it over or clears it.
    Record,
    /// Nothing remains.
    Nothing,
}

impl Remainder {
    pub(super) fn is_gone(self) -> bool {
        self == Self::Nothing
    }
}

/// Why a Workshop stops.
#[derive(Debug)]
pub(super) enum StopReason {
    Failed(FailureReason),
    Expired,
    /// The desired state changed during the start.
    Superseded,
}

/// Why the wait for an app ends.
#[derive(Debug)]
enum AppOutcome {
    Stopped(StopReason),
    /// Another program has its port: it is restarted on another one.
    PortTaken,
}

impl Supervisor {
    /// Creates the supervisor of a Workshop that does not run, or whose process was adopted from an earlier launcher.
    pub(super) fn new(workload: Arc<Workload>, adopted: Option<ExitWatch>) -> Self {
        let context = Arc::clone(workload.context());
        Self { workload, context, exit: adopted }
    }

    /// Follows the desired state until it cannot change any more.
    pub(super) async fn run(mut self) -> Remainder {
        let mut desired_states = self.workload.watch_desired_state();
        loop {
            let desired_state = *desired_states.borrow_and_update();
            match desired_state {
                DesiredState::Deleted => return self.delete().await,
                DesiredState::Stopped => return self.stop().await,
                DesiredState::Running => {}
            }
            let reason = tokio::select! {
                _ = desired_states.changed() => continue,
                reason = self.run_app() => reason,
            };
            self.finish(reason).await;
        }
    }

    /// Starts the app and supervises it until it stops. Cancel-safe: the started process is in the record.
    async fn run_app(&mut self) -> StopReason {
        if matches!(self.workload.phase(), Phase::Failed | Phase::Expired) {
            return std::future::pending().await;
        }
        let mut attempts = 1;
        loop {
            if self.is_expired() {
                return StopReason::Expired;
            }
            if self.exit.is_none() {
                self.terminate_processes().await;
                match start::start(&self.workload).await {
                    Ok(watch) => self.exit = Some(watch),
                    Err(reason) => return reason,
                }
            }
            let outcome = tokio::select! {
                ended = wait_for_exit(&mut self.exit) => Err(ended),
                outcome = monitor_app(&self.workload) => Ok(outcome),
            };
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(ended) => self.classify_exit(&ended).await,
            };
            match outcome {
                AppOutcome::Stopped(reason) => return reason,
                AppOutcome::PortTaken if attempts == PORT_ATTEMPTS => return StopReason::Failed(ports_taken()),
                AppOutcome::PortTaken => {
                    tracing::warn!(workshop = self.workload.name(), "port taken by another program, restarting app");
                    attempts += 1;
                    self.terminate_processes().await;
                }
            }
        }
    }

    /// Interprets the exit of the leading process: an app whose port is taken exits, each with its own message.
    async fn classify_exit(&mut self, ended: &str) -> AppOutcome {
        self.exit = None;
        let port =
            self.workload.record().process.filter(|_| self.workload.phase() != Phase::Running).map(|held| held.port);
        if let Some(port) = port
            && matches!(find_listener(&self.workload, port).await, Ok(Listener::Foreign))
        {
            return AppOutcome::PortTaken;
        }
        AppOutcome::Stopped(StopReason::Failed(FailureReason::new(FailureCode::Crashed, Some(ended))))
    }

    fn is_expired(&self) -> bool {
        expiry_of(&self.workload.record()).is_some_and(|end| end <= self.context.clock.now())
    }

    /// Terminates the processes first, then sets the status: a Workshop with the status Failed or Expired has no
    /// processes.
    async fn finish(&mut self, reason: StopReason) {
        let tail = log::tail(&self.context.layout.log(self.workload.name()));
        self.terminate_processes().await;
        let status = match reason {
            StopReason::Superseded => return,
            StopReason::Expired => WorkshopStatus { phase: Phase::Expired, ..WorkshopStatus::default() },
            StopReason::Failed(failure) => WorkshopStatus::failed(failure, tail),
        };
        tracing::info!(workshop = self.workload.name(), phase = ?status.phase, reason = status.message, "Workshop ended");
        self.workload
            .settle(move |record| {
                let ready_at = record.status().ready_at;
                record.set_status(WorkshopStatus { ready_at, ..status.clone() });
                record.process = None;
            })
            .await;
    }

    async fn stop(&mut self) -> Remainder {
        self.terminate_processes().await;
        self.workload.settle(|record| record.process = None).await;
        Remainder::Record
    }

    /// Terminates the processes and removes the files. The record is removed last, so that a launcher that is killed in
    /// between can resume.
    async fn delete(&mut self) -> Remainder {
        self.terminate_processes().await;
        let working = self.context.layout.working(self.workload.name());
        if let Err(error) = tokio::task::spawn_blocking(move || layout::remove(&working)).await.unwrap_or(Ok(())) {
            tracing::warn!(workshop = self.workload.name(), %error, "removing working directory failed");
        }
        if self.workload.remove().await { Remainder::Nothing } else { Remainder::Record }
    }

    /// Detaches the proxy, and terminates all processes of this Workshop.
    async fn terminate_processes(&mut self) {
        self.workload.detach_proxy();
        // Waits for a start in progress. No other start can follow, because the desired state has changed.
        let leader = self.workload.settled_record().await.process.map(|started| started.leader);
        let grace = self.context.settings.stop_grace;
        termination::terminate(&self.context.scanner, &self.workload.marker(), leader.as_ref(), grace).await;
        self.workload.release_port();
        self.exit = None;
    }
}

async fn wait_for_exit(exit: &mut Option<ExitWatch>) -> String {
    match exit {
        Some(exit) => exit.wait_for_exit().await,
        None => std::future::pending().await,
    }
}

fn ports_taken() -> FailureReason {
    let message =
        format!("Other programs of this machine took each of the {PORT_ATTEMPTS} ports that the workshop was given.");
    let remedy = "Launch it again; if it happens again, its program may listen in a way that hides whose it is.";
    FailureReason { message, ..FailureReason::new(FailureCode::Unschedulable, None) }.with_remedy(remedy)
}

/// Waits until the app answers, sets the status, and then waits for the expiry.
async fn monitor_app(workload: &Arc<Workload>) -> AppOutcome {
    let record = workload.record();
    let Some(started) = &record.process else { return std::future::pending().await };
    if record.status().phase != Phase::Running {
        let context = workload.context();
        tokio::select! {
            readiness = wait_for_app(workload, started.port) => match readiness {
                Ok(Readiness::Ready) => {}
                Ok(Readiness::PortTaken) => return AppOutcome::PortTaken,
                Err(error) => {
                    let reason = start::broken("it cannot be told who listens on its port", &error);
                    return AppOutcome::Stopped(reason);
                }
            },
            () = wait_for_expiry(workload) => return AppOutcome::Stopped(StopReason::Expired),
            () = sleep(context.settings.start_timeout) => {
                let detail = format!("It was given {} seconds.", context.settings.start_timeout.as_secs());
                let reason = FailureReason::new(FailureCode::StartTimeout, Some(&detail));
                return AppOutcome::Stopped(StopReason::Failed(reason));
            }
        }
        workload.attach_proxy(started);
        let (now, url) = (context.clock.now(), context.settings.url(workload.name()));
        workload
            .settle(move |record| {
                let ready_at = record.status().ready_at.or(Some(now));
                record.set_status(WorkshopStatus {
                    phase: Phase::Running,
                    url: Some(url.clone()),
                    ready_at,
                    ..WorkshopStatus::default()
                });
            })
            .await;
        tracing::info!(workshop = workload.name(), "Workshop ready");
    }
    wait_for_expiry(workload).await;
    AppOutcome::Stopped(StopReason::Expired)
}

/// Waits for the expiry, which each extension changes; meanwhile keeps the log small.
async fn wait_for_expiry(workload: &Arc<Workload>) {
    let mut ticks = interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if expiry_of(&workload.record()).is_some_and(|end| end <= workload.context().clock.now()) {
            return;
        }
        if let Err(error) = log::cap(&workload.context().layout.log(workload.name())) {
            tracing::debug!(workshop = workload.name(), %error, "truncating log failed");
        }
    }
}

fn expiry_of(record: &Record) -> Option<Timestamp> {
    record.workshop.spec.expiry(record.status().ready_at)
}
