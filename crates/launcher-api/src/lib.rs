//! HTTP: the API and the pages of the workshop launcher. It only translates: the crates below it decide on access.
//!
//! [`router`] serves the API and the pages through one list of middleware (`middleware.rs`). Errors under the base path
//! are problem documents, all others are pages.

mod admission;
mod assets;
mod body;
mod brand;
mod compression;
mod extract;
mod guard;
mod identity;
mod metrics;
mod middleware;
mod openapi;
mod pages;
mod permission;
mod problem;
mod request_id;
mod routes;
mod settings;
mod state;
mod wire;

use axum::Router;
use launcher_service::Launcher;

use crate::compression::SharedText;
use crate::problem::{Problem, ProblemCode};
use crate::routes::{api, undocumented};
use crate::state::AppState;

pub use admission::BUFFERED_BYTES;
pub use metrics::Metrics;
pub use openapi::openapi;
pub use pages::{StoppedWorkshop, StoppedWorkshops, domain_messages};
pub use settings::{ApiProcess, ApiSettings};

/// Returns method and path of every route that the OpenAPI document does not list, with parameters in braces. Every GET
/// route also serves HEAD.
pub fn undocumented_routes(base_path: &str) -> impl Iterator<Item = (&'static str, String)> {
    let files = undocumented().map(|(method, path, _)| (method, format!("{base_path}{path}")));
    files.into_iter().chain(pages::ROUTES.iter().map(|(method, path, _)| (*method, (*path).to_owned())))
}

/// Builds the router: the API, the pages, and a fallback for all other paths.
pub fn router(launcher: Launcher, settings: ApiSettings, process: ApiProcess) -> Router {
    let base_path = settings.base_path.clone();
    let state = AppState::new(launcher, settings, process, {
        let base_path = base_path.clone();
        move || SharedText::new(openapi(&base_path).to_string())
    });
    let routed = Router::new()
        .merge(pages::router())
        .nest(&base_path, api())
        .fallback(async || Problem::not_found())
        .method_not_allowed_fallback(async || {
            Problem::new(ProblemCode::MethodNotAllowed, "The header Allow lists the methods that this path supports.")
        })
        .with_state(state.clone());
    middleware::apply(routed, &state)
}
