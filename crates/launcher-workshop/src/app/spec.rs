//! The part of a Workshop that describes the app, and the app's environment.

use std::collections::BTreeMap;

use launcher_domain::AppType;

/// Environment variable that disables the login of stock RStudio images. They need no login, because the sidecar admits
/// only the owner.
const DISABLE_AUTH: &str = "DISABLE_AUTH";
/// Environment variable with the app's port.
const PORT: &str = "PORT";
/// Name prefix of the environment variables that configure launcher, operator and sidecar.
const SERVICE_PREFIX: &str = "SERVICE_";

/// The part of a Workshop that describes the app, and the port on which the app listens.
#[derive(Debug, Clone, Copy)]
pub struct AppSpec<'a> {
    /// App type.
    pub app_type: AppType,
    /// Image reference. [`AppSpec::process_command`] does not use it.
    pub image: &'a str,
    /// Port of the app: the template's port in a container, or a port that the local fleet allocates.
    pub port: u16,
    /// The template's command; empty for the default of the app type.
    pub command: &'a [String],
    /// The template's arguments; empty for the default of the app type.
    pub args: &'a [String],
    /// The template's environment.
    pub env: &'a BTreeMap<String, String>,
}

impl AppSpec<'_> {
    /// Returns the template's variables, with `PORT` and `DISABLE_AUTH`. A template cannot override these two. The
    /// values are not expanded.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let mut environment = self.env.clone();
        environment.insert(PORT.to_owned(), self.port.to_string());
        environment.insert(DISABLE_AUTH.to_owned(), "true".to_owned());
        environment
    }

    /// Replaces `$(PORT)` in a command or in arguments by the app's port.
    pub(super) fn with_port(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| word.replace("$(PORT)", &self.port.to_string())).collect()
    }
}

/// True if templates may not set this environment variable.
#[must_use]
pub fn is_reserved_variable(name: &str) -> bool {
    name == DISABLE_AUTH || name.starts_with(SERVICE_PREFIX)
}
