//! The routes of the API.

mod activity;
pub(crate) mod docs;
mod events;
pub(crate) mod instances;
mod me;
pub(crate) mod snapshots;
pub(crate) mod templates;
pub(crate) mod volumes;

use axum::Router;
use axum::routing::{MethodRouter, get};
use utoipa_axum::router::UtoipaMethodRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// Lists every documented route of the API, below the base path. Both the router and the OpenAPI document use this
/// list.
pub(crate) fn documented() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(me::read_me),
        routes!(instances::list_instances),
        routes!(instances::read_instance, instances::terminate_instance),
        routes!(instances::extend_instance),
        routes!(instances::suspend_instance),
        routes!(instances::resume_instance),
        routes!(instances::restart_instance),
        routes!(templates::list_templates, templates::create_template),
        routes!(
            templates::read_template,
            templates::update_template,
            templates::patch_template,
            templates::archive_template
        ),
        routes!(templates::launch_template),
        routes!(templates::extend_class),
        routes!(templates::read_template_image),
        routes!(templates::pull_template_image),
        routes!(volumes::list_volumes),
        routes!(volumes::delete_volume),
        routes!(volumes::download_volume),
        routes!(snapshots::list_snapshots),
        routes!(snapshots::delete_snapshot),
        routes!(snapshots::download_snapshot),
        routes!(activity::list_activity),
        routes!(events::follow_instances),
        routes!(docs::read_openapi),
        routes!(docs::browse_api),
        routes!(docs::read_problems),
    ]
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
