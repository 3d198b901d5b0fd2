//! What every handler has at hand.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use launcher_service::Launcher;

use crate::settings::ApiSettings;
use crate::streams::Streams;

/// What every handler has at hand. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct AppState {
    /// The use cases.
    pub(crate) launcher: Launcher,
    /// The deployment.
    pub(crate) settings: Arc<ApiSettings>,
    /// The OpenAPI document, once somebody has asked for it.
    pub(crate) openapi: Arc<OnceLock<Bytes>>,
    /// The event streams that are open.
    pub(crate) streams: Streams,
}

impl AppState {
    /// Nothing asked for, no stream open.
    pub(crate) fn new(launcher: Launcher, settings: ApiSettings) -> Self {
        let streams = Streams::new(settings.metrics.streams.clone());
        Self { launcher, settings: Arc::new(settings), openapi: Arc::default(), streams }
    }

    /// An absolute path below the base path; `path` starts with a slash.
    pub(crate) fn api_path(&self, path: &str) -> String {
        format!("{}{path}", self.settings.base_path)
    }
}
