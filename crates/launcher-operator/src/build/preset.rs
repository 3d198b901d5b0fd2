//! Presets that run unmodified stock images with the sidecar: no login, the requested port, and the loopback address
//! where the image supports it. The template's own command and arguments take precedence.

use launcher_domain::AppType;

use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// Rocker's stock RStudio images, by the last part of their names.
const ROCKER: [&str; 4] = ["rstudio", "tidyverse", "verse", "geospatial"];
/// Sets the listen address. If DISABLE_AUTH is true, the image's `/init` copies this file over the server's
/// configuration and starts `rserver` without arguments, so only the file can set the address.
const ROCKER_ON_LOOPBACK: &str = "conf=/etc/rstudio/disable_auth_rserver.conf; \
    if [ -w \"$conf\" ]; then echo www-address=127.0.0.1 >>\"$conf\"; fi; exec /init";

/// The command of the app: the template's, the image's own (empty), or the script that makes a stock RStudio image
/// listen on the loopback address.
pub(super) fn command(workshop: &Validated) -> Vec<String> {
    let is_stock = workshop.app_type == AppType::Rstudio
        && workshop.command.is_empty()
        && workshop.args.is_empty()
        && ROCKER.iter().any(|name| is_repository(&workshop.image, &format!("rocker/{name}")));
    if is_stock { ["/bin/sh", "-c", ROCKER_ON_LOOPBACK].map(str::to_owned).into() } else { workshop.command.clone() }
}

/// The arguments of the app: the template's, or the preset of its app type.
pub(super) fn args(workshop: &Validated, settings: &OperatorSettings) -> Vec<String> {
    if !workshop.args.is_empty() {
        return workshop.args.clone();
    }
    match workshop.app_type {
        // DISABLE_AUTH configures stock RStudio images, and they listen on 8787 by default.
        AppType::Rstudio => Vec::new(),
        AppType::Notebook => notebook(workshop, settings),
        AppType::Custom if is_code_server(&workshop.image) => code_server(workshop),
        AppType::Custom => Vec::new(),
    }
}

/// Jupyter's stock images take `start-notebook.py` as their first argument. If the template has a command, only the
/// options are added: `jupyter lab` and similar programs accept the same ones.
fn notebook(workshop: &Validated, settings: &OperatorSettings) -> Vec<String> {
    let program = workshop.command.is_empty().then(|| "start-notebook.py".to_owned());
    let options = [
        "--ServerApp.ip=127.0.0.1".to_owned(),
        format!("--ServerApp.port={}", workshop.port),
        "--ServerApp.port_retries=0".to_owned(),
        "--ServerApp.open_browser=False".to_owned(),
        "--ServerApp.allow_remote_access=True".to_owned(),
        format!("--ServerApp.allow_origin={}", settings.origin(&workshop.name)),
        "--IdentityProvider.token=".to_owned(),
        "--ServerApp.password=".to_owned(),
    ];
    program.into_iter().chain(options).collect()
}

/// True for Coder's own image, whose entry point takes options of code-server.
fn is_code_server(image: &str) -> bool {
    is_repository(image, "codercom/code-server")
}

/// True if the image is of this repository; registry, tag and digest are ignored.
fn is_repository(image: &str, wanted: &str) -> bool {
    let without_digest = image.split('@').next().unwrap_or_default();
    let repository = match without_digest.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => without_digest,
    };
    repository.strip_suffix(wanted).is_some_and(|registry| registry.is_empty() || registry.ends_with('/'))
}

fn code_server(workshop: &Validated) -> Vec<String> {
    vec![
        format!("--bind-addr=127.0.0.1:{}", workshop.port),
        "--auth=none".to_owned(),
        "--disable-telemetry".to_owned(),
        "--disable-update-check".to_owned(),
    ]
}
