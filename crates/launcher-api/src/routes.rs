//! The routes of the API.

mod activity;
pub(crate) mod archive;
pub(crate) mod docs;
mod events;
mod instances;
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
        routes!(me::read::read_me),
        routes!(instances::list::list_instances),
        routes!(instances::read::read_instance, instances::terminate::terminate_instance),
        routes!(instances::extend::extend_instance),
        routes!(instances::suspend::suspend_instance),
        routes!(instances::resume::resume_instance),
        routes!(instances::restart::restart_instance),
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
        routes!(volumes::list::list_volumes),
        routes!(volumes::delete::delete_volume),
        routes!(volumes::download::download_volume),
        routes!(snapshots::list::list_snapshots),
        routes!(snapshots::delete::delete_snapshot),
        routes!(snapshots::download::download_snapshot),
        routes!(activity::list::list_activity),
        routes!(events::stream::follow_instances),
        routes!(docs::document::read_openapi),
        routes!(docs::browse::browse_api),
        routes!(docs::problems::read_problems),
    ]
}

/// Lists the routes below the base path that are not in the OpenAPI document: the files of the Swagger UI page.
pub(crate) fn undocumented() -> [(&'static str, &'static str, MethodRouter<AppState>); 1] {
    [("GET", "/docs/{file}", get(docs::browse::file))]
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
