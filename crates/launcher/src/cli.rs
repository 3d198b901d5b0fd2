//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use launcher_domain::version::version;

use crate::class::ClassCommand;
use crate::move_database::MoveArgs;
use crate::operator::OperatorArgs;
use crate::settings::ServeSettings;

/// Launches short-lived workshops (RStudio, Jupyter, anything that speaks HTTP) from a shared catalog.
#[derive(Debug, Parser)]
#[command(name = "launcher", version = version(), propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the API and the pages
    Serve(Box<ServeSettings>),
    /// Run the workshops on Kubernetes
    Operator(Box<OperatorArgs>),
    /// Check a deployment and report its faults; changes nothing
    ///
    /// Run it in the service's pod, or with the service's environment: it takes the settings of `launcher serve`. The
    /// service need not run. Prints one line for each check: `ok`, `warn` or `FAIL`. Exits with 1 if a check fails.
    Doctor(Box<ServeSettings>),
    /// Copy all rows to an empty database; stop the service first
    MoveDatabase(MoveArgs),
    /// Export or import a class as a YAML file
    ///
    /// Uses the database of the service, with its settings. A service with SQLite must be stopped; with PostgreSQL it may run.
    #[command(subcommand)]
    Class(ClassCommand),
    /// Start an app and wait for the end of all its descendants; `launcher serve` runs this for each local workshop
    #[command(name = launcher_fleet::keeper::COMMAND, hide = true)]
    Keep {
        #[arg(required = true, last = true)]
        command: Vec<OsString>,
    },
    /// Print the API's OpenAPI document
    Openapi,
    /// Print the CustomResourceDefinitions of Workshops and downloads
    Crd,
    /// Print the completion script of a shell
    ///
    /// For bash: `launcher completions bash > ~/.local/share/bash-completion/completions/launcher`
    Completions {
        /// Shell that reads the script
        shell: Shell,
    },
    /// Write the manual pages
    Man {
        /// Existing folder for launcher.1 and the page of each command
        folder: PathBuf,
    },
}
