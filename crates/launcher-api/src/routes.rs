//! The routing table.

use std::sync::Arc;

use axum::Router;
use launcher_service::Launcher;

use crate::problem::{Problem, ProblemCode};
use crate::settings::ApiSettings;
use crate::state::AppState;
use crate::{middleware, pages};

/// A route as the access matrix lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The methods, without HEAD and OPTIONS.
    pub methods: &'static [&'static str],
    /// The path, with its parameters in braces.
    pub path: &'static str,
}

/// The API, the pages, and an answer for everything else.
pub fn router(launcher: Launcher, settings: ApiSettings) -> Router {
    let state = AppState { launcher, settings: Arc::new(settings) };
    let routed = Router::new()
        .merge(pages::router())
        .fallback(async || Problem::not_found())
        .method_not_allowed_fallback(async || {
            Problem::new(ProblemCode::MethodNotAllowed, "The header Allow lists the methods that are possible here.")
        })
        .with_state(state.clone());
    middleware::around(routed, &state)
}
