//! Settings of a local fleet, and the errors of opening it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::uri::Authority;
use launcher_domain::frame_path::frame_url;
use launcher_domain::identity::TrustedHeader;
use launcher_domain::proof::ProxySecret;
use launcher_sidecar::frame::WorkshopPage;

/// Settings of a local fleet.
#[derive(Debug, Clone)]
pub struct LocalSettings {
    /// The data directory. It contains `fleet/` (state and logs), and `workshops/{k8s_name}/` (the working directories,
    /// which are removed with their Workshops).
    pub data_dir: PathBuf,
    /// The launcher's public origin, for example `http://localhost:8000`. Workshops have the same scheme and port.
    pub public_origin: http::Uri,
    /// Parent domain of the workshops' hosts, which are `{k8s_name}.{workshop_domain}`. With `localhost` no DNS is
    /// needed: browsers resolve every name below it to this machine.
    pub workshop_domain: String,
    /// JupyterLab: a program name to look up in PATH, or a path.
    pub jupyter: PathBuf,
    /// RStudio Server: a program name to look up in PATH, or a path.
    pub rstudio: PathBuf,
    /// The program that runs as keeper. It must call [`keeper::run`](crate::keeper::run) if its first argument is
    /// [`keeper::COMMAND`](crate::keeper::COMMAND).
    pub keeper: PathBuf,
    /// Maximum time from the start of an app until it answers.
    pub start_timeout: Duration,
    /// Grace period of processes between SIGTERM and SIGKILL.
    pub stop_grace: Duration,
    /// The header with the caller's e-mail address.
    pub trusted_header: TrustedHeader,
    /// The proxy secret. If set, an identity without it counts as forged.
    pub proxy_secret: Option<ProxySecret>,
    /// True if only the owner of a workshop has access to it. False gives access to every request.
    pub require_authentication: bool,
    /// Name prefix of the auth proxy's cookies. The sidecar removes these cookies from requests to apps.
    pub session_cookie_prefix: String,
}

impl LocalSettings {
    /// Returns the URL of the workshop with this name.
    pub(super) fn url(&self, name: &str) -> String {
        let scheme = self.public_origin.scheme_str().unwrap_or("http");
        match self.public_origin.port_u16() {
            Some(port) => format!("{scheme}://{name}.{}:{port}/", self.workshop_domain),
            None => format!("{scheme}://{name}.{}/", self.workshop_domain),
        }
    }

    /// Returns the URL of the frame page of the workshop with this name.
    pub(super) fn frame_url(&self, name: &str) -> String {
        frame_url(&self.url(name))
    }

    /// Returns the launcher's URL.
    pub(super) fn launcher_url(&self) -> String {
        let scheme = self.public_origin.scheme_str().unwrap_or("http");
        format!("{scheme}://{}/", self.public_origin.authority().map_or("localhost", Authority::as_str))
    }

    /// Returns the launcher's page of the workshop with this name. `None` if the public origin has an unusual form.
    pub(super) fn workshop_page(&self, name: &str) -> Option<WorkshopPage> {
        WorkshopPage::parse(&format!("{}instances/{name}", self.launcher_url())).ok()
    }

    /// Returns the value of the `Host` header in requests to the workshop with this name.
    pub(super) fn host(&self, name: &str) -> String {
        match self.public_origin.port_u16() {
            Some(port) => format!("{name}.{}:{port}", self.workshop_domain),
            None => format!("{name}.{}", self.workshop_domain),
        }
    }

    /// Makes all paths absolute, because apps start in other working directories.
    pub(super) fn absolute(mut self) -> Result<Self, LocalFleetError> {
        if self.public_origin.scheme().is_none() || self.public_origin.host().is_none() {
            return Err(LocalFleetError::PublicOrigin(self.public_origin));
        }
        let origin_of = |path: &Path| {
            std::path::absolute(path).map_err(|source| LocalFleetError::Directory { path: path.to_owned(), source })
        };
        self.data_dir = origin_of(&self.data_dir)?;
        for program in [&mut self.jupyter, &mut self.rstudio] {
            if program.components().count() > 1 {
                *program = origin_of(program)?;
            }
        }
        Ok(self)
    }
}

/// Error of opening or examining a local fleet.
#[derive(Debug, thiserror::Error)]
pub enum LocalFleetError {
    /// Another launcher uses the same data directory.
    #[error("another launcher uses {0}: stop it, or set SERVICE_DATA_DIR to another directory")]
    Locked(PathBuf),
    /// A file or directory of the fleet is unusable.
    #[error("the local fleet cannot use {path}: {source}; make it readable and writable for this user")]
    Directory {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The public address has no scheme or no host.
    #[error("the public address {0} has no scheme or no host: write it as in http://localhost:8000")]
    PublicOrigin(http::Uri),
}
