//! Arguments, environment and files of RStudio Server as a process for one user. RStudio Server writes its internal
//! files only below the app's directory.

use std::ffi::OsString;
use std::path::Path;

use super::machine::Machine;

const DATABASE_CONFIG: &str = "database.conf";
const SESSION_CONFIG: &str = "rsession.conf";
/// Option for the pages that may show RStudio in a frame. Without it, `rserver` forbids every frame, also the one of the
/// frame page. `same` permits pages of its own origin.
const FRAMES: &str = "--www-frame-origin";

pub(super) fn arguments(port: u16, machine: &Machine, template_args: Vec<String>) -> Vec<String> {
    let app = &machine.app_dir;
    let preset = [
        format!("--www-port={port}"),
        "--www-address=127.0.0.1".to_owned(),
        "--auth-none=1".to_owned(),
        "--server-daemonize=0".to_owned(),
        format!("--server-user={}", machine.user),
        format!("--server-data-dir={}", app.join("run").display()),
        format!("--database-config-file={}", app.join(DATABASE_CONFIG).display()),
        format!("--secure-cookie-key-file={}", app.join("secure-cookie-key").display()),
        format!("--rsession-config-file={}", app.join(SESSION_CONFIG).display()),
    ];
    // `rserver` refuses an option that occurs twice.
    let is_set = template_args.iter().any(|word| word == FRAMES || word.starts_with(&format!("{FRAMES}=")));
    let frames = (!is_set).then(|| format!("{FRAMES}=same"));
    preset.into_iter().chain(frames).chain(template_args).collect()
}

pub(super) fn environment(app_dir: &Path) -> [(OsString, OsString); 1] {
    [("XDG_DATA_HOME".into(), app_dir.join("data").into())]
}

/// Returns the configuration files: paths below the app's directory, and contents.
pub(super) fn files(machine: &Machine) -> [(&'static str, String); 2] {
    let database = machine.app_dir.join("database");
    let working = &machine.working_dir;
    [
        (DATABASE_CONFIG, format!("provider=sqlite\ndirectory={}\n", database.display())),
        (SESSION_CONFIG, format!("session-default-working-dir={}\n", working.display())),
    ]
}
