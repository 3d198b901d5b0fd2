//! The program, arguments and environment of a Workshop's app.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use launcher_domain::{AppType, FailureCode, FailureReason};
use launcher_workshop::{WorkshopSpec, with_port};

use super::layout::Layout;
use super::login::Token;
use super::settings::LocalSettings;
use super::{jupyter, process};

/// Variables of the launcher that no workshop gets: its settings, which hold secrets, and variables that the service
/// manager set for the launcher.
const WITHHELD: [&str; 10] = [
    "SERVICE_",
    // Includes the credentials for a trace collector.
    "OTEL_",
    "CREDENTIALS_DIRECTORY",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LISTEN_",
    "NOTIFY_SOCKET",
    "WATCHDOG_",
    process::MARKER,
    process::KEEPER_MARKER,
];

/// The command to run.
#[derive(Debug)]
pub(super) struct AppCommand {
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<OsString, OsString>,
    /// Marker of its processes.
    pub(super) marker: String,
    /// Remedy for a missing program.
    pub(super) remedy: String,
}

/// One Workshop that is to run on a port.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchSpec<'a> {
    pub(super) settings: &'a LocalSettings,
    pub(super) layout: &'a Layout,
    pub(super) name: &'a str,
    pub(super) spec: &'a WorkshopSpec,
    pub(super) marker: &'a str,
    pub(super) port: u16,
    /// The token that the app requires; see [`accepts_token`].
    pub(super) token: Option<&'a Token>,
}

/// True if the app of a Workshop accepts a token. RStudio Server does not, and a `custom` app is unknown.
pub(super) fn accepts_token(spec: &WorkshopSpec) -> bool {
    spec.app_type() == Some(AppType::Notebook) && jupyter::may_set_token(&spec.args)
}

impl LaunchSpec<'_> {
    /// Returns the command to run, or the reason why there is none.
    ///
    /// A `custom` Workshop runs its command. For `notebook` and `rstudio`, JupyterLab and RStudio Server of this
    /// machine replace the image, so a command that replaces the image's entry point is not run either.
    pub(super) fn command(&self) -> Result<AppCommand, FailureReason> {
        let words = |words: &[String]| with_port(words, self.port);
        let app = self.spec.app_type().ok_or_else(|| {
            invalid(
                &format!("The kind of app {:?} is not known.", self.spec.app_type),
                "Choose rstudio, notebook or custom.",
            )
        })?;
        let mut env = inherited(std::env::vars_os());
        let (program, args, remedy) = match app {
            AppType::Custom => {
                let mut command = words(&self.spec.command).into_iter();
                let program = command.next().ok_or_else(|| {
                    invalid("It has no command.", "Give the template a command: its image is not run on this machine.")
                })?;
                let remedy =
                    format!("Install the program {program} on this machine, or correct the template's command.");
                (PathBuf::from(program), command.chain(words(&self.spec.args)).collect(), remedy)
            }
            AppType::Notebook => {
                env.extend(jupyter::environment(&self.layout.app(self.name)));
                let args = jupyter::arguments(self, &words(&self.spec.args));
                (self.settings.jupyter.clone(), args, jupyter::REMEDY.to_owned())
            }
            AppType::Rstudio => {
                env.insert("XDG_DATA_HOME".into(), self.layout.app(self.name).join("data").into());
                let args = self.rstudio(words(&self.spec.args));
                (self.settings.rstudio.clone(), args, RSTUDIO_REMEDY.to_owned())
            }
        };
        env.extend(self.variables().into_iter().map(|(name, value)| (name.into(), value.into())));
        env.insert("DISABLE_AUTH".into(), "true".into());
        if self.token.is_some() {
            jupyter::prefer_login_file(&self.layout.app(self.name), &mut env);
        }
        Ok(AppCommand { program, args, env, marker: self.marker.to_owned(), remedy })
    }

    /// The template's variables, unexpanded, and PORT.
    fn variables(&self) -> BTreeMap<String, String> {
        let mut variables = self.spec.env.clone();
        variables.insert("PORT".to_owned(), self.port.to_string());
        variables
    }

    /// The arguments of RStudio Server for one user: all its own files are below the Workshop's directory.
    fn rstudio(&self, args: Vec<String>) -> Vec<String> {
        let app = self.layout.app(self.name);
        let preset = [
            format!("--www-port={}", self.port),
            "--www-address=127.0.0.1".to_owned(),
            "--auth-none=1".to_owned(),
            "--server-daemonize=0".to_owned(),
            format!("--server-user={}", std::env::var("USER").unwrap_or_else(|_| "root".to_owned())),
            format!("--server-data-dir={}", app.join("run").display()),
            format!("--database-config-file={}", app.join("database.conf").display()),
            format!("--secure-cookie-key-file={}", app.join("secure-cookie-key").display()),
            format!("--rsession-config-file={}", app.join("rsession.conf").display()),
        ];
        preset.into_iter().chain(args).collect()
    }

    /// Files that the app reads at its start, by their names below the Workshop's own directory.
    pub(super) fn files(&self) -> Vec<(&'static str, String)> {
        if let Some(token) = self.token {
            return vec![(jupyter::LOGIN_FILE, jupyter::login_file(token))];
        }
        if self.spec.app_type() != Some(AppType::Rstudio) {
            return Vec::new();
        }
        let database = self.layout.app(self.name).join("database");
        let working = self.layout.working(self.name);
        vec![
            ("database.conf", format!("provider=sqlite\ndirectory={}\n", database.display())),
            ("rsession.conf", format!("session-default-working-dir={}\n", working.display())),
        ]
    }
}

pub(super) const RSTUDIO_REMEDY: &str =
    "Install RStudio Server on this machine, or set SERVICE_LOCAL_RSTUDIO to where its program rserver is.";

fn invalid(detail: &str, remedy: &str) -> FailureReason {
    FailureReason::new(FailureCode::InvalidSpec, Some(detail)).with_remedy(remedy)
}

pub(super) fn inherited(environment: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<OsString, OsString> {
    environment.filter(|(name, _)| !is_withheld(name)).collect()
}

fn is_withheld(name: &OsStr) -> bool {
    WITHHELD.iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::inherited;

    #[test]
    fn launcher_settings_are_not_inherited_by_apps() {
        let withheld = ["SERVICE_DATABASE_URL", "OTEL_EXPORTER_OTLP_HEADERS", "WORKSHOP_LAUNCHER_ID", "NOTIFY_SOCKET"];
        let passed_on = ["HOME", "MY_SERVICE_X", "PATH"];
        let environment = withheld.into_iter().chain(passed_on).map(|name| (name.into(), "value".into()));
        let kept: Vec<_> = inherited(environment).into_keys().collect();
        assert_eq!(kept, passed_on);
    }
}
