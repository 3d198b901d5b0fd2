//! The containers of a Workshop, for its supervisor: starts them, watches them, removes them, and explains their failure.
//!
//! All calls to the engine are idempotent, and a removal waits for a creation in progress. So each step can be interrupted, and
//! begun again.

mod files;
mod launch;
mod material;
mod restore;
mod start;
mod states;
mod watch;

use std::sync::Arc;

use launcher_domain::{ListensElsewhere, MaterialReport};
use launcher_workshop::{WorkshopMaterial, WorkshopRestore};
use tokio::time::sleep;

use super::build::MaterialVolume;
use super::connector::SocketConnector;
use super::engine::EngineError;
use super::names::Part;
use super::workload::{ContainerBackend, Containers, StoredRecord, Workload};
use crate::machine::{
    Attempt, Backend, Look, MAX_RETRY_DELAY, NotPlaced, RETRY_DELAY, Setback, Shared, SidecarConnector,
};
pub(super) use files::FrameStatus;
pub(super) use launch::adopt_reservations;
use states::{Observed, Stage};

impl Backend for ContainerBackend {
    type Process = ();
    type Fleet = Containers;
    type Exit = Setback;
    const OUTLIVES_LAUNCHER: bool = true;

    fn new(_: &Arc<Shared<Self>>, _: &StoredRecord) -> Self {
        Self::default()
    }

    async fn look(workload: &Arc<Workload>) -> Result<Look, Setback> {
        Observed::of(workload).await?.verdict(Stage::of(&workload.record.get().status()))
    }

    async fn prepare(workload: &Arc<Workload>, attempt: Attempt) -> Result<(), Setback> {
        if attempt == Attempt::New {
            launch::provide(workload).await?;
        }
        start::prepare(workload, attempt).await
    }

    async fn place_files(workload: &Arc<Workload>, restore: &WorkshopRestore) -> Result<(), NotPlaced> {
        restore::place(workload, restore).await
    }

    async fn load_material(workload: &Arc<Workload>, material: &WorkshopMaterial) -> Result<MaterialReport, Setback> {
        material::load(workload, material).await
    }

    async fn launch(workload: &Arc<Workload>, attempt: Attempt) -> Result<(), Setback> {
        start::start_app(workload, attempt).await
    }

    async fn answered(workload: &Arc<Workload>) -> Result<(), Setback> {
        watch::wait_until_ready(&workload.run_dir()).await;
        Ok(())
    }

    /// The sidecar logs the addresses.
    async fn listens_elsewhere(workload: &Arc<Workload>) -> Option<Option<ListensElsewhere>> {
        let tail = workload.engine().log_tail(&workload.container(Part::Sidecar)).await.ok()?;
        Some(tail.and_then(|tail| ListensElsewhere::in_log(&tail)))
    }

    fn connector(workload: &Arc<Workload>) -> Option<Arc<dyn SidecarConnector>> {
        Some(Arc::new(SocketConnector(workload.run_dir())))
    }

    async fn ended(workload: &Arc<Workload>) -> Setback {
        watch::wait_for_end(workload).await
    }

    async fn explain(_: &Arc<Workload>, exit: Setback) -> Setback {
        exit
    }

    async fn tick(workload: &Arc<Workload>) {
        files::update_frame_status(workload).await;
    }

    async fn log_tail(workload: &Arc<Workload>) -> Option<String> {
        retry(workload, || log_tail(workload)).await
    }

    /// Retries until the engine has done it. Releases memory and CPU afterwards. An app that the engine cannot stop is killed.
    async fn stop(workload: &Arc<Workload>) {
        workload.wait_for_creation().await;
        let (engine, grace) = (workload.engine(), workload.settings().stop_grace);
        let [app, material, sidecar] = [Part::App, Part::Material, Part::Sidecar].map(|part| workload.container(part));
        retry(workload, || async {
            match engine.stop(&app, grace).await {
                Err(error @ EngineError::Unreachable { .. }) => return Err(error),
                Err(error) => tracing::warn!(workshop = workload.name(), %error, "stopping the app failed, killing it"),
                Ok(()) => {}
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
}

/// Removes the volumes with course material, after the containers that mount them.
///
/// # Errors
/// [`EngineError::Unreachable`]: the engine may remove them later. After any other error, the search for orphans removes
/// them.
async fn remove_material_volumes(workload: &Workload) -> Result<(), EngineError> {
    let (engine, data_dir) = (workload.engine(), workload.data_dir());
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
    match workload.engine().log_tail(&workload.container(Part::App)).await {
        Err(EngineError::NotFound(_)) => Ok(None),
        Err(error) if !matches!(error, EngineError::Unreachable { .. }) => {
            let workshop = workload.name();
            tracing::warn!(workshop, %error, "reading the app's log failed, its last lines are not shown");
            Ok(None)
        }
        tail => tail,
    }
}

async fn retry<T, C: Future<Output = Result<T, EngineError>>>(workload: &Workload, call: impl Fn() -> C) -> T {
    let mut delay = RETRY_DELAY;
    loop {
        match call().await {
            Ok(done) => return done,
            Err(error) => {
                let workshop = workload.name();
                tracing::warn!(workshop, %error, "a call to the container engine failed while a workshop ends, retrying");
            }
        }
        sleep(delay).await;
        delay = (delay * 2).min(MAX_RETRY_DELAY);
    }
}
