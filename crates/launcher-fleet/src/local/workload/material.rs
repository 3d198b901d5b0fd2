//! Places the course material of a Workshop before its app starts. A failure never prevents the start of the app.

use std::io;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::{MATERIAL_VARIABLE, MaterialReport, Report, StartStep};
use launcher_workshop::lifecycle;
use launcher_workshop::{Workshop, WorkshopMaterial};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use super::command::{inherited, working_dir};
use super::handle::Workload;
use crate::local::process::MARKER;
use crate::local::records::Record;
use crate::machine::{Supervised, make_private, starting};

/// Time before the end of the timeout at which the program should give up, so that its report arrives.
const MARGIN: Duration = Duration::from_secs(5);
/// Maximum bytes that are read from each output of the program.
const MAX_OUTPUT: u64 = 64 * 1024;

const MISSING: &str =
    "The server cannot load course material: ask an administrator to install the program launcher-material.";
const TOO_SLOW: &str =
    "The course material took too long to load: launch the workshop again later, or ask your teacher.";
const NO_REPORT: &str =
    "The program that loads course material failed: ask an administrator to read the log of the launcher.";

/// Places the material, and stores the report. Returns true if processes of the program may still run.
///
/// Does nothing if the status has a report already: a crashed app starts again with the files that it had. Cancel-safe:
/// the program is killed, and the next start runs it again.
pub(super) async fn place_material(workload: &Arc<Workload>) -> bool {
    let record = workload.record().get();
    let Some(material) = &record.workshop.spec.material else { return false };
    if record.status().report.material.is_some() {
        return false;
    }
    let clock = &workload.context().data_dir.clock;
    let loading = || starting(StartStep::LoadingMaterial);
    workload.record().observe(loading(), clock.now()).await;
    let report = Report { material: Some(report(workload, &record, material).await), ..Report::default() };
    workload.record().observe(lifecycle::Workload { report, ..loading() }, clock.now()).await;
    true
}

async fn report(workload: &Workload, record: &Record, material: &WorkshopMaterial) -> MaterialReport {
    let settings = &workload.context().settings;
    let marker = workload.marker_of(record);
    match tokio::time::timeout(settings.material_timeout, run(workload, &record.workshop, &marker)).await {
        Ok(Ok(output)) => MaterialReport::parse(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|| {
            let message = String::from_utf8_lossy(&output.stderr);
            tracing::error!(workshop = workload.name(), status = %output.status, %message, "loading material failed");
            material.failed(NO_REPORT)
        }),
        Ok(Err(error)) => {
            tracing::error!(workshop = workload.name(), %error, "loading material failed");
            material.failed(if error.kind() == io::ErrorKind::NotFound { MISSING } else { NO_REPORT })
        }
        Err(_) => {
            tracing::error!(workshop = workload.name(), "loading material took too long");
            material.failed(TOO_SLOW)
        }
    }
}

/// Runs the program in the working directory of the app. If this future is dropped, the program is killed.
async fn run(workload: &Workload, workshop: &Workshop, marker: &str) -> io::Result<Output> {
    let context = workload.context();
    let working = working_dir(&context.data_dir.layout, workload.name(), &workshop.spec);
    let directory = working.clone();
    tokio::task::spawn_blocking(move || make_private(&directory)).await??;
    let secrets = context.data_dir.layout.material_secrets();
    let config = config(context.settings.material_timeout, &working, &secrets, workshop)?;
    let mut child = Command::new(&context.settings.material)
        .env_clear()
        .envs(inherited(std::env::vars_os()))
        .env(MARKER, marker)
        .env(MATERIAL_VARIABLE, config)
        .current_dir(&working)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) = tokio::try_join!(read(stdout), read(stderr))?;
    Ok(Output { status: child.wait().await?, stdout, stderr })
}

/// Returns the configuration of the program as JSON.
fn config(timeout: Duration, working: &Path, secrets: &Path, workshop: &Workshop) -> io::Result<String> {
    let seconds = timeout.saturating_sub(MARGIN).as_secs().max(1);
    let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
    let material = workshop.spec.material.as_ref();
    let (Some(working), Some(secrets)) = (working.to_str(), secrets.to_str()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let config = material.and_then(|material| material.config(seconds, None, secrets));
    let config = config.ok_or(io::ErrorKind::InvalidInput)?;
    let directory = working.to_owned();
    Ok(serde_json::to_string(&launcher_domain::MaterialConfig { directory, ..config })?)
}

/// Reads an output to its end, but returns only its first bytes.
pub(super) async fn read(output: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut output) = output {
        (&mut output).take(MAX_OUTPUT).read_to_end(&mut bytes).await?;
        tokio::io::copy(&mut output, &mut tokio::io::sink()).await?;
    }
    Ok(bytes)
}
