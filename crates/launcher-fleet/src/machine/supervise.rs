//! The supervisor task of one Workshop: starts the app, gives the owner access, starts a crashed app again, ends it and
//! explains why.
//!
//! What happens next follows from the record and from what the backend finds. So a launcher that is killed at any point leaves
//! the rest to its successor: the table "Crash recovery" in ARCHITECTURE.md has the cases.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::listening::{LISTEN_GRACE, LISTEN_INTERVAL};
use launcher_domain::{FailureCode, FailureDetail, FailureReason, Report, StartStep};
use launcher_workshop::lifecycle::{self, Action, App, Failure, Observed, decide};
use launcher_workshop::{Phase, WorkshopStatus};
use tokio::select;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::backend::{Attempt, Backend, Look, NotPlaced, Setback};
use super::files::remove_directory;
use super::record::{Record, ready, starting};
use super::workload::{DesiredState, Workload};
use crate::restore::{ATTEMPTS, PATIENCE, RestoreError, wait_to_retry};

/// Pause before the next attempt after a setback. Doubles up to [`MAX_RETRY_DELAY`].
pub(crate) const RETRY_DELAY: Duration = Duration::from_millis(500);
pub(crate) const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);
/// Polling interval of the lifetime. A timer would miss changes of the clock and a suspended machine.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The part of a Workshop that remains stored when its supervisor ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remainder {
    /// The record, or a part of its state directory. The next launcher takes over the record, or removes the rest.
    Record,
    /// Nothing: the Workshop is deleted.
    Nothing,
}

/// Supervises one Workshop until its desired state is `Stopped` or `Deleted`.
pub(crate) async fn supervise<B: Backend>(workload: Arc<Workload<B>>) -> Remainder {
    let mut desired_states = workload.desired_state.subscribe();
    loop {
        let desired_state = *desired_states.borrow_and_update();
        match desired_state {
            DesiredState::Deleted => return delete(&workload).await,
            DesiredState::Stopped => return leave(&workload).await,
            DesiredState::Running => {}
        }
        let status = select! {
            _ = desired_states.changed() => continue,
            status = live(&workload) => status,
        };
        select! {
            // Processes that are ending get no second SIGTERM.
            _ = desired_states.changed(), if B::OUTLIVES_LAUNCHER => continue,
            () = end(&workload, status) => {}
        }
        // Ignore the error: the sender lives as long as the workload.
        let _ = desired_states.changed().await;
    }
}

/// Runs the workload until the workshop is over, and returns its final status.
async fn live<B: Backend>(workload: &Arc<Workload<B>>) -> WorkshopStatus {
    if workload.record.phase().is_final() {
        // A workload that does not belong here could only be left by a fault.
        B::stop(workload).await;
        return pending().await;
    }
    loop {
        if let Some(status) = workload.record.get().final_status {
            return *status;
        }
        let observed = run_until_over(workload).await;
        if let Some(status) = decide_end(workload, observed).await {
            return status;
        }
    }
}

/// Ends the workload, and sets the final status then. A failure is stored in the record before, because without the workload its
/// cause could not be found again.
async fn end<B: Backend>(workload: &Arc<Workload<B>>, status: WorkshopStatus) {
    workload.close();
    tracing::info!(workshop = workload.name(), phase = ?status.phase, reason = status.message, "Workshop ended");
    B::stop(workload).await;
    let settled = move |record: &mut Record<B::Process>| {
        record.workshop.status = Some(status.clone());
        record.final_status = None;
        record.process = None;
    };
    workload.record.settle(settled).await;
}

/// Decides the end once more with the current spec, and stores the final status of a failure. Returns `None` if the lifetime was
/// extended meanwhile. It makes one attempt to store: on a full disk, the removal of the workload must go on, because it may be
/// what frees the disk.
async fn decide_end<B: Backend>(workload: &Arc<Workload<B>>, observed: Observed) -> Option<WorkshopStatus> {
    let (now, unstored) = (workload.now(), observed.clone());
    let stored = workload.record.update(move |record| {
        let status = decide(&record.workshop, observed, now).status;
        record.final_status = (status.phase == Phase::Failed).then(|| Box::new(status.clone()));
        status
    });
    let status = stored.await.unwrap_or_else(|error| {
        tracing::warn!(workshop = workload.name(), %error, "storing final status failed, removing the workload anyway");
        decide(&workload.record.workshop(), unstored, now).status
    });
    status.phase.is_final().then_some(status)
}

/// Runs the app until the workshop is over, and returns the observation of its end. Starts the app again after a crash and after a
/// setback that may pass.
async fn run_until_over<B: Backend>(workload: &Arc<Workload<B>>) -> Observed {
    let mut delay = RETRY_DELAY;
    loop {
        let setback = select! {
            biased;
            () = wait_until_expired(workload) => return Observed::Unknown,
            setback = run(workload) => setback,
        };
        workload.close();
        match setback {
            Setback::Failed(reason) => return failed(workload, reason).await,
            Setback::Crashed(reason) => match record_crash(workload, &reason).await {
                Action::Restart => delay = RETRY_DELAY,
                _ => return failed(workload, reason).await,
            },
            Setback::Again => {
                sleep(RETRY_DELAY).await;
                delay = RETRY_DELAY;
            }
            Setback::Retry(error) => {
                tracing::warn!(workshop = workload.name(), error, "starting app failed, retrying");
                sleep(delay).await;
                delay = (delay * 2).min(MAX_RETRY_DELAY);
            }
        }
    }
}

async fn failed<B: Backend>(workload: &Arc<Workload<B>>, reason: FailureReason) -> Observed {
    Observed::failed(Failure { log_tail: B::log_tail(workload).await, ..reason.into() })
}

/// Stores and reports a crash after which the app starts again with its files. The status then says so: the next launch starts the
/// app, even if another launcher does this.
async fn record_crash<B: Backend>(workload: &Arc<Workload<B>>, reason: &FailureReason) -> Action {
    let (now, observed) = (workload.now(), reason.clone());
    let decided = workload.record.settle(move |record| record.observe_crash(&observed, now).action).await;
    // Without the write, the fleet is stopping.
    let Some(action) = decided else { return pending().await };
    if action == Action::Restart {
        tracing::warn!(workshop = workload.name(), reason = reason.message, "app crashed, starting it again");
    }
    action
}

/// Waits until the lifetime is over, and keeps the status of a running workshop up to date after an extension. Reads the expiry
/// again at each poll, because an extension changes it. The first poll does not wait: an app whose lifetime is over never starts.
async fn wait_until_expired<B: Backend>(workload: &Arc<Workload<B>>) {
    loop {
        // The owner has access before the readiness is stored. Only a stored readiness is kept up to date here.
        let observed = match workload.connector() {
            Some(_) if workload.record.phase() == Phase::Running => ready(workload.urls()).into(),
            _ => Observed::Unknown,
        };
        if workload.observe(observed).await.action == Action::End {
            return;
        }
        B::tick(workload).await;
        sleep(POLL_INTERVAL).await;
    }
}

/// Runs the app, and returns why it does not run any more.
async fn run<B: Backend>(workload: &Arc<Workload<B>>) -> Setback {
    if let Err(setback) = bring_up(workload).await {
        return setback;
    }
    let exit = B::ended(workload).await;
    workload.close();
    B::explain(workload, exit).await
}

/// Starts the app, or adopts it if it runs, and gives the owner access when it answers.
async fn bring_up<B: Backend>(workload: &Arc<Workload<B>>) -> Result<(), Setback> {
    match B::look(workload).await? {
        Look::Running => {}
        Look::Absent => start(workload, Attempt::New).await?,
        Look::Interrupted => {
            if workload.record.phase() == Phase::Running {
                tracing::info!(workshop = workload.name(), "the app has ended with its machine, starting it again");
            }
            workload.observe(lifecycle::Workload::of(App::Ended)).await;
            start(workload, Attempt::Again).await?;
        }
    }
    let is_adopted = workload.record.phase() == Phase::Running;
    if !is_adopted {
        wait_until_answered(workload).await?;
    }
    workload.open();
    // For an adopted workshop too: the launcher's public address may have changed.
    workload.observe(ready(workload.urls())).await;
    if !is_adopted {
        tracing::info!(workshop = workload.name(), "Workshop is ready");
    }
    Ok(())
}

async fn start<B: Backend>(workload: &Arc<Workload<B>>, attempt: Attempt) -> Result<(), Setback> {
    B::prepare(workload, attempt).await?;
    if attempt == Attempt::New {
        place_saved_files(workload).await?;
        load_material(workload).await?;
    }
    B::launch(workload, attempt).await
}

/// Places the saved files of an earlier Workshop, and stores that they are placed. Does nothing if they are. The app never starts
/// with a part of them.
async fn place_saved_files<B: Backend>(workload: &Arc<Workload<B>>) -> Result<(), Setback> {
    let record = workload.record.get();
    let Some(restore) = record.pending_restore() else { return Ok(()) };
    workload.observe(starting(StartStep::Preparing)).await;
    for attempt in 1..=ATTEMPTS {
        let placed = timeout(PATIENCE, B::place_files(workload, restore)).await;
        match placed.unwrap_or_else(|_| Err(RestoreError::late().into())) {
            Ok(()) => break,
            Err(NotPlaced::Setback(setback)) => return Err(setback),
            Err(NotPlaced::Files(error)) => {
                let retried = wait_to_retry(workload.name(), error, attempt).await;
                retried.map_err(|error| Setback::Failed(error.into()))?;
            }
        }
    }
    workload.record.settle(|record| record.is_restored = true).await;
    tracing::info!(workshop = workload.name(), snapshot = restore.snapshot, "placed saved files");
    Ok(())
}

/// Loads the course material, and stores its report. If the status has a report already, the material is placed.
async fn load_material<B: Backend>(workload: &Arc<Workload<B>>) -> Result<(), Setback> {
    let record = workload.record.get();
    let Some(material) = record.workshop.spec.material.as_ref() else { return Ok(()) };
    if record.status().report.material.is_some() {
        return Ok(());
    }
    workload.observe(starting(StartStep::LoadingMaterial)).await;
    let report = Report { material: Some(B::load_material(workload, material).await?), ..Report::default() };
    workload.observe(lifecycle::Workload { report, ..starting(StartStep::LoadingMaterial) }).await;
    Ok(())
}

/// Waits until the app answers. The start timeout counts by the monotonic clock: not while the machine is suspended.
async fn wait_until_answered<B: Backend>(workload: &Arc<Workload<B>>) -> Result<(), Setback> {
    let exit = select! {
        biased;
        exit = B::ended(workload) => exit,
        answered = B::answered(workload) => return answered,
        never = report_listening(workload) => match never {},
        () = sleep(workload.settings().start_timeout) => {
            let elsewhere = B::listens_elsewhere(workload).await.flatten();
            let reason = FailureReason::new(FailureCode::StartTimeout, Some(FailureDetail::AppDoesNotAnswer));
            return Err(Setback::Failed(reason.with_listening(elsewhere.as_ref())));
        }
    };
    Err(B::explain(workload, exit).await)
}

/// Keeps the addresses on which a starting app listens instead of its port in the status.
async fn report_listening<B: Backend>(workload: &Arc<Workload<B>>) -> Infallible {
    sleep(LISTEN_GRACE).await;
    loop {
        if let Some(found) = B::listens_elsewhere(workload).await
            && workload.record.get().status().report.listens_elsewhere != found
        {
            if let Some(elsewhere) = &found {
                tracing::warn!(workshop = workload.name(), "{elsewhere}");
            }
            let now = workload.now();
            workload.record.settle(move |record| record.observe_listening(found.clone(), now)).await;
        }
        sleep(LISTEN_INTERVAL).await;
    }
}

/// Ends the workload of a deleted Workshop, and removes its files. It removes the record last: if the launcher is killed before
/// that, its successor resumes the deletion.
async fn delete<B: Backend>(workload: &Arc<Workload<B>>) -> Remainder {
    workload.close();
    let closing = async {
        // The next launcher continues, if the app may run until then.
        if B::OUTLIVES_LAUNCHER { workload.data_dir().closing.cancelled().await } else { pending().await }
    };
    select! {
        () = B::stop(workload) => {}
        () = closing => return Remainder::Record,
    }
    let working = workload.data_dir().layout.working(workload.name());
    if let Err(error) = spawn_blocking(move || remove_directory(&working)).await.unwrap_or(Ok(())) {
        tracing::warn!(workshop = workload.name(), %error, "removing working directory of Workshop failed");
    }
    if workload.record.remove().await { Remainder::Nothing } else { Remainder::Record }
}

/// Leaves the Workshop to the next launcher.
async fn leave<B: Backend>(workload: &Arc<Workload<B>>) -> Remainder {
    if !B::OUTLIVES_LAUNCHER {
        workload.close();
        B::stop(workload).await;
        workload.record.settle(|record| record.process = None).await;
    }
    Remainder::Record
}

#[cfg(test)]
mod tests;
