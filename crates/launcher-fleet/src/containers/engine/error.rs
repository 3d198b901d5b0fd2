//! Errors of calls to the container engine.

use std::error::Error;
use std::io;
use std::path::Path;

use bollard::errors::Error as BollardError;
use launcher_domain::messages::ErrorChain;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// No connection, or no answer.
    #[error("the container engine is unreachable at {socket}: {problem}; {advice}")]
    Unreachable { socket: String, problem: String, advice: &'static str },
    #[error("the container engine has no such container, image, network or volume: {0}")]
    NotFound(String),
    /// Another object of the engine has the name, or the state of the object does not permit the call.
    #[error("conflict in the container engine: {0}")]
    Conflict(String),
    /// The image is neither on this machine nor in its registry.
    #[error("the image {image} does not exist: {message}")]
    ImageMissing { image: String, message: String },
    #[error("the registry refuses access to the image {image}: {message}")]
    ImageDenied { image: String, message: String },
    #[error("the disk of the container engine is full: {message}; remove images that are not in use")]
    DiskFull { message: String },
    /// The container's command does not exist in its image, or is not executable.
    #[error("the container's command cannot be started: {0}")]
    CommandNotStarted(String),
    #[error("the container engine refuses the parameters: {0}")]
    BadParameter(String),
    /// Any other error of the engine or of its registry.
    #[error("the container engine failed: {0}")]
    Other(String),
}

impl EngineError {
    /// True if the same call may succeed later without a change by an administrator or a template's author, or after
    /// the administrator has repaired the engine.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::DiskFull { .. } | Self::Other(_) => true,
            Self::NotFound(_)
            | Self::Conflict(_)
            | Self::ImageMissing { .. }
            | Self::ImageDenied { .. }
            | Self::CommandNotStarted(_)
            | Self::BadParameter(_) => false,
        }
    }

    /// Converts an error of the client library.
    pub(super) fn of(error: BollardError, socket: &Path) -> Self {
        match error {
            BollardError::DockerResponseServerError { status_code, message } => Self::refused(status_code, message),
            BollardError::DockerStreamError { error } => Self::refused(500, error),
            BollardError::SocketNotFoundError(_) => Self::no_connection(socket, &io::ErrorKind::NotFound.into()),
            BollardError::RequestTimeoutError => Self::unreachable(socket, "it does not answer".to_owned()),
            BollardError::IOError { err } => Self::no_connection(socket, &err),
            error @ (BollardError::HyperLegacyError { .. } | BollardError::HyperResponseError { .. }) => {
                match io_error(&error) {
                    Some(cause) => Self::no_connection(socket, cause),
                    None => Self::unreachable(socket, ErrorChain(&error).to_string()),
                }
            }
            error => Self::Other(format!("its answer cannot be read: {}", ErrorChain(&error))),
        }
    }

    pub(super) fn no_connection(socket: &Path, error: &io::Error) -> Self {
        let (problem, advice) = match error.kind() {
            io::ErrorKind::NotFound => {
                ("the socket does not exist".to_owned(), "start the engine, or correct the path in the settings")
            }
            io::ErrorKind::ConnectionRefused => {
                ("no program listens".to_owned(), "start the engine; if it runs, restart the launcher")
            }
            io::ErrorKind::PermissionDenied => (
                "permission denied".to_owned(),
                "add the launcher's user to the group of the socket, and start the launcher again",
            ),
            _ => (error.to_string(), RESTART),
        };
        Self::Unreachable { socket: socket.display().to_string(), problem, advice }
    }

    /// Creates the error of a call without an answer, or of a connection that broke.
    pub(super) fn unreachable(socket: &Path, problem: String) -> Self {
        Self::Unreachable { socket: socket.display().to_string(), problem, advice: RESTART }
    }

    pub(super) fn refused(status: u16, message: String) -> Self {
        if is_disk_full(&message) {
            return Self::DiskFull { message };
        }
        match status {
            _ if message.contains("invalid reference format") => Self::BadParameter(message),
            400 => Self::BadParameter(message),
            404 => Self::NotFound(message),
            409 => Self::Conflict(message),
            // Podman 4.3 answers with 500 if the container does not run.
            _ if message.contains("container state improper") => Self::Conflict(message),
            _ => Self::Other(message),
        }
    }

    /// Returns the engine's message, or the whole text of an error without a message of the engine.
    pub fn message(&self) -> String {
        match self {
            Self::Unreachable { .. } => self.to_string(),
            Self::NotFound(message)
            | Self::Conflict(message)
            | Self::CommandNotStarted(message)
            | Self::BadParameter(message)
            | Self::Other(message)
            | Self::ImageMissing { message, .. }
            | Self::ImageDenied { message, .. }
            | Self::DiskFull { message } => message.clone(),
        }
    }
}

/// Returns the outcome of a call about an object of the engine; `None` if the object does not exist.
pub(super) fn if_exists<T>(outcome: Result<T, EngineError>) -> Result<Option<T>, EngineError> {
    match outcome {
        Err(EngineError::NotFound(_)) => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Advice for an engine that breaks connections or does not answer.
const RESTART: &str = "look at the log of the engine, and restart it";

/// True if this message of the engine reports a full disk. Docker Engine and Podman quote the kernel's message.
fn is_disk_full(message: &str) -> bool {
    ["no space left on device", "disk quota exceeded"].iter().any(|text| message.contains(text))
}

fn io_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.find_map(|error| error.downcast_ref::<io::Error>())
}
