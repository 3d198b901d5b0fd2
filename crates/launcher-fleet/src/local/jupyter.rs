//! JupyterLab behind the sidecar.

use std::ffi::OsString;
use std::path::Path;

use super::command::Order;

/// What to do when JupyterLab is not there.
pub(super) const REMEDY: &str = "Start the launcher with `make run`, which installs JupyterLab, or set SERVICE_LOCAL_JUPYTER to the program jupyter-lab.";

/// Where the app listens is not the template's to say: its images listen on every address and on a fixed port.
const OURS: [&str; 7] = [
    "--ip",
    "--port",
    "--port-retries",
    "--ServerApp.ip",
    "--ServerApp.port",
    "--ServerApp.port_retries",
    "--ServerApp.local_hostnames",
];

/// Other spellings of the presets that a template may replace.
const ALIASES: [(&str, &str); 5] = [
    ("--notebook-dir", "--ServerApp.root_dir"),
    ("--ServerApp.notebook_dir", "--ServerApp.root_dir"),
    ("--allow-root", "--ServerApp.allow_root"),
    ("--no-browser", "--ServerApp.open_browser"),
    ("--ServerApp.token", "--IdentityProvider.token"),
];

/// The arguments: the presets, less those that the template's arguments replace, and the template's.
///
/// The sidecar is the only guard, so there is no token and no password. Jupyter goes on comparing `Host` with the names
/// it is told, which keeps out a foreign page that was given this machine's address.
pub(super) fn arguments(order: &Order<'_>, args: &[String]) -> Vec<String> {
    let host = format!("{}.{}", order.name, order.settings.workshop_domain);
    let presets = [
        "--ServerApp.open_browser=False".to_owned(),
        "--ServerApp.ip=127.0.0.1".to_owned(),
        format!("--ServerApp.port={}", order.port),
        "--ServerApp.port_retries=0".to_owned(),
        "--IdentityProvider.token=".to_owned(),
        "--PasswordIdentityProvider.hashed_password=".to_owned(),
        format!("--ServerApp.local_hostnames={host}"),
        format!("--ServerApp.root_dir={}", order.layout.working(order.name).display()),
        "--ServerApp.allow_root=True".to_owned(),
    ];
    let theirs: Vec<&String> = args.iter().filter(|argument| !OURS.contains(&key(argument))).collect();
    let replaced: Vec<&str> = theirs.iter().map(|argument| full(key(argument))).collect();
    let kept = presets.iter().filter(|preset| !replaced.contains(&key(preset)));
    kept.chain(theirs).cloned().collect()
}

/// Directories of its own: neither the settings nor the running servers of the user's other Jupyter are touched.
pub(super) fn environment(app: &Path) -> [(OsString, OsString); 4] {
    [
        ("JUPYTER_CONFIG_DIR", "config"),
        ("JUPYTER_DATA_DIR", "data"),
        ("JUPYTER_RUNTIME_DIR", "run"),
        ("IPYTHONDIR", "ipython"),
    ]
    .map(|(name, directory)| (name.into(), app.join(directory).into()))
}

fn key(argument: &str) -> &str {
    argument.split_once('=').map_or(argument, |(key, _)| key)
}

fn full(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, full)| full)
}
