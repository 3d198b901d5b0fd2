//! Launching: the page of a template, which a teacher can share, and the form of every "Launch" button.

mod fields;
mod form;

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, StatusCode};
use launcher_domain::local_path::LocalPath;
use launcher_domain::{Caller, FieldError, Parameter, SecretValues, Template as CatalogTemplate};
use launcher_service::{InstanceFilter, LaunchRequest, Launched, Page, ServiceError, StateFilter};
use serde::Deserialize;
use uuid::Uuid;

use super::forms::{self, Fields, Query};
use super::html::{PageResult, htmx_redirect, is_htmx, page, shell};
use super::language::{Language, Text};
use super::share::Share;
use super::view::{Card, Notice, Shell, WorkshopView};
use super::{assets, markdown, notices, paths, workshops};
use crate::extract::{TemplateId, is_idempotency_key};
use crate::identity::Identified;
use crate::permission::{Allowed, LaunchActive, LaunchInactive};
use crate::state::AppState;
use fields::{Input, LaunchField};
use form::{LaunchForm, Prefill};

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
    /// Error of a launch that does not concern a field.
    notice: Option<Notice>,
    /// Fields for the launch parameters.
    fields: Vec<LaunchField>,
    /// Fields with errors, for the summary above the form.
    wrong: Vec<LaunchField>,
    /// Errors of parameters that the template does not have.
    unknown: Vec<String>,
    /// Names of parameters whose values a link cannot give.
    ignored: String,
}

/// Query of the page of a template.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LaunchQuery {
    /// `1` to open the reader's workshop of this template at once, or to launch one.
    start: String,
    /// Values of launch parameters, in fields that begin with `p.`.
    #[serde(flatten)]
    others: BTreeMap<String, String>,
}

/// `GET /launch/{template_id}`: the template, with a button to launch it. `?p.NAME=value` fills the field of a launch
/// parameter. With `?start=1`, a reader who has a workshop of
/// this template gets this workshop, and a reader who opened the address directly launches one without a click. A link
/// on a page cannot launch without a click: it would launch a workshop that the reader does not want. A link with values
/// cannot either: the reader confirms them.
pub(crate) async fn show(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    Query(query): Query<LaunchQuery>,
    headers: HeaderMap,
    TemplateId(template_id): TemplateId,
) -> PageResult {
    let template = state.launcher.template(&caller, template_id).await?;
    let prefill = Prefill::of_link(&template.settings.parameters, &query.others);
    if query.start != "1" {
        return show_form(&state, &caller, t, &template, Form::filled(prefill)).await;
    }
    // Before the list is read: another tab may launch in between. The list then has its workshop, or the key is the same.
    let start_key = start_key(&state, &caller, template_id).await?;
    let mine = workshops::own_workshops_of(t, &state.launcher, &caller, template_id).await?;
    if let Some(workshop) = mine.iter().find(|workshop| workshop.can_end()) {
        return Ok(forms::redirect(&paths::open(&workshop.k8s_name)));
    }
    let asks = template.settings.parameters.iter().any(Parameter::must_be_given) || !prefill.is_empty();
    if asks {
        return show_form(&state, &caller, t, &template, Form::filled(prefill)).await;
    }
    if !can_launch(&caller, &template) || !is_opened_directly(&headers) {
        return Ok(forms::redirect(&format!("/launch/{template_id}")));
    }
    let request = LaunchRequest { idempotency_key: Some(start_key), ..LaunchRequest::default() };
    let launched = state.launcher.launch(&caller, template_id, &request).await;
    let next = next(&LocalPath::root(), launched.as_ref().ok());
    workshops::answer(&state, &caller, t, &headers, launched.map(drop), &next).await
}

/// The content of a launch form, and the answer to its last sending.
#[derive(Debug, Default)]
struct Form {
    status: StatusCode,
    prefill: Prefill,
    notice: Option<Notice>,
    /// True if the page answers a sent form.
    is_answer: bool,
}

impl Form {
    fn filled(prefill: Prefill) -> Self {
        Self { prefill, ..Self::default() }
    }
}

/// Shows the page of a template with this form.
async fn show_form(
    state: &AppState,
    caller: &Caller,
    t: Language,
    template: &CatalogTemplate,
    form: Form,
) -> PageResult {
    let Form { status, mut prefill, notice, is_answer } = form;
    let (template_id, parameters) = (template.template_id, &template.settings.parameters);
    let mut mine = workshops::own_workshops_of(t, &state.launcher, caller, template_id).await?;
    let failed = mine.first().filter(|newest| newest.is_failed()).cloned();
    mine.retain(|workshop| !workshop.is_failed());
    if let Some(failed) = failed.as_ref().filter(|_| !is_answer && prefill.is_empty()) {
        prefill = Prefill::of_launch(parameters, &failed.parameter_values);
    }
    let fields = fields::fields(t, parameters, &prefill.values, &prefill.errors);
    let has_field = |error: &FieldError| fields.iter().any(|field| error.pointer == field.pointer());
    let unknown = prefill.errors.iter().filter(|error| !has_field(error)).map(|error| t.field_error(error)).collect();
    let frame = shell(state, caller, t, "");
    let can_launch = can_launch(caller, template);
    let launch = LaunchPage {
        t,
        shell: if is_answer { frame.returning_to(format!("/launch/{template_id}")) } else { frame },
        card: Card::new(t, &state.launcher, template),
        mine,
        failed,
        description: markdown::to_html(&template.settings.description),
        active: template.active,
        can_launch,
        inactive_text: if can_launch { t.text("inactive-admin") } else { t.text("inactive-user") },
        share: Share::new(state, template),
        notice,
        wrong: fields.iter().filter(|field| !field.error.is_empty()).cloned().collect(),
        fields,
        unknown,
        ignored: prefill.ignored.join(", "),
    };
    page(status, &launch)
}

fn can_launch(caller: &Caller, template: &CatalogTemplate) -> bool {
    if template.active {
        Allowed::<LaunchActive>::check(caller.clone()).is_ok()
    } else {
        Allowed::<LaunchInactive>::check(caller.clone()).is_ok()
    }
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
    let request =
        LaunchRequest { idempotency_key: key, parameters: form.parameters.clone(), ..LaunchRequest::default() };
    let launched = state.launcher.launch(&caller, template_id, &request).await;
    let next = next(&forms::return_to(form.return_to.as_deref()), launched.as_ref().ok());
    let error = match launched {
        Ok(_) if is_htmx(&headers) => return Ok(htmx_redirect(&next)),
        Ok(_) => return workshops::answer(&state, &caller, t, &headers, Ok(()), &next).await,
        Err(error) => error,
    };
    let is_invalid = matches!(error, ServiceError::Invalid(_));
    if is_invalid && is_htmx(&headers) {
        // The button of a card has no fields.
        return Ok(htmx_redirect(&forms::return_to(Some(&format!("/launch/{template_id}")))));
    }
    if !is_invalid && (is_htmx(&headers) || form.parameters.is_empty()) {
        return workshops::answer(&state, &caller, t, &headers, Err(error), &next).await;
    }
    refused(&state, &caller, t, template_id, form.parameters, error).await
}

/// Shows the form again with the typed values, except for secrets.
async fn refused(
    state: &AppState,
    caller: &Caller,
    t: Language,
    template_id: Uuid,
    values: SecretValues,
    error: ServiceError,
) -> PageResult {
    let template = state.launcher.template(caller, template_id).await?;
    let prefill = Prefill { values, ..Prefill::default() };
    let retry_after = notices::retry_after(&error);
    let (status, errors, notice) = match error {
        ServiceError::Invalid(errors) => (StatusCode::UNPROCESSABLE_ENTITY, errors, None),
        error => {
            let Some((status, notice)) = notices::of(t, &error, false) else { return Err(error.into()) };
            (status, Vec::new(), Some(notice))
        }
    };
    let form = Form { status, prefill: Prefill { errors, ..prefill }, notice, is_answer: true };
    let mut response = show_form(state, caller, t, &template, form).await?;
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(response)
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
