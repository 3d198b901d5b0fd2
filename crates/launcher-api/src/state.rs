//! State shared by all handlers.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use launcher_service::Launcher;

use crate::admission::Admission;
use crate::identity::UnprovenLog;
use crate::settings::ApiSettings;
use crate::streams::Streams;

/// State shared by all handlers. Each layer of each request clones it, which copies one pointer.
#[derive(Debug, Clone)]
pub(crate) struct AppState(Arc<SharedState>);

/// The shared data of an [`AppState`].
#[derive(Debug)]
pub(crate) struct SharedState {
    /// The use cases.
    pub(crate) launcher: Launcher,
    /// The settings.
    pub(crate) settings: ApiSettings,
    /// The OpenAPI document, built at the first request for it.
    pub(crate) openapi: OnceLock<Bytes>,
    /// Open event streams.
    pub(crate) streams: Streams,
    /// Requests and bytes in flight.
    pub(crate) admission: Admission,
    /// Requests refused because the proxy secret was missing or wrong.
    pub(crate) unproven: UnprovenLog,
}

impl Deref for AppState {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.0
    }
}

impl AppState {
    /// Creates the state, with all counters at zero.
    pub(crate) fn new(launcher: Launcher, settings: ApiSettings) -> Self {
        let streams = Streams::new(settings.metrics.streams.clone());
        Self(Arc::new(SharedState {
            launcher,
            settings,
            openapi: OnceLock::new(),
            streams,
            admission: Admission::default(),
            unproven: UnprovenLog::default(),
        }))
    }

    /// Returns an absolute path below the base path; `path` starts with a slash.
    pub(crate) fn api_path(&self, path: &str) -> String {
        format!("{}{path}", self.settings.base_path)
    }
}
