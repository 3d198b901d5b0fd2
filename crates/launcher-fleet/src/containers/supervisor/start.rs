//! Starts the containers of a Workshop: first the sidecar, which installs its network rules, and then the app.

use std::sync::Arc;
use std::time::Duration;

use launcher_domain::{FailureReason, StartStep};
use launcher_workshop::{Workshop, WorkshopStorage};
use tokio::time::{Instant, sleep, timeout_at};

use super::files::prepare_directories;
use super::material;
use super::watch::wait_until_serving;
use crate::containers::build::{self, BuildSettings};
use crate::containers::diagnose;
use crate::containers::engine::EngineError;
use crate::containers::names::{self, Part};
use crate::containers::workload::{Containers, Record, Workload};
use crate::machine::{Attempt, Setback, starting};

/// Maximum time until a started sidecar listens. It only bounds a hang: a busy machine may need tens of seconds.
const SIDECAR_PATIENCE: Duration = Duration::from_secs(120);
/// Interval of the inspections of a sidecar that does not listen yet. Events of the engine may be lost.
const INSPECTION_INTERVAL: Duration = Duration::from_secs(1);

/// Starts the sidecar, and waits until it listens: it listens only after it has installed the rules of its network. Creates the
/// container of the app.
///
/// # Errors
/// A first start that the engine refuses is a failure, unless the engine is unreachable. A refused restart is retried
/// until the workshop expires: a failure would remove the containers with the owner's files.
pub(super) async fn prepare(workload: &Arc<Workload>, attempt: Attempt) -> Result<(), Setback> {
    prepare_directories(workload).await.map_err(|error| {
        failed(FailureReason::not_started("its sidecar cannot be prepared", error.to_string()), attempt)
    })?;
    provide(workload, Part::Sidecar, attempt).await?;
    let started = workload.engine().start(&workload.container(Part::Sidecar)).await;
    started.map_err(|error| not_started(Part::Sidecar, error, attempt))?;
    wait_for_sidecar(workload, attempt).await?;
    provide(workload, Part::App, attempt).await?;
    let spec = workload.record.workshop().spec;
    if let (Attempt::New, Some(WorkshopStorage { path, .. }), Some(_)) = (attempt, &spec.storage, &spec.material) {
        let Containers { engine, engine_info, .. } = workload.fleet();
        let mounted = engine.mount_volume(engine_info.kind, &workload.container(Part::App), path).await;
        mounted.map_err(|error| not_started(Part::App, error, attempt))?;
    }
    Ok(())
}

async fn wait_for_sidecar(workload: &Arc<Workload>, attempt: Attempt) -> Result<(), Setback> {
    let (run_dir, deadline) = (workload.run_dir(), Instant::now() + SIDECAR_PATIENCE);
    let serving = timeout_at(deadline, wait_until_serving(&run_dir));
    tokio::pin!(serving);
    loop {
        tokio::select! {
            biased;
            in_time = &mut serving => return in_time.map_err(|_| {
                let problem = "the sidecar does not listen on its sockets";
                failed(FailureReason::not_started(problem, "no connection in time".to_owned()), attempt)
            }),
            () = workload.backend.events.notified() => {}
            () = sleep(INSPECTION_INTERVAL) => {}
        }
        if let Some(reason) = sidecar_failure(workload).await? {
            return Err(failed(reason, attempt));
        }
    }
}

/// Returns the reason why the sidecar has ended, or `None` while it runs.
async fn sidecar_failure(workload: &Workload) -> Result<Option<FailureReason>, EngineError> {
    let (engine, container) = (workload.engine(), workload.container(Part::Sidecar));
    let Some(sidecar) = engine.inspect(&container).await? else { return Ok(None) };
    let Some(ended) = diagnose::ended(Part::Sidecar, &sidecar) else { return Ok(None) };
    let tail = engine.log_tail(&container).await.unwrap_or_default();
    Ok(Some(diagnose::not_isolated(&sidecar, tail.as_deref()).unwrap_or(ended)))
}

pub(super) async fn start_app(workload: &Workload, attempt: Attempt) -> Result<(), Setback> {
    let mut paths = Vec::new();
    // A restart mounts the volumes again as they are.
    if attempt == Attempt::New {
        let spec = workload.record.workshop().spec;
        if spec.material.is_some() {
            material::clean_up(workload).await;
        }
        paths.extend(spec.storage.map(|storage| storage.path));
        paths.extend(workload.mounted_material().into_iter().map(|volume| volume.path));
        workload.observe(starting(StartStep::StartingApp)).await;
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let Containers { engine, engine_info, .. } = workload.fleet();
    let (app, sidecar) = (workload.container(Part::App), workload.container(Part::Sidecar));
    let started = engine.start_app(engine_info.kind, &app, &sidecar, &paths).await;
    started.map_err(|error| not_started(Part::App, error, attempt))?;
    tracing::info!(workshop = workload.name(), "started containers of Workshop");
    Ok(())
}

/// Creates a container, or finds the one that exists. A restart creates none: the owner's files are in the container that
/// exists, and neither a removed image nor a changed Workshop may stop it.
async fn provide(workload: &Arc<Workload>, part: Part, attempt: Attempt) -> Result<(), Setback> {
    let provided = match attempt {
        Attempt::New => {
            let build = if part == Part::Sidecar { build::sidecar } else { build::app };
            match with_settings(workload, build).await {
                Ok(body) => workload.create(part, body.map_err(Setback::Failed)?).await,
                Err(error) => Err(error),
            }
        }
        Attempt::Again => {
            let workshop = workload.record.workshop();
            let uid = workshop.metadata.uid.as_deref().unwrap_or_default();
            let labels = names::container_labels(&workload.data_dir().id, workload.name(), uid, part);
            workload.engine().verify(&workload.container(part), &labels).await
        }
    };
    provided.map_err(|error| not_started(part, error, attempt))
}

fn not_started(part: Part, error: EngineError, attempt: Attempt) -> Setback {
    match error {
        error @ EngineError::Unreachable { .. } => error.into(),
        error if attempt == Attempt::Again => error.into(),
        error => Setback::Failed(diagnose::not_started(part, &error)),
    }
}

fn failed(reason: FailureReason, attempt: Attempt) -> Setback {
    match attempt {
        Attempt::New => Setback::Failed(reason),
        Attempt::Again => Setback::Retry(reason.message),
    }
}

/// Passes the Workshop and the settings of its containers to `build`.
pub(super) async fn with_settings<T>(
    workload: &Workload,
    build: impl FnOnce(&Workshop, &BuildSettings<'_>) -> T,
) -> Result<T, EngineError> {
    let Record { workshop, secrets, .. } = workload.record.get();
    let (data_dir, name) = (workload.data_dir(), workload.name());
    let limits_disk = workload.limits_disk().await?;
    let Containers { options, engine_info, seccomp, sidecar_user, .. } = workload.fleet();
    let settings = BuildSettings {
        fleet_id: &data_dir.id,
        volumes_of: &data_dir.fleet_id,
        options,
        origins: &workload.settings().origins,
        sidecar_user: *sidecar_user,
        limits_disk,
        process_limits: engine_info.process_limits,
        seccomp,
        secrets: &secrets,
        run_dir: &data_dir.layout.sidecar_sockets(name),
        config_dir: &data_dir.layout.sidecar_files(name),
        secrets_dir: &data_dir.layout.secret_copies(name),
    };
    Ok(build(&workshop, &settings))
}
