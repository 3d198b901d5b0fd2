//! Builds the command that starts a Workshop's app on this machine. [`launcher_workshop::app`] defines how each app
//! type starts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy, Token};
use launcher_workshop::WorkshopSpec;
use launcher_workshop::app::{self, AppSpec, Machine, Program};

use super::Workload;
use super::proxy::{LOGIN_FILE, login_file, prefer_login_file};
use crate::local::records::Record;
use crate::local::settings::LocalPrograms;

/// The launcher's environment variables that apps and the program of the course material inherit: the user and the session,
/// libraries and runtimes, certificates and proxies. All others stay with the launcher: its environment has its settings,
/// and credentials of its database, bucket and trace collector.
const INHERITED: &str = "PATH HOME USER LOGNAME SHELL TERM TMPDIR TZ LANG LANGUAGE XDG_RUNTIME_DIR XDG_DATA_DIRS \
     LD_LIBRARY_PATH VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONHOME R_HOME R_LIBS R_LIBS_SITE R_LIBS_USER JAVA_HOME \
     JUPYTER_PATH JUPYTER_CONFIG_PATH SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE HTTP_PROXY \
     HTTPS_PROXY ALL_PROXY NO_PROXY";
/// Name prefixes of further inherited variables: the locale, and the devices of GPUs.
const INHERITED_PREFIXES: [&str; 3] = ["LC_", "CUDA_", "NVIDIA_"];

pub(super) struct AppCommand {
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<OsString, OsString>,
    /// Advice for the user if the program is missing.
    pub(super) remedy: FailureRemedy,
}

pub(super) struct LaunchSpec<'a> {
    pub(super) workload: &'a Workload,
    pub(super) record: &'a Record,
    pub(super) port: u16,
    /// The token that the app must require. `None` for apps without a token; see [`accepts_token`].
    pub(super) token: Option<&'a Token>,
}

/// True if the launcher can give the app of this Workshop a token.
pub(super) fn accepts_token(spec: &WorkshopSpec) -> bool {
    spec.app_type().is_some_and(|app_type| app::accepts_token(app_type, &spec.args))
}

impl LaunchSpec<'_> {
    /// Returns the command to run, or the reason why this spec cannot run.
    pub(super) fn command(&self) -> Result<AppCommand, FailureReason> {
        let (Record { secrets, .. }, spec) = (self.record, self.spec());
        let LocalPrograms { local_jupyter, local_rstudio } = &self.workload.fleet().programs;
        let app = self.app().ok_or_else(|| {
            let app_type = format!("{:?}", spec.app_type);
            invalid(FailureDetail::AppTypeUnknown { app_type }, &FailureRemedy::ChooseAppType)
        })?;
        let machine = self.machine();
        let command = app
            .process_command(&machine)
            .ok_or_else(|| invalid(FailureDetail::CommandMissing, &FailureRemedy::AddCommand))?;
        let (program, remedy) = match command.program {
            Program::Jupyter => (local_jupyter.clone(), FailureRemedy::InstallJupyter),
            Program::Rstudio => (local_rstudio.clone(), FailureRemedy::InstallRstudio),
            Program::Named(name) => (PathBuf::from(&name), FailureRemedy::InstallProgram { program: name }),
        };
        let mut env = inherited(std::env::vars_os());
        env.extend(command.env);
        env.extend(spec.secret_env.iter().filter_map(|name| Some((name.into(), secrets.reveal(name)?.into()))));
        if self.token.is_some() {
            prefer_login_file(&machine.app_dir, &mut env);
        }
        Ok(AppCommand { program, args: command.args, env, remedy })
    }

    /// Returns the files that the app reads at its start: paths below the app's directory, and contents.
    pub(super) fn files(&self) -> Vec<(&'static str, String)> {
        if let Some(token) = self.token {
            return vec![(LOGIN_FILE, login_file(token))];
        }
        self.app().map(|app| app.process_files(&self.machine())).unwrap_or_default()
    }

    fn spec(&self) -> &WorkshopSpec {
        &self.record.workshop.spec
    }

    fn app(&self) -> Option<AppSpec<'_>> {
        AppSpec::of(self.spec(), self.port, &self.workload.settings().origins.url(self.workload.name()))
    }

    fn machine(&self) -> Machine {
        let (workload, name) = (self.workload, self.workload.name());
        Machine {
            host: format!("{name}.{}", workload.settings().origins.workshop_domain),
            user: std::env::var("USER").unwrap_or_else(|_| "root".to_owned()),
            app_dir: workload.data_dir().layout.app(name),
            working_dir: workload.working_dir(self.spec()),
        }
    }
}

fn invalid(detail: FailureDetail, remedy: &FailureRemedy) -> FailureReason {
    FailureReason::new(FailureCode::InvalidSpec, Some(detail)).with_remedy(remedy)
}

/// Returns the variables of the launcher's environment that another program inherits.
pub(crate) fn inherited(environment: impl Iterator<Item = (OsString, OsString)>) -> BTreeMap<OsString, OsString> {
    environment.filter(|(name, _)| name.to_str().is_some_and(is_inherited)).collect()
}

/// True if this variable is inherited. The names of proxies may be in lower case.
fn is_inherited(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let known = if name.ends_with("_proxy") { &upper } else { name };
    INHERITED.split(' ').any(|inherited| inherited == known)
        || INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::inherited;

    #[test]
    fn credentials_and_settings_of_the_launcher_are_not_inherited() {
        let withheld = [
            "AWS_SECRET_ACCESS_KEY",
            "DATABASE_URL",
            "KUBECONFIG",
            "NOTIFY_SOCKET",
            "OTEL_EXPORTER_OTLP_HEADERS",
            "PATH_TOKEN",
            "PGPASSWORD",
            "SERVICE_DATABASE_URL",
            "WORKSHOP_LAUNCHER_ID",
            "git_proxy",
        ];
        let passed_on = ["HOME", "HTTPS_PROXY", "LC_ALL", "PATH", "https_proxy"];
        let environment = withheld.into_iter().chain(passed_on).map(|name| (name.into(), "value".into()));
        let kept: Vec<_> = inherited(environment).into_keys().collect();
        assert_eq!(kept, passed_on);
    }
}
