//! Places the course material of a Workshop before its app starts. A failure never prevents the start of the app.

use std::io;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use launcher_domain::{MATERIAL_VARIABLE, MaterialReport};
use launcher_workshop::{Workshop, WorkshopMaterial};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::Workload;
use super::command::inherited;
use crate::local::process::MARKER;
use crate::local::records::Record;
use crate::machine::make_private;
use crate::source_check::separate;

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

/// Places the material, and returns the report. If this future is dropped, the program is killed, and the next start runs it again.
pub(super) async fn load(workload: &Workload, material: &WorkshopMaterial) -> MaterialReport {
    let record = workload.record.get();
    match tokio::time::timeout(workload.fleet().material_timeout, run(workload, &record)).await {
        Ok(Ok(output)) => material.parse_report(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|| {
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
async fn run(workload: &Workload, record: &Record) -> io::Result<Output> {
    let working = workload.working_dir(&record.workshop.spec);
    let directory = working.clone();
    tokio::task::spawn_blocking(move || make_private(&directory)).await??;
    let secrets = workload.data_dir().layout.material_secrets();
    let config = config(workload.fleet().material_timeout, &working, &secrets, &record.workshop)?;
    let mut child = separate(&workload.settings().material, &working, &inherited(std::env::vars_os()))
        .env(MARKER, workload.marker_of(record))
        .env(MATERIAL_VARIABLE, config)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) = tokio::try_join!(read(stdout), read(stderr))?;
    Ok(Output { status: child.wait().await?, stdout, stderr })
}

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
