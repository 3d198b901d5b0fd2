//! State shared by all handlers.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use axum::extract::FromRef;
use launcher_service::Launcher;

use crate::admission::{Admission, Streams};
use crate::compression::SharedText;
use crate::identity::UnprovenLog;
use crate::settings::{ApiProcess, ApiSettings};

/// The OpenAPI document. The first request for it builds it.
type OpenApiDocument = LazyLock<SharedText, Box<dyn FnOnce() -> SharedText + Send>>;

/// State that all handlers share. Every layer clones it for each request, which copies one pointer.
#[derive(Debug, Clone)]
pub(crate) struct AppState(Arc<SharedState>);

/// The shared data of an [`AppState`].
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) launcher: Launcher,
    pub(crate) settings: Arc<ApiSettings>,
    pub(crate) process: Arc<ApiProcess>,
    pub(crate) openapi: OpenApiDocument,
    /// Counts of the open event streams.
    pub(crate) streams: Streams,
    /// Counts of the in-flight requests, and of the bytes that they hold.
    pub(crate) admission: Admission,
    /// Count of the requests that were refused because the proxy secret was missing or wrong.
    pub(crate) unproven: UnprovenLog,
}

impl Deref for AppState {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.0
    }
}

impl AppState {
    /// Creates the state, with all counts at zero. `openapi` renders the OpenAPI document.
    pub(crate) fn new(
        launcher: Launcher,
        settings: ApiSettings,
        process: ApiProcess,
        openapi: impl FnOnce() -> SharedText + Send + 'static,
    ) -> Self {
        let streams = Streams::new(process.metrics.streams.clone());
        Self(Arc::new(SharedState {
            launcher,
            settings: Arc::new(settings),
            process: Arc::new(process),
            openapi: LazyLock::new(Box::new(openapi)),
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

impl FromRef<AppState> for Arc<ApiSettings> {
    fn from_ref(state: &AppState) -> Self {
        Self::clone(&state.settings)
    }
}

impl FromRef<AppState> for Arc<ApiProcess> {
    fn from_ref(state: &AppState) -> Self {
        Self::clone(&state.process)
    }
}

impl FromRef<AppState> for Admission {
    fn from_ref(state: &AppState) -> Self {
        state.admission.clone()
    }
}

impl FromRef<AppState> for UnprovenLog {
    fn from_ref(state: &AppState) -> Self {
        state.unproven.clone()
    }
}
