//! Completion scripts and manual pages, generated from the command line itself.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use launcher_domain::version::version;

use crate::cli::Cli;

/// Returns the completion script of a shell.
///
/// # Errors
/// Returns an error if the generator writes a script that is not UTF-8.
pub(crate) fn completions(shell: Shell) -> Result<String, String> {
    let mut script = Vec::new();
    generate(shell, &mut without_hidden_commands(&Cli::command()), "launcher", &mut script);
    String::from_utf8(script).map_err(|error| error.to_string())
}

/// Returns the command line without its hidden commands, which `clap_complete` would complete.
fn without_hidden_commands(command: &Command) -> Command {
    let visible = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).cloned();
    Command::new("launcher").version(version()).propagate_version(true).subcommands(visible)
}

/// Writes one manual page for the program and one for each command: `launcher.1`, `launcher-serve.1`, …
///
/// # Errors
/// Returns an error that names the folder if a page cannot be written.
pub(crate) fn write_manual(folder: &Path) -> Result<(), String> {
    clap_mangen::generate_to(Cli::command(), folder)
        .map_err(|error| format!("{}: manual pages cannot be written: {error}", folder.display()))
}
