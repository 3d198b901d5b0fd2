//! What every handler has at hand.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use launcher_service::Launcher;

use crate::admission::Admission;
use crate::identity::UnprovenLog;
use crate::settings::ApiSettings;
use crate::streams::Streams;

/// What every handler has at hand. Each layer of each request clones it: it is one pointer.
#[derive(Debug, Clone)]
pub(crate) struct AppState(Arc<AtHand>);

/// What an [`AppState`] points to.
#[derive(Debug)]
pub(crate) struct AtHand {
    /// The use cases.
    pub(crate) launcher: Launcher,
    /// The deployment.
    pub(crate) settings: ApiSettings,
    /// The OpenAPI document, once somebody has asked for it.
    pub(crate) openapi: OnceLock<Bytes>,
    /// The event streams that are open.
    pub(crate) streams: Streams,
    /// Requests and bytes in flight.
    pub(crate) admission: Admission,
    /// Requests that were refused for want of the proxy secret.
    pub(crate) unproven: UnprovenLog,
}

impl Deref for AppState {
    type Target = AtHand;

    fn deref(&self) -> &AtHand {
        &self.0
    }
}

impl AppState {
    /// Nothing asked for, no stream open.
    pub(crate) fn new(launcher: Launcher, settings: ApiSettings) -> Self {
        let streams = Streams::new(settings.metrics.streams.clone());
        Self(Arc::new(AtHand {
            launcher,
            settings,
            openapi: OnceLock::new(),
            streams,
            admission: Admission::default(),
            unproven: UnprovenLog::default(),
        }))
    }

    /// An absolute path below the base path; `path` starts with a slash.
    pub(crate) fn api_path(&self, path: &str) -> String {
        format!("{}{path}", self.settings.base_path)
    }
}
