//! The supervisor task of one Workshop: starts the app, waits until it is ready, terminates it, and explains its
//! failure.

use std::io;
use std::sync::Arc;

use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy};
use launcher_workshop::lifecycle::Action;
use launcher_workshop::{Phase, WorkshopStatus};
use tokio::task::JoinError;

use super::handle::{Context, Workload};
use super::material::place_material;
use super::monitor::{AppOutcome, monitor_app};
use super::restore::restore_files;
use super::start::start_app;
use crate::local::ports::Listener;
use crate::local::process::{ExitWatch, terminate};
use crate::local::records::log_tail;
use crate::machine::{DesiredState, Remainder, Supervised, remove_directory};

/// Maximum number of ports that the supervisor tries if other programs take them.
const PORT_ATTEMPTS: u32 = 3;

/// Supervises one Workshop.
#[derive(Debug)]
pub(crate) struct Supervisor {
    workload: Arc<Workload>,
    context: Arc<Context>,
    /// Detects the exit of the app's leading process; `None` while no app runs.
    exit: Option<ExitWatch>,
}

impl Supervisor {
    /// Creates the supervisor of a Workshop. `adopted` is the app process of an earlier launcher, if one still runs.
    pub(crate) fn new(workload: Arc<Workload>, adopted: Option<ExitWatch>) -> Self {
        let context = Arc::clone(workload.context());
        Self { workload, context, exit: adopted }
    }

    /// Runs the app until the desired state becomes stopped or deleted, then terminates the app.
    pub(crate) async fn run(mut self) -> Remainder {
        let mut desired_states = self.workload.desired_state().watch();
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

    /// Starts the app and supervises it until it stops. Starts a crashed app again in place. Cancel-safe, because the
    /// record on disk has the started process.
    async fn run_app(&mut self) -> StopReason {
        if self.workload.record().phase().is_final() {
            return std::future::pending().await;
        }
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.run_once().await {
                AppOutcome::Stopped(reason) => return reason,
                AppOutcome::Crashed(reason) => {
                    if let Some(reason) = self.prepare_restart(reason).await {
                        return reason;
                    }
                    attempts = 0;
                }
                AppOutcome::PortTaken if attempts < PORT_ATTEMPTS => {
                    tracing::warn!(
                        workshop = self.workload.name(),
                        "another program listens on the app's port, restarting the app on another port"
                    );
                    self.terminate_processes().await;
                }
                AppOutcome::PortTaken => return StopReason::Failed(ports_taken()),
            }
        }
    }

    /// Starts the app if it does not run, and supervises it until it stops or loses its port. Cancel-safe.
    async fn run_once(&mut self) -> AppOutcome {
        if let Some(status) = self.workload.record().expired(self.context.data_dir.clock.now()) {
            return AppOutcome::Stopped(StopReason::Ended(status));
        }
        if self.exit.is_none() {
            self.terminate_processes().await;
            if let Err(reason) = restore_files(&self.workload).await {
                return AppOutcome::Stopped(reason);
            }
            if place_material(&self.workload).await {
                self.terminate_processes().await;
            }
            match start_app(&self.workload).await {
                Ok(watch) => self.exit = Some(watch),
                Err(reason) => return AppOutcome::Stopped(reason),
            }
        }
        let ended = tokio::select! {
            ended = wait_for_exit(&mut self.exit) => ended,
            outcome = monitor_app(&self.workload) => return outcome,
        };
        self.classify_exit(ended).await
    }

    /// Determines why the app's leading process exited. If another program now listens on the app's port, the port was
    /// taken. The app's message and exit status are not used, because they differ between apps.
    async fn classify_exit(&mut self, ended: FailureDetail) -> AppOutcome {
        self.exit = None;
        let record = self.workload.record().get();
        let started = record.process.as_ref().filter(|_| record.status().phase != Phase::Running);
        if let Some(started) = started
            && matches!(self.workload.find_listener(started.port).await, Ok(Listener::Foreign))
        {
            return AppOutcome::PortTaken;
        }
        AppOutcome::Crashed(FailureReason::new(FailureCode::Crashed, Some(ended)))
    }

    /// Prepares the next start of a crashed app, if it starts again: terminates its other processes, and reports the crash. The
    /// port and the working directory stay the same. Otherwise returns the reason of the end.
    async fn prepare_restart(&mut self, reason: FailureReason) -> Option<StopReason> {
        let (mut record, now) = (self.workload.record().get(), self.context.data_dir.clock.now());
        let decision = record.observe_crash(&reason, now);
        match decision.action {
            Action::Restart => {}
            _ if decision.status.phase == Phase::Expired => return Some(StopReason::Ended(Box::new(decision.status))),
            _ => return Some(StopReason::Failed(reason)),
        }
        tracing::warn!(workshop = self.workload.name(), reason = reason.message, "app crashed, starting it again");
        self.terminate_processes().await;
        self.workload.record().settle(move |record| drop(record.observe_crash(&reason, now))).await;
        None
    }

    /// Terminates the processes first, then sets the status. A Workshop with the status Failed or Expired thus has no
    /// processes.
    async fn finish(&mut self, reason: StopReason) {
        let tail = log_tail(&self.context.data_dir.layout.log(self.workload.name()));
        self.terminate_processes().await;
        let failed = |reason, tail| self.workload.record().failed(reason, tail, self.context.data_dir.clock.now());
        let status = match reason {
            StopReason::Superseded => return,
            StopReason::Ended(status) => *status,
            StopReason::Failed(failure) => failed(failure, tail),
            StopReason::NotStarted { problem, error } => {
                tracing::error!(workshop = self.workload.name(), %error, problem, "starting Workshop failed");
                failed(start_failure(problem, &error), tail)
            }
        };
        tracing::info!(workshop = self.workload.name(), phase = ?status.phase, reason = status.message, "Workshop ended");
        self.workload
            .record()
            .settle(move |record| {
                record.workshop.status = Some(status.clone());
                record.process = None;
            })
            .await;
    }

    async fn stop(&mut self) -> Remainder {
        self.terminate_processes().await;
        self.workload.record().settle(|record| record.process = None).await;
        Remainder::Record
    }

    /// Terminates the processes and removes the files. It removes the record last: if the launcher is killed before
    /// that, its successor resumes the deletion.
    async fn delete(&mut self) -> Remainder {
        self.terminate_processes().await;
        let working = self.context.data_dir.layout.working(self.workload.name());
        if let Err(error) = tokio::task::spawn_blocking(move || remove_directory(&working)).await.unwrap_or(Ok(())) {
            tracing::warn!(workshop = self.workload.name(), %error, "removing working directory of Workshop failed");
        }
        if self.workload.record().remove().await { Remainder::Nothing } else { Remainder::Record }
    }

    /// Detaches the proxy, and terminates all processes of this Workshop.
    async fn terminate_processes(&mut self) {
        self.workload.detach_proxy();
        // A start may be in progress: wait until its process is recorded.
        self.workload.record().wait_for_update().await;
        terminate(&self.context.scanner, &self.workload.processes(), self.context.settings.stop_grace).await;
        self.workload.release_port();
        self.exit = None;
    }
}

async fn wait_for_exit(exit: &mut Option<ExitWatch>) -> FailureDetail {
    match exit {
        Some(exit) => exit.wait_for_exit().await,
        None => std::future::pending().await,
    }
}

fn ports_taken() -> FailureReason {
    let taken = FailureDetail::PortsTaken { attempts: PORT_ATTEMPTS.to_string() };
    FailureReason::only(FailureCode::Unschedulable, &taken).with_remedy(&FailureRemedy::CheckProgramUser)
}

/// Reason why an app stops.
#[derive(Debug)]
pub(super) enum StopReason {
    Failed(FailureReason),
    /// This machine could not start the app.
    NotStarted {
        problem: &'static str,
        error: io::Error,
    },
    /// The lifetime is over: the final status.
    Ended(Box<WorkshopStatus>),
    /// The desired state changed before the app was started.
    Superseded,
}

impl From<JoinError> for StopReason {
    fn from(error: JoinError) -> Self {
        Self::NotStarted { problem: "the start was aborted", error: io::Error::other(error) }
    }
}

/// Returns the failure of an app that this machine could not start.
fn start_failure(problem: &str, error: &io::Error) -> FailureReason {
    let detail = FailureDetail::NotStarted { problem: problem.to_owned(), error: error.to_string() };
    FailureReason::only(FailureCode::Crashed, &detail).with_remedy(&FailureRemedy::TellAdministrator)
}
