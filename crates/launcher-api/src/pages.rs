//! The pages: rendered on the server, usable without scripts, updated by htmx where scripts run.
//!
//! Pages contain no business rules: they call the same use cases as the API, and show the results. All files of a page
//! are embedded in the program ([`assets`]). Pages have no inline scripts or styles, so the content security policy can
//! forbid them; only the page for unauthenticated requests embeds one style.

mod admin;
mod bar;
mod classes;
mod confirm;
mod errors;
mod events;
mod forms;
mod guide;
mod html;
mod instances;
mod language;
mod languages;
mod launch;
mod launch_form;
mod markdown;
mod notices;
mod paths;
mod report;
mod roster;
mod saved_work;
mod share;
mod stopped;
mod texts;
mod view;
mod visitor;
mod waiting;
mod workshops;

use axum::Router;
use axum::routing::{MethodRouter, delete, get, post, put};

pub(crate) use errors::Asked;
pub use language::domain_messages;
pub use stopped::{StoppedWorkshop, StoppedWorkshops};

// Most pages use these names.
use forms::{Fields, Query, ReturnForm};
use html::{PageResult, page, page_with};
use language::{Language, Text};
use view::Shell;
use visitor::Visitor;

use crate::assets;
use crate::permission::{Allowed, InClass, ManageClassTemplates, ManageTemplates};
use crate::state::AppState;

/// Visitors who edit the templates of the shared catalog, and of a class.
type AdminOf = Allowed<ManageTemplates, Visitor>;
type TeacherOf = InClass<ManageClassTemplates, Visitor>;

type Route = (&'static str, &'static str, fn() -> MethodRouter<AppState>);

/// Every page: method, path and handler. The router is built from this list, so it serves no other page.
pub(crate) const ROUTES: &[Route] = &[
    ("GET", "/", || get(workshops::home)),
    ("GET", "/history", || get(workshops::history)),
    ("GET", "/work", || get(saved_work::own)),
    ("GET", "/work/{volume}/download", || get(saved_work::download_volume)),
    ("GET", "/work/{volume}/delete", || get(saved_work::confirm_volume_deletion)),
    ("POST", "/work/{volume}/delete", || post(saved_work::delete_volume)),
    ("GET", "/work/snapshots/{snapshot_id}/download", || get(saved_work::download_snapshot)),
    ("GET", "/work/snapshots/{snapshot_id}/delete", || get(saved_work::confirm_snapshot_deletion)),
    ("POST", "/work/snapshots/{snapshot_id}/delete", || post(saved_work::delete_snapshot)),
    ("GET", "/go/{slug}", || get(launch::go)),
    ("GET", "/launch/{template_id}", || get(launch::show)),
    ("POST", "/launch/{template_id}", || post(launch::launch)),
    ("GET", "/instances/{k8s_name}", || get(instances::show)),
    ("GET", "/instances/{k8s_name}/open", || get(instances::open)),
    ("GET", "/instances/{k8s_name}/wait", || get(waiting::show)),
    ("POST", "/instances/{k8s_name}/try-again", || post(waiting::try_again)),
    ("GET", "/instances/{k8s_name}/extend", || get(instances::show_extend)),
    ("POST", "/instances/{k8s_name}/extend", || post(instances::extend)),
    ("GET", "/instances/{k8s_name}/extend-beyond-maximum", || get(instances::confirm_extension)),
    ("GET", "/instances/{k8s_name}/end", || get(instances::confirm_end)),
    ("POST", "/instances/{k8s_name}/end", || post(instances::end)),
    ("GET", "/instances/{k8s_name}/suspend", || get(instances::confirm_suspend)),
    ("POST", "/instances/{k8s_name}/suspend", || post(instances::suspend)),
    ("POST", "/instances/{k8s_name}/resume", || post(instances::resume)),
    ("GET", "/classes", || get(classes::list)),
    ("POST", "/classes", || post(classes::create)),
    // Not below `/classes/`: a class may have any slug.
    ("POST", "/import/class", || post(classes::file::import)),
    ("GET", "/classes/{class}", || get(classes::room::show)),
    ("GET", "/classes/{class}/edit", || get(classes::edit::show)),
    ("POST", "/classes/{class}/edit", || post(classes::edit::save)),
    ("POST", "/classes/{class}/join-link", || post(classes::join::create)),
    ("POST", "/classes/{class}/join-link/revoke", || post(classes::join::revoke)),
    ("GET", "/join", || get(classes::join::ask)),
    ("GET", "/join/{code}", || get(classes::join::show)),
    ("POST", "/join/{code}", || post(classes::join::join)),
    ("GET", "/classes/{class}/export", || get(classes::file::export)),
    ("GET", "/classes/{class}/board", || get(classes::board::show)),
    ("GET", "/classes/{class}/events", || get(classes::board::stream)),
    ("GET", "/classes/{class}/projector", || get(classes::projector::show)),
    ("GET", "/classes/{class}/attendance.csv", || get(classes::attendance::export)),
    ("GET", "/classes/{class}/launch", || get(classes::all::confirm_launch)),
    ("POST", "/classes/{class}/launch", || post(classes::all::launch)),
    ("GET", "/classes/{class}/extend", || get(classes::all::confirm_extend)),
    ("POST", "/classes/{class}/extend", || post(classes::all::extend)),
    ("GET", "/classes/{class}/pause", || get(classes::all::confirm_pause)),
    ("POST", "/classes/{class}/pause", || post(classes::all::pause)),
    ("GET", "/classes/{class}/end", || get(classes::all::confirm_end)),
    ("POST", "/classes/{class}/end", || post(classes::all::end)),
    ("GET", "/classes/{class}/templates/new", || get(admin::editor::new::<TeacherOf>)),
    ("POST", "/classes/{class}/templates", || post(admin::editor::create::<TeacherOf>)),
    ("GET", "/classes/{class}/templates/{template_id}/edit", || get(admin::editor::edit::<TeacherOf>)),
    ("POST", "/classes/{class}/templates/{template_id}", || post(admin::editor::update::<TeacherOf>)),
    ("POST", "/classes/{class}/members", || post(classes::roster::preview)),
    ("POST", "/classes/{class}/members/apply", || post(classes::roster::apply)),
    ("GET", "/classes/{class}/members/export", || get(classes::roster::export)),
    ("GET", "/classes/{class}/members/{email}/edit", || get(classes::members::show_edit)),
    ("POST", "/classes/{class}/members/{email}/edit", || post(classes::members::edit)),
    ("GET", "/classes/{class}/members/{email}/remove", || get(classes::members::confirm_removal)),
    ("POST", "/classes/{class}/members/{email}/remove", || post(classes::members::remove_member)),
    ("POST", "/classes/{class}/instances/{k8s_name}/extend", || post(classes::board::extend)),
    ("GET", "/classes/{class}/instances/{k8s_name}/end", || get(classes::board::confirm_end)),
    ("POST", "/classes/{class}/instances/{k8s_name}/end", || post(classes::board::end)),
    ("GET", "/classes/{class}/news", || get(classes::hands::news)),
    ("POST", "/classes/{class}/hand", || post(classes::hands::raise)),
    ("POST", "/classes/{class}/hand/lower", || post(classes::hands::lower_own)),
    ("POST", "/classes/{class}/hands/{email}/take", || post(classes::hands::take)),
    ("POST", "/classes/{class}/hands/{email}/lower", || post(classes::hands::lower)),
    ("POST", "/classes/{class}/message", || post(classes::hands::send)),
    ("POST", "/classes/{class}/message/remove", || post(classes::hands::remove_message)),
    ("GET", "/_launcher/class/{k8s_name}/news", || get(bar::news)),
    ("GET", "/_launcher/class/{k8s_name}/events", || get(bar::events)),
    ("PUT", "/_launcher/class/{k8s_name}/hand", || put(bar::raise)),
    ("DELETE", "/_launcher/class/{k8s_name}/hand", || delete(bar::lower)),
    ("PUT", "/_launcher/class/{k8s_name}/use", || put(bar::note_use)),
    ("GET", "/_launcher/class/{k8s_name}/stopped", || get(bar::stopped)),
    ("POST", "/language", || post(languages::choose)),
    ("GET", "/guide/students", || get(guide::students)),
    ("GET", "/guide/teachers", || get(classes::guide::show)),
    ("GET", "/fragments/workshops", || get(workshops::list)),
    ("GET", "/fragments/events", || get(events::stream)),
    ("GET", "/admin", || get(admin::overview::show)),
    ("GET", "/admin/work", || get(saved_work::all)),
    ("GET", "/admin/activity", || get(admin::activity::show)),
    ("GET", "/admin/instances", || get(admin::instances::show)),
    ("GET", "/admin/instances/restart", || get(admin::bulk::confirm_restart)),
    ("POST", "/admin/instances/bulk", || post(admin::bulk::act)),
    ("GET", "/admin/templates", || get(admin::templates::list)),
    ("POST", "/admin/templates", || post(admin::editor::create::<AdminOf>)),
    ("GET", "/admin/templates/new", || get(admin::editor::new::<AdminOf>)),
    ("POST", "/admin/templates/{template_id}", || post(admin::editor::update::<AdminOf>)),
    ("GET", "/admin/templates/{template_id}/edit", || get(admin::editor::edit::<AdminOf>)),
    ("GET", "/admin/templates/{template_id}/workshops", || get(admin::template_workshops::show)),
    ("POST", "/admin/templates/{template_id}/workshops", || post(admin::template_workshops::compare)),
    ("POST", "/admin/templates/{template_id}/extend", || post(admin::template_workshops::extend)),
    ("GET", "/admin/templates/{template_id}/maximum", || get(admin::template_workshops::confirm_maximum)),
    ("POST", "/admin/templates/{template_id}/maximum", || post(admin::template_workshops::apply_maximum)),
    ("POST", "/admin/templates/{template_id}/archive", || post(admin::templates::archive)),
    ("GET", "/admin/templates/{template_id}/image", || get(admin::images::show)),
    ("POST", "/admin/templates/{template_id}/image", || post(admin::images::pull)),
    ("POST", "/admin/templates/{template_id}/restore", || post(admin::templates::restore)),
    ("GET", errors::SIGNED_OUT, || get(errors::signed_out)),
    ("GET", "/assets/{file}", || get(assets::serve)),
];

pub(crate) fn router() -> Router<AppState> {
    ROUTES.iter().fold(Router::new(), |router, (_, path, route)| router.route(path, route()))
}
