//! Host name, user and directories of an app that runs as a process.

use std::path::PathBuf;

/// Host name, user and directories of one workshop on a machine that it shares with other workshops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Host name of the workshop, without a port.
    pub host: String,
    /// Name of the user that runs the app.
    pub user: String,
    /// Absolute path of the directory for the app's internal files: configuration, data, sockets.
    pub app_dir: PathBuf,
    /// Absolute path of the working directory, with the owner's files.
    pub working_dir: PathBuf,
}
