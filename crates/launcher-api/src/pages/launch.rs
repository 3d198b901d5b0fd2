//! Launching: the page of a template, which a teacher can share, and the form of every "Launch" button.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::{Path, RawQuery};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use launcher_domain::local_path::LocalPath;
use launcher_domain::{ClassAccess, FieldError, Parameter, RepositoryDraft, Template as CatalogTemplate};
use launcher_service::{Catalog, InstanceFilter, LaunchRequest, Launched, Page, ServiceError, StateFilter};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::extract::{TemplateId, is_idempotency_key};
use crate::pages::html::htmx_redirect;
use crate::pages::launch_form::{
    Input, LaunchField, LaunchForm, Prefill, check_repository, launch_path, repository, snapshot,
};
use crate::pages::share::Share;
use crate::pages::view::{Card, Instant, Notice, WorkshopView};
use crate::pages::{
    Fields, Language, PageResult, Query, Shell, Text, Visitor, assets, errors, forms, markdown, notices, page_with,
    paths, workshops,
};
use crate::permission::{LaunchActive, LaunchInactive, allows};

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
    /// Snapshot whose files the workshop starts with.
    snapshot: String,
    /// Values of launch parameters, in fields that begin with `p.`.
    #[serde(flatten)]
    others: BTreeMap<String, String>,
}

/// `GET /launch/{template_id}`: the template, with a button to launch it. `?p.NAME=value` fills the field of a launch
/// parameter, and `?repo=URL` names a repository that the template allows. With `?start=1`, a reader who has a workshop
/// of this template gets this workshop, and a reader who opened the address directly launches one without a click. A link
/// on a page cannot launch without a click: it would launch a workshop that the reader does not want. A link with values
/// or a repository cannot either: the reader confirms them.
pub(crate) async fn show(
    visitor: Visitor,
    Query(query): Query<LaunchQuery>,
    headers: HeaderMap,
    TemplateId(template_id): TemplateId,
) -> PageResult {
    let (class, template) = find(&visitor, template_id).await?;
    let repository = repository(query.repo, query.reference, query.path);
    check_repository(visitor.t, &template, repository.as_ref())?;
    let prefill = Prefill::of_link(&template.settings.parameters, &query.others);
    let asks = template.settings.parameters.iter().any(Parameter::must_be_given) || !prefill.is_empty();
    let snapshot = snapshot(&query.snapshot);
    if query.start != "1" || repository.is_some() || snapshot.is_some() {
        return show_form(&visitor, &template, Form { snapshot, ..Form::filled(prefill, repository) }).await;
    }
    // Compute the key before the list is read. If another tab launches in between, either the list has its workshop, or
    // both launches have the same key.
    let start_key = start_key(&visitor, template_id).await?;
    let mine = workshops::own_workshops_of(&visitor, template_id).await?;
    if let Some(workshop) = mine.iter().find(|workshop| workshop.can_end()) {
        return Ok(forms::redirect(&format!("/instances/{}/open", workshop.k8s_name)));
    }
    if asks {
        return show_form(&visitor, &template, Form::filled(prefill, None)).await;
    }
    if !can_launch(&visitor, class.as_ref(), &template) || !is_opened_directly(&headers) {
        return Ok(forms::redirect(&format!("/launch/{template_id}")));
    }
    let catalog = Catalog::of(&visitor.caller, class.as_ref());
    let request = LaunchRequest { idempotency_key: Some(start_key), ..LaunchRequest::default() };
    let launched = visitor.launcher.launch(catalog, template_id, &request).await;
    let next = next(&LocalPath::root(), launched.as_ref().ok());
    workshops::answer(&visitor, launched, &next).await
}

/// `GET /go/{slug}`: redirects to the page of the template with this slug, with the same query.
///
/// An unknown slug gets a page that names it: the reader may have misread a slide.
pub(crate) async fn go(visitor: Visitor, Path(slug): Path<String>, RawQuery(query): RawQuery) -> PageResult {
    let template = match visitor.launcher.template_by_slug(&visitor.caller, &slug).await {
        Err(ServiceError::NotFound) => return errors::unknown_link(&visitor, &slug),
        found => found?,
    };
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let page = forms::return_to(Some(&format!("/launch/{}{query}", template.template_id)));
    Ok(forms::redirect(page.as_str()))
}

pub(crate) async fn launch(
    visitor: Visitor,
    TemplateId(template_id): TemplateId,
    headers: HeaderMap,
    Fields(form): Fields<LaunchForm>,
) -> PageResult {
    let key = Some(form.idempotency_key).filter(|key| is_idempotency_key(key));
    let repository = form.repository;
    let class = visitor.launcher.class_of_template(&visitor.caller, template_id).await?;
    let catalog = Catalog::of(&visitor.caller, class.as_ref());
    if repository.is_some() {
        let template = visitor.launcher.template(catalog, template_id).await?;
        check_repository(visitor.t, &template, repository.as_ref())?;
    }
    let snapshot = form.snapshot;
    let body = match (&repository, snapshot) {
        (None, None) => Value::Null,
        _ => json!({ "repository": repository, "snapshot": snapshot }),
    };
    let request = LaunchRequest { idempotency_key: key, repository, snapshot, body, parameters: form.parameters };
    let launched = visitor.launcher.launch(catalog, template_id, &request).await;
    let next = next(&forms::return_to(form.return_to.as_deref()), launched.as_ref().ok());
    let error = match launched {
        Ok(_) if visitor.is_htmx => return Ok(htmx_redirect(&next)),
        Ok(_) => return Ok(forms::redirect(next.as_str())),
        Err(error) => error,
    };
    let is_invalid = matches!(error, ServiceError::Invalid(_));
    if is_invalid && visitor.is_htmx {
        // The button of a card has no fields.
        let page = launch_path(template_id, request.repository.as_ref());
        return Ok(htmx_redirect(&forms::return_to(Some(&page))));
    }
    let has_values = !request.parameters.is_empty() || request.repository.is_some() || snapshot.is_some();
    if !is_invalid && (visitor.is_htmx || !has_values) {
        return workshops::refuse(&visitor, error, launch_page(&headers, template_id)).await;
    }
    refused(&visitor, template_id, request, error).await
}

/// Shows the form again with the typed values, except for secrets, and with the repository.
async fn refused(visitor: &Visitor, template_id: Uuid, request: LaunchRequest, error: ServiceError) -> PageResult {
    let LaunchRequest { parameters: values, repository, snapshot, .. } = request;
    let (_, template) = find(visitor, template_id).await?;
    let (status, errors, notice) = match &error {
        ServiceError::Invalid(errors) => (StatusCode::UNPROCESSABLE_ENTITY, errors.clone(), None),
        error_ => match notices::of(visitor.t, error_, false) {
            Some((status, notice)) => {
                let back = launch_path(template_id, repository.as_ref());
                (status, Vec::new(), Some(notice.with_blockers(visitor, error_, back).await?))
            }
            None => return Err(error.into()),
        },
    };
    let prefill = Prefill { values, errors, ..Prefill::default() };
    let form = Form { status, prefill, repository, snapshot, notice, is_answer: true };
    let mut response = show_form(visitor, &template, form).await?;
    notices::set_retry_after(&mut response, &error);
    Ok(response)
}

/// Returns the idempotency key of a launch by `?start=1`: two tabs that open the link at the same time launch once. The
/// key changes with the reader's newest workshop of the template, so the link launches again after that workshop.
async fn start_key(visitor: &Visitor, template_id: Uuid) -> Result<String, ServiceError> {
    let filter = InstanceFilter { template_id: Some(template_id), ..visitor.own(StateFilter::All) };
    let newest = visitor.launcher.instances(&visitor.caller, &filter, &Page { limit: 1, after: None }).await?;
    let newest = newest.first().map_or("", |listed| &listed.instance.k8s_name);
    Ok(format!("start-{template_id}-{newest}"))
}

/// Returns the path of the template's page if htmx sent the form from there.
fn launch_page(headers: &HeaderMap, template_id: Uuid) -> Option<String> {
    let shown: Uri = headers.get("hx-current-url")?.to_str().ok()?.parse().ok()?;
    let page = format!("/launch/{template_id}");
    (shown.path() == page).then_some(page)
}

/// Returns true if the reader opened the page by the address bar or a bookmark. The browser says so in headers that no
/// page can set (Fetch Metadata). Loading a page in advance does not count, also not by an older header. The headers
/// stay the same if the opened address redirects here, so an address of another site that the reader opens can launch.
fn is_opened_directly(headers: &HeaderMap) -> bool {
    let value = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    value("sec-fetch-site") == Some("none")
        && value("sec-fetch-mode") == Some("navigate")
        && value("sec-fetch-dest") == Some("document")
        && ["sec-purpose", "purpose", "x-purpose", "x-moz"].into_iter().all(|name| !headers.contains_key(name))
}

/// Returns the path to open after a launch: `return_to`, or the waiting page instead of the start page.
fn next(return_to: &LocalPath, launched: Option<&Launched>) -> LocalPath {
    launched
        .filter(|_| return_to.as_str() == "/")
        .and_then(|launched| LocalPath::parse(&paths::waiting(&launched.listed.instance.k8s_name)))
        .unwrap_or_else(|| return_to.clone())
}

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
    description: String,
    active: bool,
    /// True if the reader may launch the template, and no workshop of theirs uses the same files.
    can_launch: bool,
    back: String,
    inactive_text: Text,
    share: Share,
    repository: Option<RepositoryDraft>,
    /// The saved files with which the workshop starts.
    files: Option<LaunchFiles>,
    /// Error of a launch that does not concern a field.
    notice: Option<Notice>,
    fields: Vec<LaunchField>,
    /// Fields with errors, for the summary above the form.
    wrong: Vec<LaunchField>,
    /// Errors of parameters that the template does not have.
    unknown: Vec<String>,
    /// Names of parameters whose values a link cannot give.
    ignored: String,
}

#[derive(Debug)]
struct LaunchFiles {
    snapshot_id: Uuid,
    workshop: String,
    saved: Instant,
}

impl LaunchFiles {
    async fn of(visitor: &Visitor, snapshot_id: Uuid) -> Result<Self, ServiceError> {
        let snapshot = visitor.launcher.snapshot(&visitor.caller, snapshot_id).await?;
        if snapshot.owner_email != *visitor.caller.email() {
            return Err(ServiceError::NotFound);
        }
        Ok(Self { snapshot_id, workshop: snapshot.k8s_name, saved: Instant::new(visitor.t, snapshot.created_at) })
    }
}

/// The content of a launch form, and the answer to its last sending.
#[derive(Debug, Default)]
struct Form {
    status: StatusCode,
    prefill: Prefill,
    repository: Option<RepositoryDraft>,
    snapshot: Option<Uuid>,
    notice: Option<Notice>,
    /// True if the page answers a sent form.
    is_answer: bool,
}

impl Form {
    fn filled(prefill: Prefill, repository: Option<RepositoryDraft>) -> Self {
        Self { prefill, repository, ..Self::default() }
    }
}

async fn show_form(visitor: &Visitor, template: &CatalogTemplate, form: Form) -> PageResult {
    let t = visitor.t;
    let Form { status, mut prefill, repository, snapshot, notice, is_answer } = form;
    let files = match snapshot {
        Some(snapshot_id) => Some(LaunchFiles::of(visitor, snapshot_id).await?),
        None => None,
    };
    let (template_id, parameters) = (template.template_id, &template.settings.parameters);
    let mut mine = workshops::own_workshops_of(visitor, template_id).await?;
    let failed = mine.first().filter(|newest| newest.is_failed()).cloned();
    mine.retain(|workshop| !workshop.is_failed());
    if let Some(failed) = failed.as_ref().filter(|_| !is_answer && prefill.is_empty()) {
        prefill = Prefill::of_launch(parameters, &failed.parameter_values);
    }
    let fields: Vec<_> = parameters.iter().map(|parameter| LaunchField::new(t, parameter, &prefill)).collect();
    let has_field = |error: &FieldError| fields.iter().any(|field| error.pointer == field.pointer());
    let unknown = prefill.errors.iter().filter(|error| !has_field(error)).map(|error| t.field_error(error)).collect();
    let frame = visitor.shell("");
    let class = visitor.launcher.class_of_template(&visitor.caller, template_id).await?;
    let can_launch = can_launch(visitor, class.as_ref(), template);
    let class = class.map(|access| access.class().content.name.clone());
    let card = Card { class, ..Card::new(visitor, template) };
    let launch = LaunchPage {
        t,
        shell: if is_answer { frame.returning_to(launch_path(template_id, repository.as_ref())) } else { frame },
        can_launch: can_launch && !(card.is_single && mine.iter().any(WorkshopView::can_end)),
        back: launch_path(template_id, repository.as_ref()),
        card,
        mine,
        failed,
        description: markdown::to_html(&template.settings.description),
        active: template.active,
        inactive_text: if can_launch { t.text("inactive-admin") } else { t.text("inactive-user") },
        share: Share::new(&visitor.state, template),
        notice,
        wrong: fields.iter().filter(|field| !field.error.is_empty()).cloned().collect(),
        fields,
        unknown,
        ignored: prefill.ignored.join(", "),
        repository,
        files,
    };
    page_with(status, &launch)
}

/// Returns a template of the shared catalog, or of a class of the reader with the reader's access to it.
async fn find(visitor: &Visitor, id: Uuid) -> Result<(Option<ClassAccess>, CatalogTemplate), ServiceError> {
    let class = visitor.launcher.class_of_template(&visitor.caller, id).await?;
    let catalog = Catalog::of(&visitor.caller, class.as_ref());
    let template = visitor.launcher.template(catalog, id).await?;
    Ok((class, template))
}

fn can_launch(visitor: &Visitor, class: Option<&ClassAccess>, template: &CatalogTemplate) -> bool {
    let caller = &visitor.caller;
    match class {
        None if template.active => allows::<LaunchActive>(caller),
        None => allows::<LaunchInactive>(caller),
        Some(access) => access.launches(template.active, visitor.launcher.clock().now()),
    }
}
