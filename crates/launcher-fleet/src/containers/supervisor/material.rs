//! Places course material in a separate container before the first start of the app. A failure never prevents the
//! start.
//!
//! The container mounts copies of the secrets of private course material. The administrator's files belong to the user of
//! the launcher. The program runs as the user of the app, and reads copies. They exist only while the material is loaded,
//! below a directory that is accessible only to the launcher.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::MaterialReport;
use launcher_domain::material_source::{MAX_SECRET_BYTES, SECRET_FILES};
use launcher_workshop::WorkshopMaterial;
use tokio::time::{Instant, sleep};

use super::files::{blocking, make_readable, write_readable};
use super::launch::provide_image;
use super::start::with_settings;
use crate::containers::build::{self, material_paths};
use crate::containers::engine::{ContainerState, EngineError};
use crate::containers::names::Part;
use crate::containers::workload::{Containers, Workload};
use crate::machine::{Setback, remove_directory};

/// Maximum seconds of one run. The program then ends with a report.
const DEADLINE: u32 = 60;
/// Time after [`DEADLINE`] at which the fleet ends a program that still runs.
const GRACE: Duration = Duration::from_secs(15);
/// Interval of the inspections of a running program. Events of the engine may be lost.
const INSPECTION_INTERVAL: Duration = Duration::from_secs(1);

/// Messages of reports that the program did not write.
const NO_PROGRAM: &str =
    "Course material is not available in this installation. Ask the administrator to set SERVICE_MATERIAL_IMAGE.";
const NO_IMAGE: &str = "The image of the program that loads course material is missing. Ask the administrator to check SERVICE_MATERIAL_IMAGE.";
const NOT_STARTED: &str =
    "The program that loads course material did not start. Ask the administrator to read the launcher's log.";
const TOO_SLOW: &str = "The program that loads course material did not end in time. Launch again later.";
const OUT_OF_MEMORY: &str =
    "Loading the course material needed more memory than the workshop has. Choose a smaller source.";
const NO_REPORT: &str =
    "The program that loads course material gave no report. Ask the administrator to read the launcher's log.";

/// Places the material of a Workshop, and returns the report. After an interruption, the next call continues.
///
/// # Errors
/// Only an unreachable engine, which also could not start the app.
pub(super) async fn load(workload: &Arc<Workload>, material: &WorkshopMaterial) -> Result<MaterialReport, Setback> {
    match run(workload, material).await {
        Ok(report) => Ok(report),
        Err(error @ EngineError::Unreachable { .. }) => Err(error.into()),
        Err(error) => {
            let workshop = workload.name();
            tracing::warn!(workshop, %error, "loading course material failed, starting the app without it");
            Ok(material.failed(NOT_STARTED))
        }
    }
}

/// Removes the container and the copies of the secrets. Repeatable. Call it after the report is stored: without the container, a
/// successor could not read it again.
pub(super) async fn clean_up(workload: &Workload) {
    let (engine, container) = (workload.engine(), workload.container(Part::Material));
    if let Err(error) = engine.remove(&container).await {
        tracing::warn!(container, %error, "removing the container of the course material failed, the end of the workshop removes it");
    }
    remove_secrets(workload).await;
}

/// Runs the program, or adopts it if it runs, and returns its report.
async fn run(workload: &Arc<Workload>, material: &WorkshopMaterial) -> Result<MaterialReport, EngineError> {
    let Containers { engine, options, .. } = workload.fleet();
    let Some(image) = &options.material_image else { return Ok(material.failed(NO_PROGRAM)) };
    let container = workload.container(Part::Material);
    if !engine.inspect(&container).await?.is_some_and(|state| state.started) {
        match provide_image(workload, image).await {
            Err(error @ EngineError::Unreachable { .. }) => return Err(error),
            Err(error) => {
                let workshop = workload.name();
                tracing::warn!(workshop, image, %error, "image for course material is missing, starting the app without it");
                return Ok(material.failed(NO_IMAGE));
            }
            Ok(()) => {}
        }
        if let Err(error) = provide_secrets(workload, material).await {
            let workshop = workload.name();
            tracing::warn!(workshop, %error, "copying the secrets of the course material failed, starting the app without it");
            return Ok(material.failed(NOT_STARTED));
        }
        if !start(workload).await? {
            return Ok(material.failed(NOT_STARTED));
        }
    }
    let Some(ended) = wait_for_end(workload, &container).await? else { return Ok(material.failed(TOO_SLOW)) };
    let output = engine.last_output(&container).await?;
    Ok(report(material, &ended, &output))
}

/// Creates and starts the container. Returns false for an invalid spec, with which the app does not start either.
async fn start(workload: &Arc<Workload>) -> Result<bool, EngineError> {
    let Containers { engine, engine_info, options, .. } = workload.fleet();
    let (app, sidecar) = (workload.container(Part::App), workload.container(Part::Sidecar));
    // Empty for root, or for a name of the image. Such an app usually changes to the first user later.
    let user = engine.user(&app).await?.unwrap_or_else(|| options.run_as_user.get());
    let body =
        with_settings(workload, |workshop, settings| build::material(workshop, settings, user, DEADLINE)).await?;
    let Ok(Some(body)) = body else { return Ok(false) };
    let paths = material_paths(&body);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    workload.create(Part::Material, body).await?;
    engine.start_app(engine_info.kind, &workload.container(Part::Material), &sidecar, &paths).await?;
    Ok(true)
}

/// Waits until the program has ended, and returns its last state; `None` if it had to be killed.
async fn wait_for_end(workload: &Workload, container: &str) -> Result<Option<ContainerState>, EngineError> {
    let engine = workload.engine();
    let deadline = Instant::now() + Duration::from_secs(DEADLINE.into()) + GRACE;
    loop {
        match engine.inspect(container).await? {
            Some(state) if state.running => {}
            Some(state) => return Ok(Some(state)),
            None => return Err(EngineError::NotFound(format!("the container {container}, which was just started"))),
        }
        if Instant::now() >= deadline {
            engine.stop(container, Duration::ZERO).await?;
            return Ok(None);
        }
        tokio::select! {
            () = workload.backend.events.notified() => {}
            () = sleep(INSPECTION_INTERVAL) => {}
        }
    }
}

fn report(material: &WorkshopMaterial, ended: &ContainerState, output: &str) -> MaterialReport {
    if ended.oom_killed && ended.exit_code != Some(0) {
        return material.failed(OUT_OF_MEMORY);
    }
    material.parse_report(output).unwrap_or_else(|| material.failed(NO_REPORT))
}

/// Copies the secrets of the sources. A missing file is left out: the program reports a missing password. An unreadable file
/// is left out, too, and the log has the cause.
async fn provide_secrets(workload: &Workload, material: &WorkshopMaterial) -> io::Result<()> {
    let names: Vec<String> = material.secrets().into_iter().map(str::to_owned).collect();
    if names.is_empty() {
        return Ok(());
    }
    let (layout, workshop) = (&workload.data_dir().layout, workload.name().to_owned());
    let (from, to) = (layout.material_secrets(), layout.secret_copies(&workshop));
    blocking(move || {
        remove_directory(&to)?;
        make_readable(&to)?;
        for name in names {
            copy_secret(&from.join(&name), &to.join(&name), &workshop)?;
        }
        Ok(())
    })
    .await
}

pub(super) async fn remove_secrets(workload: &Workload) {
    let directory = workload.data_dir().layout.secret_copies(workload.name());
    if let Err(error) = blocking(move || remove_directory(&directory)).await {
        let workshop = workload.name();
        tracing::warn!(workshop, %error, "removing the copies of secrets of course material failed");
    }
}

fn copy_secret(from: &Path, to: &Path, workshop: &str) -> io::Result<()> {
    make_readable(to)?;
    for file in SECRET_FILES {
        match read_secret(&from.join(file)) {
            Ok(content) => write_readable(&to.join(file), &content)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let path = from.join(file);
                tracing::warn!(workshop, path = %path.display(), %error, "reading a secret of course material failed");
            }
        }
    }
    Ok(())
}

/// Reads at most one byte more than the program accepts.
fn read_secret(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(MAX_SECRET_BYTES + 1).read_to_end(&mut content)?;
    Ok(content)
}
