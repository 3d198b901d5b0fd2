//! What a local fleet is told, and why it does not open.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use launcher_domain::identity::TrustedHeader;
use launcher_domain::proof::ProxySecret;

/// What a local fleet is told.
#[derive(Debug, Clone)]
pub struct LocalSettings {
    /// Holds `fleet/` (state and logs) and `workshops/{k8s_name}/` (the working directories, removed with their
    /// Workshop).
    pub data_dir: PathBuf,
    /// Where the launcher is reached, as in `http://localhost:8000`: its scheme and port are the workshops' too.
    pub public_origin: http::Uri,
    /// A workshop's host is `{k8s_name}.{workshop_domain}`. Browsers take every name below `localhost` to this machine.
    pub workshop_domain: String,
    /// JupyterLab: a program that is looked up in PATH, or a path.
    pub jupyter: PathBuf,
    /// RStudio Server: a program that is looked up in PATH, or a path.
    pub rstudio: PathBuf,
    /// The program that becomes a Workshop's keeper: it calls [`keeper::run`](crate::keeper::run) when its first argument
    /// is [`keeper::COMMAND`](crate::keeper::COMMAND).
    pub keeper: PathBuf,
    /// How long an app may take until it answers.
    pub start_timeout: Duration,
    /// How long processes may take to end by themselves once they were asked to.
    pub stop_grace: Duration,
    /// The header that carries the caller's e-mail address.
    pub trusted_header: TrustedHeader,
    /// The proxy secret; with one, an identity without it counts as forged.
    pub proxy_secret: Option<ProxySecret>,
    /// Whether anybody but the owner is kept out.
    pub require_authentication: bool,
    /// The start of the names of the login proxy's cookies, which no app sees.
    pub session_cookie_prefix: String,
}

impl LocalSettings {
    /// Where the owner reaches the workshop with this name.
    pub(super) fn url(&self, name: &str) -> String {
        let scheme = self.public_origin.scheme_str().unwrap_or("http");
        match self.public_origin.port_u16() {
            Some(port) => format!("{scheme}://{name}.{}:{port}/", self.workshop_domain),
            None => format!("{scheme}://{name}.{}/", self.workshop_domain),
        }
    }

    /// The value of `Host` in requests to the workshop with this name.
    pub(super) fn host(&self, name: &str) -> String {
        match self.public_origin.port_u16() {
            Some(port) => format!("{name}.{}:{port}", self.workshop_domain),
            None => format!("{name}.{}", self.workshop_domain),
        }
    }

    /// The same with paths that do not depend on the current directory: programs start in directories of their own.
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

/// Why a local fleet does not open.
#[derive(Debug, thiserror::Error)]
pub enum LocalFleetError {
    /// Another launcher works on the same data directory.
    #[error("another launcher uses {0}: stop it, or give this one a data directory of its own (SERVICE_DATA_DIR)")]
    Locked(PathBuf),
    /// A file or directory of the fleet cannot be used.
    #[error("the local fleet cannot use {path}: {source}; make it readable and writable for this user")]
    Directory {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The public address has no scheme or no host.
    #[error("the public address {0} is not one that a browser can open: write it as in http://localhost:8000")]
    PublicOrigin(http::Uri),
}
