//! Life of a container: create, start, inspect, read its log, stop, remove.

use std::collections::HashMap;
use std::time::Duration;

use bollard::container::LogOutput;
use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{CreateContainerOptions, LogsOptions, RemoveContainerOptions, StopContainerOptions};
use futures_util::TryStreamExt;
use jiff::Timestamp;
use serde::Deserialize;
use tokio::time::Instant;

use super::{Engine, EngineError, EngineKind, LONG, SHORT, if_exists};
use crate::containers::names::{PART_LABEL, UID_LABEL};
use crate::machine::plain_tail;

/// Interval of the attempts while another request to create or remove the container is in progress.
pub(super) const BUSY_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerState {
    pub running: bool,
    /// True if the container was started at least once.
    pub started: bool,
    /// Exit code of the last run. The engine sets it also if it could not start the command.
    pub exit_code: Option<i64>,
    /// True if the kernel killed a process of the last run because of the memory limit.
    pub oom_killed: bool,
    /// The engine's message about a failed start.
    pub error: Option<String>,
    pub finished_at: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Inspected {
    state: InspectedState,
    config: InspectedConfig,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct InspectedState {
    running: bool,
    #[serde(rename = "OOMKilled", default)]
    oom_killed: bool,
    exit_code: Option<i64>,
    error: Option<String>,
    started_at: Option<String>,
    finished_at: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct InspectedConfig {
    labels: Option<HashMap<String, String>>,
    user: Option<String>,
    working_dir: Option<String>,
}

impl Engine {
    /// Creates a container. If a container with this name exists, with the same uid, part and network limits, the call
    /// does nothing.
    ///
    /// # Errors
    /// [`EngineError::Conflict`]: another container has the name. [`EngineError::ImageMissing`]: pull the image first.
    pub async fn create(&self, name: &str, body: ContainerCreateBody) -> Result<(), EngineError> {
        let image = body.image.clone().unwrap_or_default();
        let wanted = identity(body.labels.as_ref());
        let options = CreateContainerOptions { name: Some(name.to_owned()), ..CreateContainerOptions::default() };
        let deadline = Instant::now() + LONG;
        loop {
            let created = self.docker.create_container(Some(options.clone()), body.clone());
            let error = match self.limited(LONG, created).await {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            if is_name_taken(&error) {
                let found: Option<Inspected> = if_exists(self.get(&format!("/containers/{name}/json")).await)?;
                // Docker Engine reserves a name before its container exists. A create request of a killed launcher may
                // still be in progress.
                if found.is_none() && Instant::now() < deadline {
                    tokio::time::sleep(BUSY_INTERVAL).await;
                    continue;
                }
                let is_same =
                    wanted.is_some() && found.and_then(|found| identity(found.config.labels.as_ref())) == wanted;
                return if is_same { Ok(()) } else { Err(EngineError::Conflict(error.message())) };
            }
            return match error {
                EngineError::NotFound(message) | EngineError::Other(message) if is_image_unknown(&message) => {
                    Err(EngineError::ImageMissing { image, message })
                }
                error => Err(error),
            };
        }
    }

    /// Checks that a container exists, and that its labels for uid, part and network limits equal these labels.
    pub async fn verify(&self, name: &str, labels: &HashMap<String, String>) -> Result<(), EngineError> {
        let found: Inspected = self.get(&format!("/containers/{name}/json")).await?;
        if identity(found.config.labels.as_ref()) == identity(Some(labels)) {
            return Ok(());
        }
        Err(EngineError::Conflict(format!("the labels of the container {name} are not those of this workshop")))
    }

    /// Starts a container. If it runs, the call does nothing.
    pub async fn start(&self, name: &str) -> Result<(), EngineError> {
        with_command_errors(self.limited(LONG, self.docker.start_container(name, None)).await)
    }

    /// Lets Podman create the process of a container without running its command. If this is done, the call does nothing.
    pub(super) async fn initialise(&self, name: &str) -> Result<(), EngineError> {
        with_command_errors(self.post(&format!("/v4.0.0/libpod/containers/{name}/init")).await)
    }

    /// Returns the state of a container, or `None` if it does not exist.
    pub async fn inspect(&self, name: &str) -> Result<Option<ContainerState>, EngineError> {
        Ok(if_exists(self.get(&format!("/containers/{name}/json")).await)?.map(state))
    }

    /// Returns the user ID of a container's main process, or `None` if it is root, or a name in the image.
    pub(crate) async fn user(&self, name: &str) -> Result<Option<u32>, EngineError> {
        let found: Inspected = self.get(&format!("/containers/{name}/json")).await?;
        let user = found.config.user.unwrap_or_default();
        // A group may follow.
        let user = user.split(':').next().and_then(|user| user.parse().ok());
        Ok(user.filter(|&user| user != 0))
    }

    pub(crate) async fn working_dir(&self, name: &str) -> Result<String, EngineError> {
        let found: Inspected = self.get(&format!("/containers/{name}/json")).await?;
        let directory = found.config.working_dir.unwrap_or_default();
        // The root, if the image names none.
        Ok(format!("/{}", directory.trim_matches('/')))
    }

    /// Stops a container: SIGTERM, and SIGKILL after the grace period. Returns when the container has stopped. If it
    /// does not run or does not exist, the call does nothing.
    pub async fn stop(&self, name: &str, grace: Duration) -> Result<(), EngineError> {
        let seconds = i32::try_from(grace.as_secs()).unwrap_or(i32::MAX);
        let options = StopContainerOptions { t: Some(seconds), ..StopContainerOptions::default() };
        if_exists(self.limited(grace + LONG, self.docker.stop_container(name, Some(options))).await).map(drop)
    }

    /// Removes a container and its anonymous volumes, even if it runs. Volumes with a name stay. Returns when it is gone. If it does not exist,
    /// the call does nothing.
    ///
    /// # Errors
    /// [`EngineError::Conflict`]: Podman removes a sidecar only after its app.
    pub async fn remove(&self, name: &str) -> Result<(), EngineError> {
        let options = RemoveContainerOptions { force: true, v: true, ..RemoveContainerOptions::default() };
        let deadline = Instant::now() + LONG;
        loop {
            match self.limited(LONG, self.docker.remove_container(name, Some(options.clone()))).await {
                Err(EngineError::NotFound(_)) => return Ok(()),
                Err(EngineError::Conflict(message) | EngineError::Other(message))
                    if message.contains("already in progress") && Instant::now() < deadline =>
                {
                    tokio::time::sleep(BUSY_INTERVAL).await;
                }
                Err(EngineError::Other(message)) if message.contains("has dependent containers") => {
                    return Err(EngineError::Conflict(message));
                }
                result => return result,
            }
        }
    }
}

/// Returns the uid and the part, or `None` for a container that no launcher created.
fn identity(labels: Option<&HashMap<String, String>>) -> Option<[String; 2]> {
    let label = |name| labels?.get(name).cloned();
    Some([label(UID_LABEL)?, label(PART_LABEL)?])
}

fn state(Inspected { state, .. }: Inspected) -> ContainerState {
    let InspectedState { running, oom_killed, exit_code, error, started_at, finished_at } = state;
    let error = error.filter(|error| !error.is_empty());
    let started = time(started_at.as_deref()).is_some();
    ContainerState {
        running,
        started,
        exit_code: exit_code.filter(|_| !running && (started || error.is_some())),
        oom_killed,
        error,
        finished_at: time(finished_at.as_deref()).filter(|_| !running),
    }
}

/// Parses a time. The engines write the year 1 for an event that has not happened.
fn time(text: Option<&str>) -> Option<Timestamp> {
    let time: Timestamp = text?.parse().ok()?;
    (time > Timestamp::UNIX_EPOCH).then_some(time)
}

fn with_command_errors(started: Result<(), EngineError>) -> Result<(), EngineError> {
    match started {
        Err(error) if is_command_error(&error.message()) => Err(EngineError::CommandNotStarted(error.message())),
        result => result,
    }
}

fn is_name_taken(error: &EngineError) -> bool {
    match error {
        EngineError::Conflict(message) | EngineError::Other(message) => message.contains("already in use"),
        _ => false,
    }
}

/// True if this message reports that the image is not on the engine's machine.
pub(super) fn is_image_unknown(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["no such image", "image not known"].iter().any(|text| message.contains(text))
}

/// True if this message of a failed start says that the command does not exist or is not executable. The messages come
/// from the runtimes runc and crun.
fn is_command_error(message: &str) -> bool {
    const STARTS: [&str; 5] =
        ["exec: ", "executable file", "open executable", "exec format error", "oci runtime attempted to invoke"];
    const CAUSES: [&str; 6] = [
        "executable file not found",
        "no such file or directory",
        "permission denied",
        "is a directory",
        "exec format error",
        "command that was not found",
    ];
    let message = message.to_ascii_lowercase();
    let contains = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
    contains(&STARTS) && contains(&CAUSES)
}

impl Engine {
    /// Starts an app in the network namespace of its running sidecar. If the app runs, the call does nothing. Before the
    /// start, the app's user gets the directories `volumes`, at which volumes are mounted: see [`Engine::give_to_user`].
    ///
    /// An app must never run in a network namespace before its sidecar has installed the rules there. Docker Engine refuses
    /// an app whose sidecar has ended, but Podman starts this sidecar again, and the app with it. So Podman first
    /// initialises the app: the app gets the network namespace of the sidecar's present run, and keeps it if the sidecar
    /// ends before the start.
    ///
    /// # Errors
    /// [`EngineError::Conflict`]: the sidecar has ended. [`EngineError::CommandNotStarted`]: as [`Engine::start`].
    pub async fn start_app(
        &self,
        kind: EngineKind,
        app: &str,
        sidecar: &str,
        volumes: &[&str],
    ) -> Result<(), EngineError> {
        if kind == EngineKind::Podman {
            self.initialise(app).await?;
        }
        let ready = self.prepare(kind, app, sidecar, volumes).await;
        if ready.is_err() && kind == EngineKind::Podman {
            // The next attempt initialises the app in the network namespace that the sidecar has then.
            self.stop(app, Duration::ZERO).await?;
        }
        ready?;
        self.start(app).await
    }

    /// Mounts the volume of an app that has not started yet, and gives its directory to the app's user. The engine copies
    /// the image's files at this path into an empty volume. Call it before another container writes into the volume.
    pub async fn mount_volume(&self, kind: EngineKind, app: &str, path: &str) -> Result<(), EngineError> {
        if kind != EngineKind::Podman {
            return self.give_to_user(kind, app, path).await;
        }
        self.initialise(app).await?;
        let given = self.give_to_user(kind, app, path).await;
        // The sidecar may end before the app starts. The app then needs the network namespace of the next sidecar.
        self.stop(app, Duration::ZERO).await?;
        given
    }

    async fn prepare(&self, kind: EngineKind, app: &str, sidecar: &str, volumes: &[&str]) -> Result<(), EngineError> {
        for path in volumes {
            self.give_to_user(kind, app, path).await?;
        }
        // Podman's answer is the same for an initialised app and for an app whose sidecar does not run.
        if kind == EngineKind::Podman && !self.inspect(sidecar).await?.is_some_and(|sidecar| sidecar.running) {
            return Err(EngineError::Conflict(format!("the sidecar {sidecar} has ended, so its app does not start")));
        }
        Ok(())
    }
}

/// Number of last entries to read. It is larger than the number of quoted lines, because the tail omits empty lines.
const LOG_ENTRIES: &str = "100";
/// Number of bytes at the end of the log that the tail may quote.
const KEPT_LOG_BYTES: usize = 64 * 1024;

impl Engine {
    /// Returns the last lines of a container's output as plain text, or `None` if there are none or the container does
    /// not exist.
    pub async fn log_tail(&self, name: &str) -> Result<Option<String>, EngineError> {
        let options =
            LogsOptions { stdout: true, stderr: true, tail: LOG_ENTRIES.to_owned(), ..LogsOptions::default() };
        Ok(plain_tail(&self.end_of_log(name, options).await?))
    }

    /// Returns the end of a container's standard output, or an empty text if there is none or the container does not
    /// exist.
    pub async fn last_output(&self, name: &str) -> Result<String, EngineError> {
        let options = LogsOptions { stdout: true, tail: LOG_ENTRIES.to_owned(), ..LogsOptions::default() };
        Ok(String::from_utf8_lossy(&self.end_of_log(name, options).await?).into_owned())
    }

    async fn end_of_log(&self, name: &str, options: LogsOptions) -> Result<Vec<u8>, EngineError> {
        let output = self.docker.logs(name, Some(options));
        let end = output.try_fold(Vec::new(), |end, output| std::future::ready(Ok(appended(end, output))));
        Ok(if_exists(self.limited(SHORT, end).await)?.unwrap_or_default())
    }
}

fn appended(mut end: Vec<u8>, output: LogOutput) -> Vec<u8> {
    end.extend_from_slice(&output.into_bytes());
    let excess = end.len().saturating_sub(KEPT_LOG_BYTES);
    end.drain(..excess);
    end
}
