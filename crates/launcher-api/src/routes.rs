//! The routing table.

mod activity;
mod docs;
mod events;
mod instances;
mod me;
mod templates;

use axum::Router;
use axum::routing::{MethodRouter, get};
use launcher_service::Launcher;
use utoipa_axum::router::UtoipaMethodRouter;
use utoipa_axum::routes;

use crate::problem::{Problem, ProblemCode};
use crate::settings::ApiSettings;
use crate::state::AppState;
use crate::{middleware, pages};

/// Every documented route of the API, below the base path. Router and OpenAPI document are built from this list.
pub(crate) fn documented() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(me::read::read_me),
        routes!(instances::list::list_instances),
        routes!(instances::read::read_instance, instances::terminate::terminate_instance),
        routes!(instances::extend::extend_instance),
        routes!(templates::list::list_templates, templates::create::create_template),
        routes!(
            templates::read::read_template,
            templates::update::update_template,
            templates::archive::archive_template
        ),
        routes!(templates::launch::launch_template),
        routes!(activity::list::list_activity),
        routes!(events::stream::follow_instances),
        routes!(docs::document::read_openapi),
        routes!(docs::browse::browse_api),
        routes!(docs::problems::read_problems),
    ]
}

/// Routes below the base path that are not in the OpenAPI document: files of the Swagger UI page.
fn undocumented() -> [(&'static str, &'static str, MethodRouter<AppState>); 1] {
    [("GET", "/docs/{file}", get(docs::browse::file))]
}

/// Returns the method and path of every route, with parameters in braces. HEAD is served wherever GET is.
#[must_use]
pub fn routes(base_path: &str) -> Vec<(String, String)> {
    let mut routes = Vec::new();
    for (_, paths, _) in documented() {
        for (path, item) in paths.paths {
            let operations = [("GET", item.get), ("POST", item.post), ("PUT", item.put), ("DELETE", item.delete)];
            let present = operations.into_iter().filter(|(_, operation)| operation.is_some());
            routes.extend(present.map(|(method, _)| (method.to_owned(), format!("{base_path}{path}"))));
        }
    }
    let undocumented = undocumented().map(|(method, path, _)| (method.to_owned(), format!("{base_path}{path}")));
    routes.extend(undocumented);
    routes.extend(pages::PAGE_ROUTES.map(|(method, path)| (method.to_owned(), path.to_owned())));
    routes
}

/// Builds the router: the API, the pages, and a fallback for all other paths.
pub fn router(launcher: Launcher, settings: ApiSettings) -> Router {
    let base_path = settings.base_path.clone();
    let state = AppState::new(launcher, settings);
    let routed = Router::new()
        .merge(pages::router())
        .nest(&base_path, api())
        .fallback(async || Problem::not_found())
        .method_not_allowed_fallback(async || {
            Problem::new(ProblemCode::MethodNotAllowed, "The header Allow lists the methods that are possible here.")
        })
        .with_state(state.clone());
    middleware::apply(routed, &state)
}

/// Builds the API below its base path. Each operation is served with and without a trailing slash, without a redirect.
fn api() -> Router<AppState> {
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
