//! Launching: the page of a template, which a teacher can share, and the form of every "Launch" button.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use http::{HeaderMap, HeaderValue, StatusCode};
use launcher_domain::local_path::LocalPath;
use launcher_domain::{Caller, RepositoryDraft};
use launcher_service::{InstanceFilter, LaunchRequest, Launched, Page, ServiceError, StateFilter};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::forms::{self, Fields, Query};
use super::html::{PageResult, htmx_redirect, is_htmx, page, shell};
use super::language::{Language, Text};
use super::launch_repository::{check, repository};
use super::share::Share;
use super::view::{Card, Shell, WorkshopView};
use super::{assets, markdown, paths, workshops};
use crate::extract::{TemplateId, is_idempotency_key};
use crate::identity::Identified;
use crate::permission::{Allowed, LaunchActive, LaunchInactive};
use crate::state::AppState;

#[derive(Debug, Template)]
#[template(path = "launch.html")]
struct LaunchPage {
    t: Language,
    shell: Shell,
    card: Card,
    /// The reader's own workshops of this template that have not failed.
    mine: Vec<WorkshopView>,
    /// The reader's newest workshop of this template, if it has failed.
    failed: Option<WorkshopView>,
    /// The description as sanitized HTML.
    description: String,
    active: bool,
    can_launch: bool,
    inactive_text: Text,
    share: Share,
    /// Repository that the launch adds to the course material.
    repository: Option<RepositoryDraft>,
}

/// Query of the page of a template.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LaunchQuery {
    /// `1` to open the reader's workshop of this template at once, or to launch one.
    start: String,
    /// Repository that the launch adds to the course material: URL, reference and folder.
    repo: String,
    #[serde(rename = "ref")]
    reference: String,
    path: String,
}

/// The form of the button "Launch". It has no field for the owner: the caller becomes the owner.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaunchForm {
    /// Idempotency key of the rendered form: a form that is sent twice launches once. An invalid key counts as absent.
    #[serde(default)]
    idempotency_key: String,
    /// Path to open after the launch.
    return_to: Option<String>,
    /// Repository that the launch adds to the course material: URL, reference and folder.
    #[serde(default)]
    repo: String,
    #[serde(default, rename = "ref")]
    reference: String,
    #[serde(default)]
    path: String,
}

/// `GET /launch/{template_id}`: the template, with a button to launch it. With `?start=1`, a reader who has a workshop of
/// this template gets this workshop, and a reader who opened the address directly launches one without a click. A link
/// on a page cannot launch without a click: it would launch a workshop that the reader does not want. The query can name
/// a repository that the template allows: the page shows it, and the reader confirms it with a click.
pub(crate) async fn show(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    Query(query): Query<LaunchQuery>,
    headers: HeaderMap,
    TemplateId(template_id): TemplateId,
) -> PageResult {
    let template = state.launcher.template(&caller, template_id).await?;
    let repository = repository(query.repo, query.reference, query.path);
    check(t, &template, repository.as_ref())?;
    let can_launch = if template.active {
        Allowed::<LaunchActive>::check(caller.clone()).is_ok()
    } else {
        Allowed::<LaunchInactive>::check(caller.clone()).is_ok()
    };
    // Before the list is read: another tab may launch in between. The list then has its workshop, or the key is the same.
    let starts = query.start == "1" && repository.is_none();
    let start_key = if starts { Some(start_key(&state, &caller, template_id).await?) } else { None };
    let mut mine = workshops::own_workshops_of(t, &state.launcher, &caller, template_id).await?;
    let failed = mine.first().filter(|newest| newest.is_failed()).cloned();
    mine.retain(|workshop| !workshop.is_failed());
    if start_key.is_some() {
        if let Some(workshop) = mine.iter().find(|workshop| workshop.can_end()) {
            return Ok(forms::redirect(&paths::open(&workshop.k8s_name)));
        }
        if !can_launch || !is_opened_directly(&headers) {
            return Ok(forms::redirect(&format!("/launch/{template_id}")));
        }
        let request = LaunchRequest { idempotency_key: start_key, ..LaunchRequest::default() };
        let launched = state.launcher.launch(&caller, template_id, &request).await;
        let next = next(&LocalPath::root(), launched.as_ref().ok());
        return workshops::answer(&state, &caller, t, &headers, launched.map(drop), &next).await;
    }
    let launch = LaunchPage {
        t,
        shell: shell(&state, &caller, t, ""),
        card: Card::new(t, &state.launcher, &template),
        mine,
        failed,
        description: markdown::to_html(&template.settings.description),
        active: template.active,
        can_launch,
        inactive_text: if can_launch { t.text("inactive-admin") } else { t.text("inactive-user") },
        share: Share::new(&state, &template),
        repository,
    };
    page(StatusCode::OK, &launch)
}

/// `GET /go/{slug}`: redirects to the page of the template with this slug, with the same query.
pub(crate) async fn go(
    State(state): State<AppState>,
    Identified(caller): Identified,
    Path(slug): Path<String>,
    RawQuery(query): RawQuery,
) -> PageResult {
    let template = state.launcher.template_by_slug(&caller, &slug).await?;
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let page = forms::return_to(Some(&format!("/launch/{}{query}", template.template_id)));
    Ok(forms::see_other(&page))
}

/// `POST /launch/{template_id}`: launches the template, then shows the waiting page.
pub(crate) async fn launch(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    TemplateId(template_id): TemplateId,
    headers: HeaderMap,
    Fields(form): Fields<LaunchForm>,
) -> PageResult {
    let key = Some(form.idempotency_key).filter(|key| is_idempotency_key(key));
    let repository = repository(form.repo, form.reference, form.path);
    if repository.is_some() {
        check(t, &state.launcher.template(&caller, template_id).await?, repository.as_ref())?;
    }
    let body = repository.as_ref().map_or(Value::Null, |repository| json!({ "repository": repository }));
    let request = LaunchRequest { idempotency_key: key, repository, body };
    let launched = state.launcher.launch(&caller, template_id, &request).await;
    let next = next(&forms::return_to(form.return_to.as_deref()), launched.as_ref().ok());
    if launched.is_ok() && is_htmx(&headers) {
        return Ok(htmx_redirect(&next));
    }
    workshops::answer(&state, &caller, t, &headers, launched.map(drop), &next).await
}

/// Returns the idempotency key of a launch by `?start=1`: two tabs that open the link at the same time launch once. The
/// key changes with the reader's newest workshop of the template, so the link launches again after that workshop.
async fn start_key(state: &AppState, caller: &Caller, template_id: Uuid) -> Result<String, ServiceError> {
    let filter = InstanceFilter {
        state: StateFilter::All,
        owner_email: Some(caller.email().clone()),
        template_id: Some(template_id),
        search: None,
    };
    let newest = state.launcher.instances(caller, &filter, &Page { limit: 1, after: None }).await?;
    let newest = newest.first().map_or("", |listed| &listed.instance.k8s_name);
    Ok(format!("start-{template_id}-{newest}"))
}

/// Returns true if the reader opened the page by the address bar or a bookmark. The browser says so in headers that no
/// page can set (Fetch Metadata). Loading a page in advance does not count. The headers stay the same if the opened
/// address redirects here, so an address of another site that the reader opens can launch.
fn is_opened_directly(headers: &HeaderMap) -> bool {
    let value = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    value("sec-fetch-site") == Some("none")
        && value("sec-fetch-mode") == Some("navigate")
        && value("sec-fetch-dest") == Some("document")
        && !headers.contains_key("sec-purpose")
}

/// Returns the path to open after a launch: `return_to`, or the waiting page instead of the start page.
fn next(return_to: &LocalPath, launched: Option<&Launched>) -> LocalPath {
    launched
        .filter(|_| return_to.as_str() == "/")
        .and_then(|launched| LocalPath::parse(&paths::waiting(&launched.listed.instance.k8s_name)))
        .unwrap_or_else(|| return_to.clone())
}
