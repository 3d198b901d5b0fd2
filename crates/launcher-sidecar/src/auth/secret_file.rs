//! Reads `SERVICE_PROXY_SECRET_FILE`. The file has one or two proxy secrets, one per line.

use std::path::Path;

use launcher_domain::proof::ProxySecret;
use launcher_process::follow;

/// Reads the proxy secrets from a file.
///
/// # Errors
/// Returns one line that names the setting, the file and the remedy. It never contains the file's content.
pub async fn load(path: &Path) -> Result<ProxySecret, String> {
    let named = format!("SERVICE_PROXY_SECRET_FILE {}", path.display());
    let text = follow::read(path).await.map_err(|error| {
        format!("{named} cannot be read: {error}; write the auth proxy's secret to it, or unset the setting")
    })?;
    ProxySecret::parse(&text).map_err(|error| format!("{named} has no usable secret: {error}"))
}

/// Replaces the proxy secrets whenever the file changes. Never returns.
pub async fn follow(path: &Path, secret: &ProxySecret) {
    follow::follow(path, "proxy secret", |text| secret.replace(text)).await;
}
