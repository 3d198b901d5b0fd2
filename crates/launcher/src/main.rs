//! The workshop launcher. `launcher serve` is the service, `launcher operator` runs its workshops on Kubernetes, and
//! `launcher doctor` checks both.

mod class;
mod cli;
mod cluster;
mod doctor;
mod move_database;
mod operator;
mod reference;
mod serve;
mod settings;
mod traces;

use std::process::ExitCode;

use launcher_process::settings::read;

use crate::cli::{Cli, Command};

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
        Command::Serve(settings) => serve::run(*settings)?,
        Command::Operator(settings) => operator::run(*settings)?,
        Command::Doctor(settings) => {
            let report = doctor::run(*settings)?;
            say(&report.to_string());
            return Ok(if report.has_failures() { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
        Command::MoveDatabase(args) => say(&block_on(move_database::run(&args))?),
        Command::Class(command) => say(block_on(class::run(command))?.trim_end()),
        Command::Keep { command } => return Ok(launcher_fleet::keeper::run(command)),
        Command::Openapi => print(&launcher_api::openapi(launcher_api::ApiSettings::BASE_PATH))?,
        Command::Crd => print(&launcher_workshop::crds())?,
        Command::Completions { shell } => say(reference::completions(shell)?.trim_end()),
        Command::Man { folder } => reference::write_manual(&folder)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a command of one task, and returns what it prints.
fn block_on(command: impl Future<Output = Result<String, String>>) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(command)
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
