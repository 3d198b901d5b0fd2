//! The pages: rendered here, working without scripts, kept up to date by htmx where there are scripts.
//!
//! A page decides nothing: it asks the same use cases as the API, and shows what they say. Everything a page loads is
//! embedded in the program ([`assets`]), and nothing in a page is inline, so that the content security policy can
//! forbid it.

mod admin;
mod assets;
mod errors;
mod events;
mod forms;
mod history;
mod html;
mod instances;
mod launch;
mod markdown;
mod nobody;
mod notices;
mod signed_out;
mod texts;
mod view;
mod workshops;

use axum::Router;
use axum::routing::{MethodRouter, get, post};

pub(crate) use errors::as_pages;

use crate::state::AppState;

type Route = (&'static str, &'static str, fn() -> MethodRouter<AppState>);

/// Every page: its method, its path and what answers. The router is built from this list, so a page that is not in it
/// is not served.
const ROUTES: &[Route] = &[
    ("GET", "/", || get(workshops::home)),
    ("GET", "/history", || get(history::show)),
    ("GET", "/launch/{template_id}", || get(launch::show)),
    ("POST", "/launch/{template_id}", || post(launch::launch)),
    ("GET", "/instances/{k8s_name}", || get(instances::show)),
    ("POST", "/instances/{k8s_name}/extend", || post(instances::extend)),
    ("GET", "/instances/{k8s_name}/end", || get(instances::confirm_end)),
    ("POST", "/instances/{k8s_name}/end", || post(instances::end)),
    ("GET", "/fragments/workshops", || get(workshops::list)),
    ("GET", "/fragments/events", || get(events::stream)),
    ("GET", "/admin", || get(admin::overview::show)),
    ("GET", "/admin/activity", || get(admin::activity::show)),
    ("GET", "/admin/instances", || get(admin::instances::show)),
    ("POST", "/admin/instances/bulk", || post(admin::bulk::act)),
    ("GET", "/admin/templates", || get(admin::templates::list)),
    ("POST", "/admin/templates", || post(admin::templates::create)),
    ("GET", "/admin/templates/new", || get(admin::templates::new)),
    ("POST", "/admin/templates/{template_id}", || post(admin::templates::update)),
    ("GET", "/admin/templates/{template_id}/edit", || get(admin::templates::edit)),
    ("POST", "/admin/templates/{template_id}/archive", || post(admin::templates::archive)),
    ("POST", "/admin/templates/{template_id}/restore", || post(admin::templates::restore)),
    ("GET", signed_out::PATH, || get(signed_out::leave)),
    ("GET", "/assets/{file}", || get(assets::serve)),
];

/// The method and path of every page, for the test that no route goes without an access decision.
pub(crate) const PAGE_ROUTES: [(&str, &str); ROUTES.len()] = {
    let mut routes = [("", ""); ROUTES.len()];
    let mut index = 0;
    while index < ROUTES.len() {
        routes[index] = (ROUTES[index].0, ROUTES[index].1);
        index += 1;
    }
    routes
};

/// The pages' router.
pub(crate) fn router() -> Router<AppState> {
    ROUTES.iter().fold(Router::new(), |router, (_, path, route)| router.route(path, route()))
}
