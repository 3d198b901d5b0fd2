//! What every handler has at hand.

use std::sync::Arc;

use launcher_service::Launcher;

use crate::settings::ApiSettings;

/// What every handler has at hand. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct AppState {
    /// The use cases.
    pub(crate) launcher: Launcher,
    /// The deployment.
    pub(crate) settings: Arc<ApiSettings>,
}

impl AppState {
    /// An absolute path below the base path; `path` starts with a slash.
    pub(crate) fn api_path(&self, path: &str) -> String {
        format!("{}{path}", self.settings.base_path)
    }
}
