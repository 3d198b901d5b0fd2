//! State shared by all handlers.

use std::borrow::Borrow;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use axum::extract::FromRequestParts;
use http::request::Parts;
use launcher_domain::Caller;
use launcher_service::Launcher;

use crate::admission::{Admission, Streams};
use crate::brand::Brand;
use crate::compression::SharedText;
use crate::identity::{Identity, UnprovenLog};
use crate::problem::Problem;
use crate::settings::{ApiProcess, ApiSettings};

/// The OpenAPI document. The first request for it builds it.
type OpenApiDocument = LazyLock<SharedText, Box<dyn FnOnce() -> SharedText + Send>>;

/// State that all handlers share. Every layer clones it for each request, which copies one pointer.
#[derive(Debug, Clone)]
pub(crate) struct AppState(Arc<SharedState>);

#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) launcher: Launcher,
    pub(crate) settings: Arc<ApiSettings>,
    pub(crate) process: Arc<ApiProcess>,
    pub(crate) brand: Arc<Brand>,
    pub(crate) openapi: OpenApiDocument,
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
            brand: Arc::new(Brand::new(&settings.brand)),
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

/// A request with its caller, and the state that it works with.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) state: AppState,
    pub(crate) caller: Caller,
}

impl Deref for Call {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.state
    }
}

impl Borrow<Caller> for Call {
    fn borrow(&self) -> &Caller {
        &self.caller
    }
}

impl FromRequestParts<AppState> for Call {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Identity { caller, .. } = Identity::from_request_parts(parts, state).await?;
        Ok(Self { state: state.clone(), caller })
    }
}
