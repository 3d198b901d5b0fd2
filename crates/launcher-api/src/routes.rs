//! The routes of the API.

mod activity;
mod class_bulk;
pub(crate) mod classes;
pub(crate) mod docs;
mod events;
pub(crate) mod hands;
pub(crate) mod instances;
pub(crate) mod join;
mod me;
pub(crate) mod snapshots;
pub(crate) mod templates;
pub(crate) mod volumes;

use axum::Router;
use axum::routing::{MethodRouter, get};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::state::AppState;

type Routes = Vec<UtoipaMethodRouter<AppState>>;

/// Lists every documented route of the API, below the base path. Both the router and the OpenAPI document use this
/// list.
pub(crate) fn documented() -> Routes {
    [
        me::routes(),
        instances::routes(),
        templates::routes(),
        classes::routes(),
        join::routes(),
        hands::routes(),
        class_bulk::routes(),
        volumes::routes(),
        snapshots::routes(),
        activity::routes(),
        events::routes(),
        docs::routes(),
    ]
    .concat()
}

/// Lists the routes below the base path that are not in the OpenAPI document: the files of the Swagger UI page.
pub(crate) fn undocumented() -> [(&'static str, &'static str, MethodRouter<AppState>); 1] {
    [("GET", "/docs/{file}", get(docs::file))]
}

/// Builds the API below its base path. Each operation is served with and without a trailing slash, without a redirect.
pub(crate) fn api() -> Router<AppState> {
    let mut router = Router::new();
    for (_, paths, methods) in documented() {
        for path in paths.paths.keys() {
            router = router.route(path, methods.clone()).route(&other_form(path), methods.clone());
        }
    }
    for (_, path, methods) in undocumented() {
        router = router.route(path, methods);
    }
    router
}

fn other_form(path: &str) -> String {
    path.strip_suffix('/').map_or_else(|| format!("{path}/"), str::to_owned)
}
