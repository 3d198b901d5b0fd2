//! Pages and forms of one instance: show, extend and end it.

use askama::Template;
use axum::extract::State;
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use serde::Deserialize;

use super::forms::{self, Fields, Query};
use super::html::{PageResult, page, shell};
use super::language::Language;
use super::view::{Shell, SnapshotView, WorkshopView, machine_now};
use super::{assets, extend, paths, workshops};
use crate::extract::InstanceName;
use crate::identity::Identified;
use crate::state::AppState;

#[derive(Debug, Template)]
#[template(path = "instance.html")]
struct InstancePage {
    t: Language,
    shell: Shell,
    workshop: WorkshopView,
    now: String,
    live: bool,
    return_to: String,
}

#[derive(Debug, Template)]
#[template(path = "end.html")]
struct EndPage {
    t: Language,
    shell: Shell,
    workshop: WorkshopView,
    return_to: String,
}

/// The form of the button "Extend".
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendForm {
    /// The expiry that the page showed. Because of this value, a double click extends the instance only once.
    expected_expires_at: Option<Timestamp>,
    return_to: Option<String>,
}

/// The form of the buttons "End" and "Dismiss", and the query of the confirmation page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndForm {
    return_to: Option<String>,
}

/// `GET /instances/{k8s_name}`: details of one instance.
pub(crate) async fn show(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
) -> PageResult {
    let listed = state.launcher.instance(&caller, &k8s_name).await?;
    let snapshot = SnapshotView::dated(t, &state.launcher, &caller, &listed.instance).await?;
    let detail = InstancePage {
        t,
        shell: shell(&state, &caller, t, ""),
        workshop: WorkshopView { snapshot, ..WorkshopView::new(t, &state.launcher, &caller, &listed) },
        now: machine_now(state.launcher.clock()),
        live: false,
        return_to: paths::instance(&k8s_name),
    };
    page(StatusCode::OK, &detail)
}

/// `GET /instances/{k8s_name}/open`: redirects the owner to the workshop while it runs, and to the waiting page while it
/// starts. Otherwise redirects to the page of the instance, which shows its state. A link to this path therefore stays
/// valid while the state changes.
pub(crate) async fn open(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
) -> PageResult {
    let listed = state.launcher.instance(&caller, &k8s_name).await?;
    let workshop = WorkshopView::new(t, &state.launcher, &caller, &listed);
    let page =
        if workshop.waits.is_some() && workshop.mine { paths::waiting(&k8s_name) } else { paths::instance(&k8s_name) };
    Ok(forms::redirect(&workshop.url.unwrap_or(page)))
}

/// `POST /instances/{k8s_name}/extend`.
pub(crate) async fn extend(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    headers: HeaderMap,
    Fields(form): Fields<ExtendForm>,
) -> PageResult {
    let extended = state.launcher.extend(&caller, &k8s_name, form.expected_expires_at).await;
    let next = forms::return_to(form.return_to.as_deref());
    let mut response = workshops::answer(&state, &caller, t, &headers, extended.map(drop), &next).await?;
    if response.status().is_redirection() {
        extend::keep_opener(&mut response);
    }
    Ok(response)
}

/// `GET /instances/{k8s_name}/end`: the confirmation page, for browsers without scripts and for admins.
pub(crate) async fn confirm_end(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    Query(query): Query<EndForm>,
) -> PageResult {
    let listed = state.launcher.instance(&caller, &k8s_name).await?;
    let confirm = EndPage {
        t,
        shell: shell(&state, &caller, t, ""),
        workshop: WorkshopView::new(t, &state.launcher, &caller, &listed),
        return_to: forms::return_to(query.return_to.as_deref()).as_str().to_owned(),
    };
    page(StatusCode::OK, &confirm)
}

/// `POST /instances/{k8s_name}/end`: terminates an instance, or dismisses a failed one.
pub(crate) async fn end(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    headers: HeaderMap,
    Fields(form): Fields<EndForm>,
) -> PageResult {
    let ended = state.launcher.terminate(&caller, &k8s_name).await;
    let next = forms::return_to(form.return_to.as_deref());
    workshops::answer(&state, &caller, t, &headers, ended.map(drop), &next).await
}
