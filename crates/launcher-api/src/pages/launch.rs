//! Launching: a template's page, which a teacher can share, and the form of every "Launch" button.

use askama::Template;
use axum::extract::State;
use http::{HeaderMap, StatusCode};
use launcher_domain::access::Action;
use launcher_domain::local_path::LocalPath;
use launcher_service::{LaunchRequest, Launched};
use serde::Deserialize;

use super::forms::{self, Fields};
use super::html::{PageResult, page, shell};
use super::view::{Card, Shell, WorkshopView};
use super::{assets, markdown, texts, workshops};
use crate::extract::{TemplateId, is_idempotency_key};
use crate::identity::{Identified, permit};
use crate::state::AppState;

#[derive(Debug, Template)]
#[template(path = "launch.html")]
struct LaunchPage {
    shell: Shell,
    card: Card,
    /// The reader's workshops of this template.
    mine: Vec<WorkshopView>,
    /// Sanitized HTML.
    description: String,
    active: bool,
    can_launch: bool,
    inactive_text: &'static str,
}

/// The form of "Launch". It cannot name an owner: the caller's identity decides.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaunchForm {
    /// Key of the rendered form: sending it twice launches once. An invalid key counts as absent.
    #[serde(default)]
    idempotency_key: String,
    /// Path of the next page.
    return_to: Option<String>,
}

/// `GET /launch/{template_id}`: the template, with a button to launch it.
pub(crate) async fn show(
    State(state): State<AppState>,
    Identified(caller): Identified,
    TemplateId(template_id): TemplateId,
) -> PageResult {
    let template = state.launcher.template(&caller, template_id).await?;
    let action = if template.active { Action::LaunchActive } else { Action::LaunchInactive };
    let can_launch = permit(&caller, action).is_ok();
    let mine = workshops::own_workshops_of(&state.launcher, &caller, template_id).await?;
    let launch = LaunchPage {
        shell: shell(&state, &caller, ""),
        card: Card::new(&state.launcher, &template),
        mine,
        description: markdown::to_html(&template.settings.description),
        active: template.active,
        can_launch,
        inactive_text: if can_launch { texts::INACTIVE_ADMIN } else { texts::INACTIVE_USER },
    };
    page(StatusCode::OK, &launch)
}

/// `POST /launch/{template_id}`: launches, then shows the workshop in the list.
pub(crate) async fn launch(
    State(state): State<AppState>,
    Identified(caller): Identified,
    TemplateId(template_id): TemplateId,
    headers: HeaderMap,
    Fields(form): Fields<LaunchForm>,
) -> PageResult {
    let key = Some(form.idempotency_key).filter(|key| is_idempotency_key(key));
    let request = LaunchRequest { idempotency_key: key, ..LaunchRequest::default() };
    let launched = state.launcher.launch(&caller, template_id, &request).await;
    let next = next(&forms::return_to(form.return_to.as_deref()), launched.as_ref().ok());
    workshops::answer(&state, &caller, &headers, launched.map(drop), &next).await
}

/// Returns the path after a launch: on the start page the new workshop's anchor, otherwise `return_to`.
fn next(return_to: &LocalPath, launched: Option<&Launched>) -> LocalPath {
    launched
        .filter(|_| return_to.as_str() == "/")
        .and_then(|launched| LocalPath::parse(&format!("/#workshop-{}", launched.listed.instance.k8s_name)))
        .unwrap_or_else(|| return_to.clone())
}
