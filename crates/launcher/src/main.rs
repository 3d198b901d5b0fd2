//! The workshop launcher. `launcher serve` is the service, `launcher operator` runs its workshops on Kubernetes, and
//! `launcher doctor` checks both.

mod cluster;
mod doctor;
mod move_database;
mod operator;
mod serve;
mod settings;
mod traces;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use launcher_process::settings::read;

use crate::move_database::MoveArgs;
use crate::operator::OperatorArgs;
use crate::settings::ServeSettings;

/// Launches short-lived workshops (RStudio, Jupyter, anything that speaks HTTP) from a shared catalog.
#[derive(Debug, Parser)]
#[command(name = "launcher", version, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API and the pages
    Serve(Box<ServeSettings>),
    /// Run workshops on Kubernetes: turn Workshops into workloads
    Operator(Box<OperatorArgs>),
    /// Check a deployment and say what is wrong with it; changes nothing
    ///
    /// Takes the settings of `launcher serve`, and needs no running service: in its pod, or with its environment, no
    /// setting has to be given. Prints one line a check, `ok`, `warn` or `FAIL`; exits with 1 when something fails.
    Doctor(Box<ServeSettings>),
    /// Copy all rows into another, empty database; stop the service first
    MoveDatabase(MoveArgs),
    /// Start an app and stay until all that it has started has ended; `launcher serve` runs this for each local workshop
    #[command(name = launcher_fleet::keeper::COMMAND, hide = true)]
    Keep {
        #[arg(required = true, last = true)]
        command: Vec<OsString>,
    },
    /// Print the OpenAPI document
    Openapi,
    /// Print the custom resource definition of Workshop
    Crd,
}

fn main() -> ExitCode {
    match read::<Cli>().and_then(|cli| run(cli.command)) {
        Ok(code) => code,
        Err(message) => {
            complain(&message);
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::Serve(settings) => serve::run(*settings).map_err(|error| error.to_string())?,
        Command::Operator(settings) => operator::run(*settings).map_err(|error| error.to_string())?,
        Command::Doctor(settings) => {
            let report = doctor::run(*settings)?;
            say(&report.to_string());
            return Ok(if report.has_failures() { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
        Command::MoveDatabase(args) => say(&move_database::run(&args)?),
        Command::Keep { command } => return Ok(launcher_fleet::keeper::run(command)),
        Command::Openapi => print(&launcher_api::openapi(settings::BASE_PATH))?,
        Command::Crd => print(&launcher_workshop::crd())?,
    }
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::print_stderr, reason = "a program that cannot start says why, in one line, before there is a log")]
fn complain(message: &str) {
    eprintln!("launcher: {message}");
}

fn print(document: &impl serde::Serialize) -> Result<(), String> {
    say(&serde_json::to_string_pretty(document).map_err(|error| error.to_string())?);
    Ok(())
}

#[expect(clippy::print_stdout, reason = "printing is what the command is for")]
fn say(text: &str) {
    println!("{text}");
}
