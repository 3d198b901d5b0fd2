//! Arguments and environment of JupyterLab as a process behind the sidecar.

use std::ffi::OsString;
use std::path::Path;

use launcher_domain::AppType;

use super::machine::Machine;

/// Options for address, port and host name, which are removed from the template's arguments. A template sets them for a
/// container. A process must listen on the loopback address, and on the port that the local fleet allocated.
const RESERVED_OPTIONS: [&str; 7] = [
    "--ip",
    "--port",
    "--port-retries",
    "--ServerApp.ip",
    "--ServerApp.port",
    "--ServerApp.port_retries",
    "--ServerApp.local_hostnames",
];

/// Aliases of preset options, each with the full name of the option. If the template's arguments contain an alias, the
/// preset is omitted.
const ALIASES: [(&str, &str); 4] = [
    ("--notebook-dir", "--ServerApp.root_dir"),
    ("--ServerApp.notebook_dir", "--ServerApp.root_dir"),
    ("--allow-root", "--ServerApp.allow_root"),
    ("--no-browser", "--ServerApp.open_browser"),
];

/// Names of the option for Jupyter's token, in current and older versions.
const TOKEN_OPTIONS: [&str; 4] =
    ["--IdentityProvider.token", "--PasswordIdentityProvider.token", "--ServerApp.token", "--NotebookApp.token"];

/// Returns the presets that the template's arguments do not override, followed by the template's arguments.
///
/// No argument has the token, because every user of the machine can read a program's arguments. The presets set no
/// password. Jupyter still checks the `Host` of each request, which blocks DNS rebinding by foreign pages.
pub(super) fn arguments(port: u16, machine: &Machine, template_args: &[String]) -> Vec<String> {
    let presets = [
        "--ServerApp.open_browser=False".to_owned(),
        "--ServerApp.ip=127.0.0.1".to_owned(),
        format!("--ServerApp.port={port}"),
        "--ServerApp.port_retries=0".to_owned(),
        "--PasswordIdentityProvider.hashed_password=".to_owned(),
        format!("--ServerApp.local_hostnames={}", machine.host),
        format!("--ServerApp.root_dir={}", machine.working_dir.display()),
        "--ServerApp.allow_root=True".to_owned(),
    ];
    let is_allowed = |argument: &&String| !RESERVED_OPTIONS.contains(&key(argument)) && !is_empty_token(argument);
    let allowed: Vec<&String> = template_args.iter().filter(is_allowed).collect();
    let overridden: Vec<&str> = allowed.iter().map(|argument| full(key(argument))).collect();
    let kept = presets.iter().filter(|preset| !overridden.contains(&key(preset)));
    kept.chain(allowed).cloned().collect()
}

/// Returns variables that give this JupyterLab separate directories. It must not use the configuration and the running
/// servers of the user's other Jupyter.
pub(super) fn environment(app_dir: &Path) -> [(OsString, OsString); 4] {
    [
        ("JUPYTER_CONFIG_DIR", "config"),
        ("JUPYTER_DATA_DIR", "data"),
        ("JUPYTER_RUNTIME_DIR", "run"),
        ("IPYTHONDIR", "ipython"),
    ]
    .map(|(name, directory)| (name.into(), app_dir.join(directory).into()))
}

/// True if the fleet may give the app a token, which the app then requires. Only JupyterLab supports a token. A token
/// in the template's arguments takes precedence, unless it is empty: templates for a cluster disable the token because
/// the sidecar protects the app there.
#[must_use]
pub fn accepts_token(app_type: AppType, args: &[String]) -> bool {
    let sets_token = |argument: &String| TOKEN_OPTIONS.contains(&key(argument)) && !is_empty_token(argument);
    app_type == AppType::Notebook && !args.iter().any(sets_token)
}

fn is_empty_token(argument: &str) -> bool {
    TOKEN_OPTIONS.contains(&key(argument)) && argument.split_once('=').is_some_and(|(_, value)| value.is_empty())
}

fn key(argument: &str) -> &str {
    argument.split_once('=').map_or(argument, |(key, _)| key)
}

fn full(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, full)| full)
}
