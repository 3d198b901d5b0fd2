//! Program, arguments, environment and files of an app that runs as a process and not in a container: JupyterLab behind
//! the sidecar, RStudio Server for one user, and other programs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use launcher_domain::AppType;

use crate::app::spec::AppSpec;

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

/// The program on the machine that runs in place of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    Jupyter,
    Rstudio,
    /// The program that the template's command names in its first word.
    Named(String),
}

/// The command that starts an app as a process, in the directory [`Machine::working_dir`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessCommand {
    pub program: Program,
    pub args: Vec<String>,
    /// Environment variables to set in addition to the inherited variables.
    pub env: BTreeMap<OsString, OsString>,
}

impl AppSpec<'_> {
    /// Returns the command, or `None` for a `custom` app without a command.
    ///
    /// A `custom` app runs the template's command. For `notebook` and `rstudio`, the machine's programs replace the
    /// image. The template's command is for the image, so it is ignored.
    #[must_use]
    pub fn process_command(&self, machine: &Machine) -> Option<ProcessCommand> {
        let template_args = self.expand_all(&self.spec.args);
        let (program, args, mut env) = match self.app_type {
            AppType::Custom => {
                let mut command = self.expand_all(&self.spec.command).into_iter();
                let program = Program::Named(command.next()?);
                (program, command.chain(template_args).collect(), BTreeMap::new())
            }
            AppType::Notebook => {
                let args = jupyter_arguments(self.port, machine, &template_args);
                (Program::Jupyter, args, jupyter_environment(&machine.app_dir).into())
            }
            AppType::Rstudio => {
                let args = rstudio_arguments(self.port, machine, template_args);
                // RStudio Server writes its internal files only below the app's directory.
                (Program::Rstudio, args, [("XDG_DATA_HOME".into(), machine.app_dir.join("data").into())].into())
            }
        };
        env.extend(self.environment().into_iter().map(|(name, value)| (name.into(), value.into())));
        Some(ProcessCommand { program, args, env })
    }

    /// Returns the files that the app reads at its start: paths below [`Machine::app_dir`], and contents.
    #[must_use]
    pub fn process_files(&self, machine: &Machine) -> Vec<(&'static str, String)> {
        match self.app_type {
            AppType::Rstudio => rstudio_files(machine).into(),
            AppType::Notebook | AppType::Custom => Vec::new(),
        }
    }
}

/// Options for address, port and host name, which are removed from the template's arguments. A template sets them for a
/// container. A process must listen on the loopback address, and on the port that the local fleet allocated.
const JUPYTER_RESERVED_OPTIONS: [&str; 7] = [
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
const JUPYTER_ALIASES: [(&str, &str); 4] = [
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
fn jupyter_arguments(port: u16, machine: &Machine, template_args: &[String]) -> Vec<String> {
    let template_args = with_values(template_args);
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
    let is_allowed =
        |argument: &&String| !JUPYTER_RESERVED_OPTIONS.contains(&option_name(argument)) && !is_empty_token(argument);
    let allowed: Vec<&String> = template_args.iter().filter(is_allowed).collect();
    let overridden: Vec<&str> = allowed.iter().map(|argument| full_option_name(option_name(argument))).collect();
    let kept = presets.iter().filter(|preset| !overridden.contains(&option_name(preset)));
    kept.chain(allowed).cloned().collect()
}

/// Returns variables that give this JupyterLab separate directories. It must not use the configuration and the running
/// servers of the user's other Jupyter.
fn jupyter_environment(app_dir: &Path) -> [(OsString, OsString); 4] {
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
    let sets_token = |argument: &String| TOKEN_OPTIONS.contains(&option_name(argument)) && !is_empty_token(argument);
    app_type == AppType::Notebook && !with_values(args).iter().any(sets_token)
}

/// Returns the arguments with each reserved option and each token in one word with its value. Jupyter also accepts the value
/// as the next word.
fn with_values(args: &[String]) -> Vec<String> {
    let takes_value =
        |last: &String| JUPYTER_RESERVED_OPTIONS.contains(&last.as_str()) || TOKEN_OPTIONS.contains(&last.as_str());
    let mut joined: Vec<String> = Vec::new();
    for word in args {
        let is_value = !word.starts_with('-') && joined.last().is_some_and(takes_value);
        match joined.last_mut() {
            Some(option) if is_value => *option = format!("{option}={word}"),
            _ => joined.push(word.clone()),
        }
    }
    joined
}

fn is_empty_token(argument: &str) -> bool {
    TOKEN_OPTIONS.contains(&option_name(argument))
        && argument.split_once('=').is_some_and(|(_, value)| value.is_empty())
}

fn option_name(argument: &str) -> &str {
    argument.split_once('=').map_or(argument, |(key, _)| key)
}

fn full_option_name(key: &str) -> &str {
    JUPYTER_ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, full)| full)
}

const DATABASE_CONFIG: &str = "database.conf";
const SESSION_CONFIG: &str = "rsession.conf";
/// Option for the pages that may show RStudio in a frame. Without it, `rserver` forbids every frame, also the one of the
/// frame page. `same` permits pages of its own origin.
const RSTUDIO_FRAMES: &str = "--www-frame-origin";

fn rstudio_arguments(port: u16, machine: &Machine, template_args: Vec<String>) -> Vec<String> {
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
    let is_set =
        template_args.iter().any(|word| word == RSTUDIO_FRAMES || word.starts_with(&format!("{RSTUDIO_FRAMES}=")));
    let frames = (!is_set).then(|| format!("{RSTUDIO_FRAMES}=same"));
    preset.into_iter().chain(frames).chain(template_args).collect()
}

/// Returns the configuration files: paths below the app's directory, and contents.
fn rstudio_files(machine: &Machine) -> [(&'static str, String); 2] {
    let database = machine.app_dir.join("database");
    let working = &machine.working_dir;
    [
        (DATABASE_CONFIG, format!("provider=sqlite\ndirectory={}\n", database.display())),
        (SESSION_CONFIG, format!("session-default-working-dir={}\n", working.display())),
    ]
}
