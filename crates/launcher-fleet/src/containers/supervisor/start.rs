//! Starts the containers of a Workshop: first the sidecar, which installs its network rules, and then the app.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy, StartStep};
use launcher_workshop::{Workshop, WorkshopStorage};
use tokio::time::{Instant, sleep, timeout_at};

use super::files::prepare_directories;
use super::material;
use super::outcome::Outcome;
use super::restore::restore_files;
use super::status::set_step;
use super::watch::wait_until_serving;
use crate::containers::build::{self, BuildSettings};
use crate::containers::diagnose;
use crate::containers::engine::EngineError;
use crate::containers::names::{self, Part};
use crate::containers::workload::{Context, Record, Workload};

/// Maximum time until a started sidecar listens.
const SIDECAR_PATIENCE: Duration = Duration::from_secs(30);
/// Interval of the inspections of a sidecar that does not listen yet. Events of the engine may be lost.
const INSPECTION_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The app has never run.
    First,
    /// Both containers have ended together. They have the owner's files.
    Restart,
}

/// Starts both containers. If they run, it does nothing.
///
/// # Errors
/// A first start that the engine refuses is a failure, unless the engine is unreachable. A refused restart is retried
/// until the workshop expires: a failure would remove the containers with the owner's files.
pub(super) async fn start(workload: &Arc<Workload>, attempt: Attempt) -> Result<(), Outcome> {
    start_sidecar(workload, attempt).await?;
    start_app(workload, attempt).await
}

/// Starts the sidecar, and waits until it listens. It listens only after it has installed the rules of its network.
async fn start_sidecar(workload: &Arc<Workload>, attempt: Attempt) -> Result<(), Outcome> {
    prepare_directories(workload).await.map_err(|error| not_prepared(&error, attempt))?;
    provide(workload, Part::Sidecar, attempt).await?;
    let started = workload.context().engine.start(&workload.container(Part::Sidecar)).await;
    started.map_err(|error| not_started(Part::Sidecar, error, attempt))?;
    wait_for_sidecar(workload, attempt).await
}

async fn wait_for_sidecar(workload: &Arc<Workload>, attempt: Attempt) -> Result<(), Outcome> {
    let (run_dir, deadline) = (workload.run_dir(), Instant::now() + SIDECAR_PATIENCE);
    let serving = timeout_at(deadline, wait_until_serving(&run_dir));
    tokio::pin!(serving);
    loop {
        tokio::select! {
            biased;
            in_time = &mut serving => {
                return in_time.map_err(|_| failed(diagnose::sidecar_does_not_listen(), attempt));
            }
            () = workload.woken() => {}
            () = sleep(INSPECTION_INTERVAL) => {}
        }
        if let Some(reason) = sidecar_failure(workload).await? {
            return Err(failed(reason, attempt));
        }
    }
}

/// Returns the reason why the sidecar has ended, or `None` while it runs.
async fn sidecar_failure(workload: &Workload) -> Result<Option<FailureReason>, EngineError> {
    let (engine, container) = (&workload.context().engine, workload.container(Part::Sidecar));
    let Some(sidecar) = engine.inspect(&container).await? else { return Ok(None) };
    let Some(ended) = diagnose::ended(Part::Sidecar, &sidecar, false) else { return Ok(None) };
    let tail = engine.log_tail(&container).await.unwrap_or_default();
    Ok(Some(diagnose::not_isolated(&sidecar, tail.as_deref()).unwrap_or(ended)))
}

async fn start_app(workload: &Arc<Workload>, attempt: Attempt) -> Result<(), Outcome> {
    provide(workload, Part::App, attempt).await?;
    let Context { engine, engine_info, .. } = &**workload.context();
    let (app, sidecar) = (workload.container(Part::App), workload.container(Part::Sidecar));
    let mut paths = Vec::new();
    // A restart mounts the volumes again as they are.
    if attempt == Attempt::First {
        let spec = workload.stored_record().workshop().spec;
        if let (Some(WorkshopStorage { path, .. }), Some(_)) = (&spec.storage, &spec.material) {
            let mounted = engine.mount_volume(engine_info.kind, &app, path).await;
            mounted.map_err(|error| not_started(Part::App, error, attempt))?;
        }
        restore_files(workload).await?;
        material::place(workload).await?;
        paths.extend(spec.storage.map(|storage| storage.path));
        paths.extend(workload.mounted_material().into_iter().map(|volume| volume.path));
        set_step(workload, StartStep::StartingApp).await;
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let started = engine.start_app(engine_info.kind, &app, &sidecar, &paths).await;
    started.map_err(|error| not_started(Part::App, error, attempt))?;
    tracing::info!(workshop = workload.stored_record().name(), "started containers of Workshop");
    Ok(())
}

/// Creates a container, or finds the one that exists. A restart creates none: the owner's files are in the container that
/// exists, and neither a removed image nor a changed Workshop may stop it.
async fn provide(workload: &Arc<Workload>, part: Part, attempt: Attempt) -> Result<(), Outcome> {
    let provided = match attempt {
        Attempt::First => {
            let build = if part == Part::Sidecar { build::sidecar } else { build::app };
            match with_settings(workload, build).await {
                Ok(body) => workload.create(part, body.map_err(Outcome::failed)?).await,
                Err(error) => Err(error),
            }
        }
        Attempt::Restart => {
            let workshop = workload.stored_record().workshop();
            let uid = workshop.metadata.uid.as_deref().unwrap_or_default();
            let context = workload.context();
            let labels = names::labels_of(&context.data_dir.id, workload.stored_record().name(), uid, part);
            context.engine.verify(&workload.container(part), &labels).await
        }
    };
    provided.map_err(|error| not_started(part, error, attempt))
}

fn not_started(part: Part, error: EngineError, attempt: Attempt) -> Outcome {
    match error {
        error @ EngineError::Unreachable { .. } => Outcome::Retry(error),
        error if attempt == Attempt::Restart => Outcome::Retry(error),
        error => Outcome::failed(diagnose::not_started(part, &error)),
    }
}

fn failed(reason: FailureReason, attempt: Attempt) -> Outcome {
    match attempt {
        Attempt::First => Outcome::failed(reason),
        Attempt::Restart => Outcome::Retry(EngineError::Other(reason.message)),
    }
}

fn not_prepared(error: &io::Error, attempt: Attempt) -> Outcome {
    let problem = "its sidecar cannot be prepared".to_owned();
    let detail = FailureDetail::NotStarted { problem, error: error.to_string() };
    let reason = FailureReason::only(FailureCode::Crashed, &detail).with_remedy(&FailureRemedy::TellAdministrator);
    failed(reason, attempt)
}

/// Passes the Workshop and the settings of its containers to `build`.
///
/// # Errors
/// The engine cannot say whether it limits disk space.
pub(super) async fn with_settings<T>(
    workload: &Workload,
    build: impl FnOnce(&Workshop, &BuildSettings<'_>) -> T,
) -> Result<T, EngineError> {
    let Record { workshop, secrets, .. } = workload.stored_record().get();
    let (context, name) = (workload.context(), workload.stored_record().name());
    let limits_disk = context.limits_disk().await?;
    let Context { settings, engine_info, .. } = &**context;
    let origins = &settings.origins;
    let origin = origins.url(name);
    let workshop_page = origins.workshop_page_url(name);
    let settings = BuildSettings {
        fleet_id: &context.data_dir.id,
        volumes_of: &context.data_dir.fleet_id,
        sidecar_image: &settings.options.sidecar_image,
        material_image: settings.options.material_image.as_deref(),
        sidecar_user: context.sidecar_user,
        run_as_user: settings.options.run_as_user.get(),
        internet: settings.options.container_internet,
        limits_disk,
        process_limits: engine_info.process_limits,
        seccomp: &context.seccomp,
        require_authentication: origins.require_authentication,
        trusted_header: origins.trusted_header.name(),
        session_cookie_prefix: &origins.session_cookie_prefix,
        origin: origin.trim_end_matches('/'),
        workshop_page: Some(&workshop_page),
        brand: &origins.brand,
        secrets: &secrets,
        run_dir: &context.run_dir(name),
        config_dir: &context.config_dir(name),
        secrets_dir: &context.secrets_dir(name),
    };
    Ok(build(&workshop, &settings))
}
