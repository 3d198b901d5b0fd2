//! The supervisor task of one Workshop: starts its containers, watches them, ends them, and explains their failure.

mod files;
mod launch;
mod material;
mod outcome;
mod restore;
mod start;
mod status;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use launcher_workshop::WorkshopStatus;
use tokio::time::sleep;

use super::build::MaterialVolume;
use super::engine::EngineError;
use super::names::Part;
use super::workload::{Context, Record, Workload};
use crate::machine::{DesiredState, Remainder, remove_directory};
pub(super) use launch::adopt_reservations;
use launch::launch;
use outcome::Outcome;
use status::record_crash;
use watch::watch;

/// Pause before the next attempt after the engine failed. Doubles up to [`MAX_RETRY_DELAY`].
const RETRY_DELAY: Duration = Duration::from_millis(500);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// Supervises one Workshop until its desired state is `Stopped` or `Deleted`.
pub(super) async fn supervise(workload: Arc<Workload>) -> Remainder {
    let mut desired_states = workload.desired().watch();
    loop {
        let desired_state = *desired_states.borrow_and_update();
        match desired_state {
            DesiredState::Deleted => return delete(&workload).await,
            // The containers keep running. The next launcher adopts them.
            DesiredState::Stopped => return Remainder::Record,
            DesiredState::Running => {}
        }
        let outcome = tokio::select! {
            _ = desired_states.changed() => continue,
            outcome = run(&workload) => outcome,
        };
        tokio::select! {
            _ = desired_states.changed() => {}
            () = finish(&workload, outcome) => {}
        }
    }
}

/// Starts the containers, or adopts them if they run, and watches them until the workshop ends. Starts a crashed app
/// again in its container. Cancel-safe, because
/// all calls to the engine are idempotent, and a removal waits for a creation in progress.
async fn run(workload: &Arc<Workload>) -> Outcome {
    let record = workload.stored_record().get();
    if let Some(status) = record.final_status {
        return Outcome::Ending(status);
    }
    if record.status().phase.is_final() {
        // An earlier launcher may have been killed before it removed them.
        remove_containers(workload, Duration::ZERO).await;
        return std::future::pending().await;
    }
    let mut delay = RETRY_DELAY;
    loop {
        let step = match launch(workload).await {
            Ok(()) => watch(workload).await,
            Err(step) => step,
        };
        match step {
            Outcome::Restart => {
                sleep(RETRY_DELAY).await;
                delay = RETRY_DELAY;
            }
            Outcome::Retry(error) => {
                tracing::warn!(workshop = workload.stored_record().name(), %error, "container engine failed, retrying");
                sleep(delay).await;
                delay = (delay * 2).min(MAX_RETRY_DELAY);
            }
            Outcome::Crashed(reason) => {
                if let Err(ended) = record_crash(workload, reason).await {
                    return ended;
                }
                delay = RETRY_DELAY;
            }
            ended @ (Outcome::Expired(_) | Outcome::Failed(_) | Outcome::Ending(_)) => return ended,
        }
    }
}

/// Ends the containers first, then sets the status. A Workshop with the status Failed or Expired thus has no containers.
/// The record gets the cause of a failure before that, because without the containers it could not be found again.
async fn finish(workload: &Arc<Workload>, outcome: Outcome) {
    workload.set_open(false);
    let (status, grace) = match outcome {
        Outcome::Failed(failure) => {
            let tail = retry(workload, || log_tail(workload)).await;
            let now = workload.context().data_dir.clock.now();
            let status = workload.stored_record().failed(*failure, tail, now);
            store_final_status(workload, &status).await;
            (status, Duration::ZERO)
        }
        Outcome::Ending(status) => (*status, Duration::ZERO),
        Outcome::Expired(status) => (*status, workload.context().settings.stop_grace),
        Outcome::Crashed(_) | Outcome::Restart | Outcome::Retry(_) => return,
    };
    let name = workload.stored_record().name();
    tracing::info!(workshop = name, phase = ?status.phase, reason = status.message, "Workshop ended");
    remove_containers(workload, grace).await;
    let end = move |record: &mut Record| {
        record.workshop.status = Some(status.clone());
        record.final_status = None;
    };
    workload.stored_record().settle(end).await;
}

/// Stores the final status in the record. It makes one attempt: on a full disk, the removal of the containers must go on,
/// because it may be what frees the disk.
async fn store_final_status(workload: &Arc<Workload>, status: &WorkshopStatus) {
    let status = Box::new(status.clone());
    let stored = workload.stored_record().update(move |record| record.final_status = Some(status)).await;
    if let Err(error) = stored {
        let workshop = workload.stored_record().name();
        tracing::warn!(workshop, %error, "storing final status failed, removing the containers anyway");
    }
}

/// Ends the containers, and removes the files of the sidecar. It removes the record last: if the launcher is killed
/// before that, its successor resumes the deletion.
async fn delete(workload: &Arc<Workload>) -> Remainder {
    workload.set_open(false);
    let grace = workload.context().settings.stop_grace;
    tokio::select! {
        () = remove_containers(workload, grace) => {}
        // The next launcher continues the deletion.
        () = workload.context().closing().cancelled() => return Remainder::Record,
    }
    let name = workload.stored_record().name();
    for directory in [workload.context().run_dir(name), workload.context().config_dir(name)] {
        if let Err(error) = tokio::task::spawn_blocking(move || remove_directory(&directory)).await.unwrap_or(Ok(())) {
            tracing::warn!(workshop = name, %error, "removing directory of sidecar failed");
        }
    }
    if workload.stored_record().remove().await { Remainder::Nothing } else { Remainder::Record }
}

/// Stops the app within `grace`, removes the containers and the volumes with course material, and releases their memory
/// and CPU. Retries until the engine has done it.
async fn remove_containers(workload: &Arc<Workload>, grace: Duration) {
    workload.wait_for_creation().await;
    let engine = &workload.context().engine;
    let [app, material, sidecar] = [Part::App, Part::Material, Part::Sidecar].map(|part| workload.container(part));
    retry(workload, || async {
        if !grace.is_zero() {
            engine.stop(&app, grace).await?;
        }
        engine.remove(&app).await?;
        if workload.has_material() {
            engine.remove(&material).await?;
        }
        engine.remove(&sidecar).await
    })
    .await;
    retry(workload, || remove_material_volumes(workload)).await;
    if workload.has_material() {
        material::remove_secrets(workload).await;
    }
    workload.set_reservation(None);
}

/// Removes the volumes with course material, after the containers that mount them.
///
/// # Errors
/// [`EngineError::Unreachable`]: the engine may remove them later. After any other error, the search for orphans removes
/// them.
async fn remove_material_volumes(workload: &Workload) -> Result<(), EngineError> {
    let Context { engine, data_dir, .. } = &**workload.context();
    for MaterialVolume { name, .. } in workload.material_volumes() {
        match engine.remove_volume(&name, &data_dir.id).await {
            Err(error @ EngineError::Unreachable { .. }) => return Err(error),
            Err(error) => tracing::warn!(volume = name, %error, "removing a volume with course material failed"),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// Returns the last lines of the app's output; `None` if there are none, or the engine cannot read them.
///
/// # Errors
/// [`EngineError::Unreachable`]: the engine may return them later.
async fn log_tail(workload: &Workload) -> Result<Option<String>, EngineError> {
    match workload.context().engine.log_tail(&workload.container(Part::App)).await {
        Err(EngineError::NotFound(_)) => Ok(None),
        Err(error) if !matches!(error, EngineError::Unreachable { .. }) => {
            let workshop = workload.stored_record().name();
            tracing::warn!(workshop, %error, "reading the app's log failed, its last lines are not shown");
            Ok(None)
        }
        tail => tail,
    }
}

/// Calls the engine until it succeeds.
async fn retry<T, C: Future<Output = Result<T, EngineError>>>(workload: &Workload, call: impl Fn() -> C) -> T {
    let mut delay = RETRY_DELAY;
    loop {
        match call().await {
            Ok(done) => return done,
            Err(error) => {
                let workshop = workload.stored_record().name();
                tracing::warn!(workshop, %error, "a call to the container engine failed while a workshop ends, retrying");
            }
        }
        sleep(delay).await;
        delay = (delay * 2).min(MAX_RETRY_DELAY);
    }
}
