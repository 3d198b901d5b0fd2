//! Gives JupyterLab its token in a configuration file, because a command line is readable by other users.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::login::COOKIE_NAME;
use crate::local::records::Token;

/// Environment variable with a list of configuration directories. They take precedence over all other configuration
/// directories.
const CONFIG_PATH: &str = "JUPYTER_CONFIG_PATH";
/// Path of the configuration file with the token, below the app's directory.
pub(super) const LOGIN_FILE: &str = "login/jupyter_server_config.json";

/// Returns the content of the configuration file with the token.
pub(super) fn login_file(token: &Token) -> String {
    json!({ "IdentityProvider": { "token": token.reveal(), "cookie_name": COOKIE_NAME } }).to_string()
}

/// Puts the directory of the token's file first in [`CONFIG_PATH`], before directories from the template.
pub(super) fn prefer_login_file(app: &Path, env: &mut BTreeMap<OsString, OsString>) {
    let ours: Option<PathBuf> = app.join(LOGIN_FILE).parent().map(Path::to_owned);
    let others = env.get(&OsString::from(CONFIG_PATH)).cloned().unwrap_or_default();
    let paths = ours.into_iter().chain(std::env::split_paths(&others).filter(|path| !path.as_os_str().is_empty()));
    // Joining fails only if a path contains a colon, the separator of the list. The app then does not get the
    // launcher's token.
    if let Ok(joined) = std::env::join_paths(paths) {
        env.insert(CONFIG_PATH.into(), joined);
    }
}
