//! Forms that pause and resume a workshop.

use askama::Template;
use axum::extract::State;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

use super::forms::{self, Fields, Query};
use super::html::{PageResult, is_htmx, page, shell};
use super::language::Language;
use super::view::{Shell, WorkshopView};
use super::{assets, paths, workshops};
use crate::extract::InstanceName;
use crate::identity::Identified;
use crate::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pause.html")]
struct PausePage {
    t: Language,
    shell: Shell,
    workshop: WorkshopView,
    return_to: String,
}

/// The forms of the buttons "Pause" and "Resume", and the query of the confirmation page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuspendForm {
    return_to: Option<String>,
}

/// `GET /instances/{k8s_name}/suspend`: the confirmation page, for browsers without scripts.
pub(crate) async fn confirm(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    Query(query): Query<SuspendForm>,
) -> PageResult {
    let listed = state.launcher.instance(&caller, &k8s_name).await?;
    let confirm = PausePage {
        t,
        shell: shell(&state, &caller, t, ""),
        workshop: WorkshopView::new(t, &state.launcher, &caller, &listed),
        return_to: forms::return_to(query.return_to.as_deref()).as_str().to_owned(),
    };
    page(StatusCode::OK, &confirm)
}

/// `POST /instances/{k8s_name}/suspend`.
pub(crate) async fn suspend(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    headers: HeaderMap,
    Fields(form): Fields<SuspendForm>,
) -> PageResult {
    let suspended = state.launcher.suspend(&caller, &k8s_name).await;
    let next = forms::return_to(form.return_to.as_deref());
    workshops::answer(&state, &caller, t, &headers, suspended.map(drop), &next).await
}

/// `POST /instances/{k8s_name}/resume`. Without htmx, the owner then sees the waiting page, which opens the workshop.
pub(crate) async fn resume(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    headers: HeaderMap,
    Fields(form): Fields<SuspendForm>,
) -> PageResult {
    let resumed = state.launcher.resume(&caller, &k8s_name).await;
    let is_mine = resumed.as_ref().is_ok_and(|listed| listed.instance.owner_email == *caller.email());
    if is_mine && !is_htmx(&headers) {
        return Ok(forms::redirect(&paths::waiting(&k8s_name)));
    }
    let next = forms::return_to(form.return_to.as_deref());
    workshops::answer(&state, &caller, t, &headers, resumed.map(drop), &next).await
}
