//! The program from an administrator's point of view.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod class;
mod doctor;
mod generated;
mod lifecycle;
mod memory;
mod move_database;
mod operator;
mod ports;
mod reference;
mod secret;
mod serving;
mod settings;
mod stopped;
mod suspending;
mod traces;
mod warnings;

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program with only these environment variables, and none of the test's own.
fn launcher(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    launcher_at(Path::new(env!("CARGO_BIN_EXE_launcher")), arguments, environment)
}

/// Runs a copy of the program in the same way.
fn launcher_at(program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    Command::new(program)
        .args(arguments)
        .env_clear()
        .env("SERVICE_DATA_DIR", directory.path())
        .env("SERVICE_LISTEN_ADDR", "127.0.0.1:0")
        .env("SERVICE_TELEMETRY_ADDR", "127.0.0.1:0")
        .env("SERVICE_LOG", "off")
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
