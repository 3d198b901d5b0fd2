//! Warnings at the start: settings that are valid but risky or without effect.

use launcher_process::settings::unknown_names;

use crate::cli::Cli;
use crate::settings::ServeSettings;

/// Warning that the local fleet does not isolate workshops of users who do not trust each other.
pub(crate) const NOT_ISOLATED: &str = "the local fleet does not isolate users: any user who launches a workshop can \
     read all files that this OS user can read, and apps other than JupyterLab answer every user of this machine. If \
     users do not trust each other, run workshops on Kubernetes";

/// Logs the warnings about these settings.
pub(super) fn warn_about(settings: &ServeSettings) {
    for name in unknown_names::<Cli>(std::env::vars_os()) {
        tracing::warn!(%name, "ignoring unknown setting; `launcher serve --help` lists all settings");
    }
    match (settings.api.require_authentication, &settings.api.dev_identity) {
        (false, Some(email)) => tracing::warn!(
            %email,
            "AUTHENTICATION IS OFF: every request gets this identity; never in production"
        ),
        (false, None) => tracing::warn!(
            "SERVICE_REQUIRE_AUTHENTICATION is false, but SERVICE_DEV_IDENTITY is not set: requests without an \
             identity are still refused"
        ),
        (true, Some(_)) => {
            tracing::warn!("ignoring SERVICE_DEV_IDENTITY: SERVICE_REQUIRE_AUTHENTICATION is true")
        }
        (true, None) if settings.api.proxy_secret_file.is_none() => tracing::warn!(
            "SERVICE_PROXY_SECRET_FILE is not set: a client that bypasses the auth proxy can forge the identity header"
        ),
        (true, None) => {}
    }
    if settings.shares_one_user() {
        tracing::warn!("authentication is required, but {NOT_ISOLATED}");
    }
    if settings.api.admin_emails.is_empty() {
        tracing::warn!("SERVICE_ADMIN_EMAILS is empty: no user is an admin, so templates cannot be managed");
    }
}
