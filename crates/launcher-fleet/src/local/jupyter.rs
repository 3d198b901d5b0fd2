//! JupyterLab with the sidecar in front.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::command::LaunchSpec;
use super::login::{COOKIE_NAME, Token};

/// Remedy for a missing JupyterLab.
pub(super) const REMEDY: &str = "Start the launcher with `make run`, which installs JupyterLab, or set SERVICE_LOCAL_JUPYTER to the program jupyter-lab.";

/// Options for the listen address, which a template must not set: its images listen on every address and on a fixed
/// port.
const RESERVED_OPTIONS: [&str; 7] = [
    "--ip",
    "--port",
    "--port-retries",
    "--ServerApp.ip",
    "--ServerApp.port",
    "--ServerApp.port_retries",
    "--ServerApp.local_hostnames",
];

/// Aliases of the presets that a template may override.
const ALIASES: [(&str, &str); 4] = [
    ("--notebook-dir", "--ServerApp.root_dir"),
    ("--ServerApp.notebook_dir", "--ServerApp.root_dir"),
    ("--allow-root", "--ServerApp.allow_root"),
    ("--no-browser", "--ServerApp.open_browser"),
];

/// Names of the argument for Jupyter's token.
const TOKEN_OPTIONS: [&str; 4] =
    ["--IdentityProvider.token", "--PasswordIdentityProvider.token", "--ServerApp.token", "--NotebookApp.token"];

/// Variable with configuration directories, which take precedence over all others.
const CONFIG_PATH: &str = "JUPYTER_CONFIG_PATH";
/// The file with the token, below the Workshop's own directory.
pub(super) const LOGIN_FILE: &str = "login/jupyter_server_config.json";

/// Returns the arguments: the presets that the template's arguments do not override, and the template's.
///
/// The token is not an argument, because every user of the machine can read a program's arguments. There is no
/// password. Jupyter still compares `Host` with its allowed names, which blocks DNS rebinding by foreign pages.
pub(super) fn arguments(launch_spec: &LaunchSpec<'_>, args: &[String]) -> Vec<String> {
    let host = format!("{}.{}", launch_spec.name, launch_spec.settings.workshop_domain);
    let presets = [
        "--ServerApp.open_browser=False".to_owned(),
        "--ServerApp.ip=127.0.0.1".to_owned(),
        format!("--ServerApp.port={}", launch_spec.port),
        "--ServerApp.port_retries=0".to_owned(),
        "--PasswordIdentityProvider.hashed_password=".to_owned(),
        format!("--ServerApp.local_hostnames={host}"),
        format!("--ServerApp.root_dir={}", launch_spec.layout.working(launch_spec.name).display()),
        "--ServerApp.allow_root=True".to_owned(),
    ];
    let is_theirs = |argument: &&String| !RESERVED_OPTIONS.contains(&key(argument)) && !is_empty_token(argument);
    let theirs: Vec<&String> = args.iter().filter(is_theirs).collect();
    let replaced: Vec<&str> = theirs.iter().map(|argument| full(key(argument))).collect();
    let kept = presets.iter().filter(|preset| !replaced.contains(&key(preset)));
    kept.chain(theirs).cloned().collect()
}

/// Own directories, separate from the configuration and the running servers of the user's other Jupyter.
pub(super) fn environment(app: &Path) -> [(OsString, OsString); 4] {
    [
        ("JUPYTER_CONFIG_DIR", "config"),
        ("JUPYTER_DATA_DIR", "data"),
        ("JUPYTER_RUNTIME_DIR", "run"),
        ("IPYTHONDIR", "ipython"),
    ]
    .map(|(name, directory)| (name.into(), app.join(directory).into()))
}

/// True if the launcher sets the token. This includes templates with an empty token: they disable it because the
/// sidecar is in front.
pub(super) fn may_set_token(args: &[String]) -> bool {
    !args.iter().any(|argument| TOKEN_OPTIONS.contains(&key(argument)) && !is_empty_token(argument))
}

/// The configuration file with Jupyter's token.
pub(super) fn login_file(token: &Token) -> String {
    json!({ "IdentityProvider": { "token": token.reveal(), "cookie_name": COOKIE_NAME } }).to_string()
}

/// Gives the token's file precedence over all other configuration, including the template's.
pub(super) fn prefer_login_file(app: &Path, env: &mut BTreeMap<OsString, OsString>) {
    let ours: Option<PathBuf> = app.join(LOGIN_FILE).parent().map(Path::to_owned);
    let others = env.get(&OsString::from(CONFIG_PATH)).cloned().unwrap_or_default();
    let paths = ours.into_iter().chain(std::env::split_paths(&others).filter(|path| !path.as_os_str().is_empty()));
    // Fails for a path with a colon, which such a list cannot hold.
    if let Ok(joined) = std::env::join_paths(paths) {
        env.insert(CONFIG_PATH.into(), joined);
    }
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
