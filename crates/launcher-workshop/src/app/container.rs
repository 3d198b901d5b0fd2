//! Command and arguments of an app in a container. Presets adapt stock images to the sidecar: they disable the login,
//! set the port, and set the loopback address if the image supports it. The template's command and arguments override
//! the presets.

use launcher_domain::AppType;

use super::spec::AppSpec;

/// Names of the stock RStudio images of the Rocker project, without `rocker/`.
const ROCKER: [&str; 4] = ["rstudio", "tidyverse", "verse", "geospatial"];
/// Script that makes a Rocker image listen on the loopback address only, and permit frames of its own origin for the
/// frame page. It adds both settings to `disable_auth_rserver.conf`, unless an earlier start of the container has added
/// them. If `DISABLE_AUTH` is true, the image's `/init` uses this file as the configuration of `rserver`. `/init` starts
/// `rserver` without arguments, so only the file can set them.
const ROCKER_ON_LOOPBACK: &str = "conf=/etc/rstudio/disable_auth_rserver.conf; \
    for line in www-address=127.0.0.1 www-frame-origin=same; do \
    if [ -w \"$conf\" ] && ! grep -qxF \"$line\" \"$conf\"; then echo \"$line\" >>\"$conf\"; fi; done; exec /init";

/// Command and arguments of a container. The container keeps the working directory of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerCommand {
    /// Replaces the image's entry point when not empty.
    pub command: Vec<String>,
    /// Replaces the image's arguments when not empty.
    pub args: Vec<String>,
}

impl AppSpec<'_> {
    /// Returns command and arguments for the app's image.
    #[must_use]
    pub fn container_command(&self) -> ContainerCommand {
        ContainerCommand {
            command: self.expand_all(&self.container_entry_point()),
            args: self.expand_all(&self.container_args()),
        }
    }

    /// Returns the template's command, or [`ROCKER_ON_LOOPBACK`] for a stock RStudio image without overrides. An empty
    /// result means the image's entry point.
    fn container_entry_point(&self) -> Vec<String> {
        let is_stock = self.app_type == AppType::Rstudio
            && self.spec.command.is_empty()
            && self.spec.args.is_empty()
            && ROCKER.iter().any(|name| is_repository(&self.spec.image, &format!("rocker/{name}")));
        if is_stock {
            ["/bin/sh", "-c", ROCKER_ON_LOOPBACK].map(str::to_owned).into()
        } else {
            self.spec.command.clone()
        }
    }

    /// Returns the template's arguments, or the preset of the app type if the template has none.
    fn container_args(&self) -> Vec<String> {
        if !self.spec.args.is_empty() {
            return self.spec.args.clone();
        }
        match self.app_type {
            // Stock RStudio images need no arguments: DISABLE_AUTH disables their login, and they listen on the default
            // port 8787.
            AppType::Rstudio => Vec::new(),
            AppType::Notebook => self.notebook_args(),
            // The entry point of Coder's image passes its arguments to code-server.
            AppType::Custom if is_repository(&self.spec.image, "codercom/code-server") => self.code_server_args(),
            AppType::Custom => Vec::new(),
        }
    }

    /// Returns the preset of a notebook. The first argument of Jupyter's stock images is the program
    /// `start-notebook.py`. If the template has a command, the preset has only the options, because `jupyter lab` and
    /// similar programs accept the same options.
    fn notebook_args(&self) -> Vec<String> {
        let program = self.spec.command.is_empty().then(|| "start-notebook.py".to_owned());
        let options = [
            "--ServerApp.ip=127.0.0.1".to_owned(),
            format!("--ServerApp.port={}", self.port),
            "--ServerApp.port_retries=0".to_owned(),
            "--ServerApp.open_browser=False".to_owned(),
            "--ServerApp.allow_remote_access=True".to_owned(),
            format!("--ServerApp.allow_origin={}", self.origin),
            "--IdentityProvider.token=".to_owned(),
            "--ServerApp.password=".to_owned(),
        ];
        program.into_iter().chain(options).collect()
    }

    fn code_server_args(&self) -> Vec<String> {
        vec![
            format!("--bind-addr=127.0.0.1:{}", self.port),
            "--auth=none".to_owned(),
            "--disable-telemetry".to_owned(),
            "--disable-update-check".to_owned(),
            // The files of a workshop are its owner's: the question whether to trust them only delays the start.
            "--disable-workspace-trust".to_owned(),
        ]
    }
}

/// True if the image belongs to this repository. Registry, tag and digest do not count.
fn is_repository(image: &str, wanted: &str) -> bool {
    let without_digest = image.split('@').next().unwrap_or_default();
    let repository = match without_digest.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => without_digest,
    };
    repository.strip_suffix(wanted).is_some_and(|registry| registry.is_empty() || registry.ends_with('/'))
}
