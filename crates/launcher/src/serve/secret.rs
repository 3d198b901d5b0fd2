//! The proxy secret of `launcher serve`: read at the start, then reloaded when its file changes.

use std::io;
use std::path::{Path, PathBuf};

use launcher_domain::ProxySecret;
use launcher_domain::identity::ProxySecretError;
use launcher_process::follow;

/// Reasons why the proxy secret file cannot be used. The message never quotes the content of the file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretFileError {
    #[error(
        "SERVICE_PROXY_SECRET_FILE: {path} cannot be read: {error}; write one secret per line into it, for example the \
         output of `openssl rand -hex 32`, and let this user read it"
    )]
    Read { path: PathBuf, error: io::Error },
    #[error("SERVICE_PROXY_SECRET_FILE: {path} cannot be used: {error}")]
    Invalid { path: PathBuf, error: ProxySecretError },
}

/// Reads the proxy secret. Returns `None` if no file is configured.
pub(crate) async fn read(path: Option<&Path>) -> Result<Option<ProxySecret>, SecretFileError> {
    let Some(path) = path else { return Ok(None) };
    let text = follow::read(path).await.map_err(|error| SecretFileError::Read { path: path.to_owned(), error })?;
    let secret =
        ProxySecret::parse(&text).map_err(|error| SecretFileError::Invalid { path: path.to_owned(), error })?;
    Ok(Some(secret))
}

/// Replaces the proxy secret whenever its file changes. Never returns.
pub(super) async fn reload_on_change(path: Option<PathBuf>, secret: Option<ProxySecret>) {
    match (path, secret) {
        (Some(path), Some(secret)) => {
            follow::follow(&path, "proxy secret", |text| secret.replace(text)).await;
        }
        _ => std::future::pending().await,
    }
}
