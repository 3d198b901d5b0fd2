//! The template editor: list, new, edit, archive, restore.

use askama::Template;
use axum::extract::State;
use http::StatusCode;
use launcher_domain::local_path::LocalPath;
use launcher_domain::{Caller, Listing, Template as CatalogTemplate, TemplateDraft};
use launcher_service::{ServiceError, TemplateUpdate};
use serde::Deserialize;
use uuid::Uuid;

use super::fields::{Field, Group, Kind, groups};
use super::form::{FormErrors, Next, TemplateForm};
use super::lines;
use crate::extract::TemplateId;
use crate::pages::forms::{self, Fields, Query};
use crate::pages::html::{PageResult, page, shell};
use crate::pages::texts::editor as words;
use crate::pages::view::{Card, Instant, Notice, Shell};
use crate::pages::{assets, markdown, share, texts, workshops};
use crate::permission::{Allowed, ManageTemplates};
use crate::state::AppState;

/// Domain of addresses that belong to no person (RFC 2606), such as the author of seed templates.
const NOBODYS: &str = ".invalid";
const LIST: &str = "/admin/templates";

#[derive(Debug, Template)]
#[template(path = "admin/templates.html")]
struct ListPage {
    shell: Shell,
    notice: Option<Notice>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    card: Card,
    image: String,
    active: bool,
    /// Public URL of the template's page.
    url: String,
    updated: Instant,
    /// Author of the template; `None` for a seed template.
    created_by: Option<String>,
}

#[derive(Debug, Template)]
#[template(path = "admin/template_form.html")]
struct FormPage {
    shell: Shell,
    notice: Option<Notice>,
    heading: &'static str,
    submit: &'static str,
    action: String,
    template_id: Option<String>,
    version: Option<String>,
    preview: Option<Preview>,
    /// Fields with errors, for the summary above the form.
    summary: Vec<Field>,
    groups: Vec<Group>,
}

/// An unsaved template as users would see it.
#[derive(Debug)]
struct Preview {
    card: Card,
    /// The description as sanitized HTML.
    description: String,
}

/// Purpose of the editor: a new template, or a change of this template.
enum Purpose {
    New,
    Edit(Uuid),
}

/// `GET /admin/templates`.
pub(crate) async fn list(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
) -> PageResult {
    let templates = workshops::all_templates(&state.launcher, &caller).await?;
    let row = |template: &CatalogTemplate| Row {
        card: Card::new(&state.launcher, template),
        image: template.settings.image.clone(),
        active: template.active,
        url: share::url(&state, template.template_id),
        updated: template.updated_at.into(),
        created_by: Some(template.created_by.to_string()).filter(|email| !email.ends_with(NOBODYS)),
    };
    let rows = templates.iter().map(row).collect();
    page(StatusCode::OK, &ListPage { shell: shell(&state, &caller, "admin-templates"), notice: None, rows })
}

/// Query of the page with the form for a new template.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NewQuery {
    /// Id of the template to copy; empty for an empty form.
    from: String,
}

/// `GET /admin/templates/new`: the form for a new template, empty or with the values of another template.
pub(crate) async fn new(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    Query(query): Query<NewQuery>,
) -> PageResult {
    let form = match Uuid::try_parse(&query.from) {
        Ok(id) => TemplateForm::copy_of(&state.launcher.template(&caller, id).await?),
        Err(_) => TemplateForm::new_template(),
    };
    let form = TemplateForm { template_id: state.launcher.draw_template_id().to_string(), ..form };
    editor(&state, &caller, &Purpose::New, &form, &FormErrors::default(), (StatusCode::OK, None))
}

/// `POST /admin/templates`.
pub(crate) async fn create(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    Fields(form): Fields<TemplateForm>,
) -> PageResult {
    let created = match form.draft() {
        Ok(draft) if form.next == Next::Preview => return preview(&state, &caller, &Purpose::New, &form, draft),
        Ok(draft) => {
            let drawn = Uuid::try_parse(&form.template_id).unwrap_or_else(|_| state.launcher.draw_template_id());
            state.launcher.create_template_once(&caller, drawn, draft).await
        }
        Err(errors) => return refused(&state, &caller, &Purpose::New, &form, &errors),
    };
    match created {
        Ok(template) => Ok(saved(&form, template.template_id)),
        Err(ServiceError::Invalid(errors)) => {
            refused(&state, &caller, &Purpose::New, &form, &FormErrors::from_fields(&errors))
        }
        Err(error) => Err(error.into()),
    }
}

/// `GET /admin/templates/{template_id}/edit`.
pub(crate) async fn edit(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
) -> PageResult {
    let template = state.launcher.template(&caller, id).await?;
    let form = TemplateForm::of(&template);
    let purpose = Purpose::Edit(id);
    editor(&state, &caller, &purpose, &form, &FormErrors::default(), (StatusCode::OK, None))
}

/// `POST /admin/templates/{template_id}`.
pub(crate) async fn update(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
    Fields(form): Fields<TemplateForm>,
) -> PageResult {
    let purpose = Purpose::Edit(id);
    let before = state.launcher.template(&caller, id).await?;
    let draft = match form.draft() {
        Ok(draft) if form.next == Next::Preview => return preview(&state, &caller, &purpose, &form, draft),
        Ok(draft) => keep_listing(keep_line_breaks(draft, &before), &before),
        Err(errors) => return refused(&state, &caller, &purpose, &form, &errors),
    };
    // A form without a readable version expects version 0, which no template has: it must not overwrite the change of
    // another admin.
    let expected_version = Some(form.version.parse().unwrap_or(0));
    match state.launcher.update_template(&caller, id, TemplateUpdate { draft, expected_version }).await {
        Ok(_) => Ok(saved(&form, id)),
        Err(ServiceError::VersionMismatch) => {
            let current = state.launcher.template(&caller, id).await?;
            let form = TemplateForm { version: current.version.to_string(), ..form };
            editor(&state, &caller, &purpose, &form, &FormErrors::default(), (StatusCode::CONFLICT, Some(conflict())))
        }
        Err(ServiceError::Invalid(errors)) => {
            refused(&state, &caller, &purpose, &form, &FormErrors::from_fields(&errors))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /admin/templates/{template_id}/archive`.
pub(crate) async fn archive(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
) -> PageResult {
    state.launcher.archive_template(&caller, id, None).await?;
    Ok(to_list())
}

/// `POST /admin/templates/{template_id}/restore`: puts the template back into the catalog, unchanged.
pub(crate) async fn restore(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
) -> PageResult {
    let template = state.launcher.template(&caller, id).await?;
    let draft = TemplateDraft { active: true, ..TemplateDraft::from(&template) };
    let update = TemplateUpdate { draft, expected_version: Some(template.version) };
    state.launcher.update_template(&caller, id, update).await?;
    Ok(to_list())
}

/// Restores the stored line breaks of a description that was not edited: browsers send every line break as CR LF.
fn keep_line_breaks(mut draft: TemplateDraft, before: &CatalogTemplate) -> TemplateDraft {
    if draft.description == lines::normal(&before.settings.description) {
        draft.description.clone_from(&before.settings.description);
    }
    draft
}

/// Restores the fields that the form lacks.
fn keep_listing(draft: TemplateDraft, before: &CatalogTemplate) -> TemplateDraft {
    let Listing { tags, icon, unlisted, slug } = before.listing.clone();
    TemplateDraft { tags, icon, unlisted, slug, ..draft }
}

/// Redirects to the page that the pressed button requests.
fn saved(form: &TemplateForm, id: Uuid) -> axum::response::Response {
    match form.next {
        Next::Try => forms::see_other(&LocalPath::parse(&format!("/launch/{id}")).unwrap_or_else(LocalPath::root)),
        Next::Save | Next::Preview => to_list(),
    }
}

fn to_list() -> axum::response::Response {
    forms::see_other(&LocalPath::parse(LIST).unwrap_or_else(LocalPath::root))
}

fn conflict() -> Notice {
    Notice { kind: "wait", title: words::CONFLICT_TITLE.to_owned(), text: words::CONFLICT.to_owned() }
}

fn refused(
    state: &AppState,
    caller: &Caller,
    purpose: &Purpose,
    form: &TemplateForm,
    errors: &FormErrors,
) -> PageResult {
    editor(state, caller, purpose, form, errors, (StatusCode::UNPROCESSABLE_ENTITY, None))
}

/// Shows the form as it was sent, with a preview of the template.
fn preview(
    state: &AppState,
    caller: &Caller,
    purpose: &Purpose,
    form: &TemplateForm,
    draft: TemplateDraft,
) -> PageResult {
    let settings = match draft.validate() {
        Ok(valid) => valid.settings,
        Err(errors) => return refused(state, caller, purpose, form, &FormErrors::from_fields(&errors)),
    };
    let card = Card::of(&state.launcher, Uuid::nil(), &settings);
    let preview = Preview { card, description: markdown::to_html(&settings.description) };
    let mut form_page = form_page(state, caller, purpose, form, &FormErrors::default());
    form_page.preview = Some(preview);
    page(StatusCode::OK, &form_page)
}

fn editor(
    state: &AppState,
    caller: &Caller,
    purpose: &Purpose,
    form: &TemplateForm,
    errors: &FormErrors,
    (status, notice): (StatusCode, Option<Notice>),
) -> PageResult {
    page(status, &FormPage { notice, ..form_page(state, caller, purpose, form, errors) })
}

fn form_page(
    state: &AppState,
    caller: &Caller,
    purpose: &Purpose,
    form: &TemplateForm,
    errors: &FormErrors,
) -> FormPage {
    let groups = groups(form, errors);
    let wrong = groups.iter().flat_map(|group| &group.fields).filter(|field| !field.error.is_empty());
    let summary = wrong.cloned().collect();
    let (heading, submit, action) = match purpose {
        Purpose::New => (words::NEW_TEMPLATE, words::CREATE, LIST.to_owned()),
        Purpose::Edit(id) => (texts::EDIT_TEMPLATE, words::SAVE, format!("{LIST}/{id}")),
    };
    let (template_id, version) = match purpose {
        Purpose::New => (Some(form.template_id.clone()), None),
        Purpose::Edit(_) => (None, Some(form.version.clone())),
    };
    let shell = shell(state, caller, "admin-templates");
    FormPage { shell, notice: None, heading, submit, action, template_id, version, preview: None, summary, groups }
}
