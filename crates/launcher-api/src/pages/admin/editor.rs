//! The template editor: new, edit, preview, save.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use launcher_domain::local_path::LocalPath;
use launcher_domain::{Caller, Listing, Template as CatalogTemplate, TemplateDraft};
use launcher_service::{ServiceError, TemplateUpdate};
use serde::Deserialize;
use uuid::Uuid;

use super::fields::{Field, Group, Kind, groups};
use super::form::{FormErrors, Next, TemplateForm};
use super::lines;
use super::templates::{LIST, to_list};
use crate::extract::TemplateId;
use crate::pages::forms::{self, Fields, Query};
use crate::pages::html::{PageResult, page, shell};
use crate::pages::language::{Language, Text};
use crate::pages::view::{Card, Notice, Shell};
use crate::pages::{assets, markdown};
use crate::permission::{Allowed, ManageTemplates};
use crate::state::AppState;

#[derive(Debug, Template)]
#[template(path = "admin/template_form.html")]
struct FormPage {
    t: Language,
    shell: Shell,
    notice: Option<Notice>,
    heading: Text,
    submit: Text,
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
    t: Language,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    Query(query): Query<NewQuery>,
) -> PageResult {
    let form = match Uuid::try_parse(&query.from) {
        Ok(id) => TemplateForm::copy_of(t, &state.launcher.template(&caller, id).await?),
        Err(_) => TemplateForm::new_template(),
    };
    let form = TemplateForm { template_id: state.launcher.draw_template_id().to_string(), ..form };
    editor(&state, &caller, t, &Purpose::New, &form, &FormErrors::default(), (StatusCode::OK, None))
}

/// `POST /admin/templates`.
pub(crate) async fn create(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    Fields(form): Fields<TemplateForm>,
) -> PageResult {
    let created = match form.draft(t) {
        Ok(draft) if form.next == Next::Preview => return preview(&state, &caller, t, &Purpose::New, &form, draft),
        Ok(draft) => {
            let drawn = Uuid::try_parse(&form.template_id).unwrap_or_else(|_| state.launcher.draw_template_id());
            state.launcher.create_template_once(&caller, drawn, draft).await
        }
        Err(errors) => return refused(&state, &caller, t, &Purpose::New, &form, &errors),
    };
    match created {
        Ok(template) => Ok(saved(&form, template.template_id)),
        Err(ServiceError::Invalid(errors)) => {
            refused(&state, &caller, t, &Purpose::New, &form, &FormErrors::from_fields(t, &errors))
        }
        Err(error) => Err(error.into()),
    }
}

/// `GET /admin/templates/{template_id}/edit`.
pub(crate) async fn edit(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
) -> PageResult {
    let template = state.launcher.template(&caller, id).await?;
    let form = TemplateForm::of(&template);
    let purpose = Purpose::Edit(id);
    editor(&state, &caller, t, &purpose, &form, &FormErrors::default(), (StatusCode::OK, None))
}

/// `POST /admin/templates/{template_id}`.
pub(crate) async fn update(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
    Fields(form): Fields<TemplateForm>,
) -> PageResult {
    let purpose = Purpose::Edit(id);
    let before = state.launcher.template(&caller, id).await?;
    let draft = match form.draft(t) {
        Ok(draft) if form.next == Next::Preview => return preview(&state, &caller, t, &purpose, &form, draft),
        Ok(draft) => keep_listing(keep_line_breaks(draft, &before), &before),
        Err(errors) => return refused(&state, &caller, t, &purpose, &form, &errors),
    };
    // A form without a readable version expects version 0, which no template has: it must not overwrite the change of
    // another admin.
    let expected_version = Some(form.version.parse().unwrap_or(0));
    match state.launcher.update_template(&caller, id, TemplateUpdate { draft, expected_version }).await {
        Ok(_) => Ok(saved(&form, id)),
        Err(ServiceError::VersionMismatch) => {
            let current = state.launcher.template(&caller, id).await?;
            let form = TemplateForm { version: current.version.to_string(), ..form };
            editor(
                &state,
                &caller,
                t,
                &purpose,
                &form,
                &FormErrors::default(),
                (StatusCode::CONFLICT, Some(conflict(t))),
            )
        }
        Err(ServiceError::Invalid(errors)) => {
            refused(&state, &caller, t, &purpose, &form, &FormErrors::from_fields(t, &errors))
        }
        Err(error) => Err(error.into()),
    }
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
fn saved(form: &TemplateForm, id: Uuid) -> Response {
    match form.next {
        Next::Try => forms::see_other(&LocalPath::parse(&format!("/launch/{id}")).unwrap_or_else(LocalPath::root)),
        Next::Save | Next::Preview => to_list(),
    }
}

fn conflict(t: Language) -> Notice {
    Notice { kind: "wait", title: t.text("editor-conflict-title"), text: t.text("editor-conflict") }
}

fn refused(
    state: &AppState,
    caller: &Caller,
    t: Language,
    purpose: &Purpose,
    form: &TemplateForm,
    errors: &FormErrors,
) -> PageResult {
    editor(state, caller, t, purpose, form, errors, (StatusCode::UNPROCESSABLE_ENTITY, None))
}

/// Shows the form as it was sent, with a preview of the template.
fn preview(
    state: &AppState,
    caller: &Caller,
    t: Language,
    purpose: &Purpose,
    form: &TemplateForm,
    draft: TemplateDraft,
) -> PageResult {
    let settings = match draft.validate() {
        Ok(valid) => valid.settings,
        Err(errors) => return refused(state, caller, t, purpose, form, &FormErrors::from_fields(t, &errors)),
    };
    let card = Card::of(t, &state.launcher, Uuid::nil(), &settings);
    let preview = Preview { card, description: markdown::to_html(&settings.description) };
    let mut form_page = form_page(state, caller, t, purpose, form, &FormErrors::default());
    form_page.preview = Some(preview);
    page(StatusCode::OK, &form_page)
}

fn editor(
    state: &AppState,
    caller: &Caller,
    t: Language,
    purpose: &Purpose,
    form: &TemplateForm,
    errors: &FormErrors,
    (status, notice): (StatusCode, Option<Notice>),
) -> PageResult {
    page(status, &FormPage { notice, ..form_page(state, caller, t, purpose, form, errors) })
}

fn form_page(
    state: &AppState,
    caller: &Caller,
    t: Language,
    purpose: &Purpose,
    form: &TemplateForm,
    errors: &FormErrors,
) -> FormPage {
    let groups = groups(t, form, errors);
    let wrong = groups.iter().flat_map(|group| &group.fields).filter(|field| !field.error.is_empty());
    let summary = wrong.cloned().collect();
    let (heading, submit, action) = match purpose {
        Purpose::New => (t.text("editor-new-template"), t.text("editor-create"), LIST.to_owned()),
        Purpose::Edit(id) => (t.text("edit-template"), t.text("editor-save"), format!("{LIST}/{id}")),
    };
    let (template_id, version) = match purpose {
        Purpose::New => (Some(form.template_id.clone()), None),
        Purpose::Edit(_) => (None, Some(form.version.clone())),
    };
    let shell = shell(state, caller, t, "admin-templates");
    FormPage { t, shell, notice: None, heading, submit, action, template_id, version, preview: None, summary, groups }
}
