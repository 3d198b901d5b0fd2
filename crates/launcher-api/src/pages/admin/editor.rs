//! The template editor: new, edit, preview, save.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use launcher_domain::local_path::LocalPath;
use launcher_domain::{Caller, JsonObject};
use launcher_service::{ServiceError, TemplateUpdate};
use serde::Deserialize;
use uuid::Uuid;

use super::form::{self, Field, FormErrors, Group, Next, TemplateForm};
use super::images::{self, ImageLine, ImageQuery};
use super::templates::to_saved;
use crate::extract::TemplateId;
use crate::pages::admin::fields::Kind;
use crate::pages::admin::form::{Start, StartingPoint, starting_choices};
use crate::pages::forms::{self, Fields, Query};
use crate::pages::html::{PageResult, page, shell};
use crate::pages::language::{Language, Text};
use crate::pages::paths::TEMPLATES;
use crate::pages::view::{Card, Notice, Shell};
use crate::pages::{assets, markdown};
use crate::permission::{Allowed, ManageTemplates};
use crate::state::AppState;

/// `id` of the form in the HTML template.
const FORM_ID: &str = "template-form";

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
    /// True if the page answers a form with errors: it shows them again after a choice of the language.
    shows_errors: bool,
    /// Fields with errors, for the summary above the form.
    summary: Vec<Field>,
    basic: Vec<Group>,
    advanced: Vec<Group>,
    /// True to show the advanced fields at once, because one has an error.
    is_advanced_open: bool,
    /// The starting points of a new template.
    starting: Vec<Start>,
    /// State of the template's image, if the fleet has images.
    image: Option<ImageLine>,
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

impl Purpose {
    /// Path of the page with the form, as it was before any change.
    fn form_path(&self) -> String {
        match self {
            Self::New => format!("{TEMPLATES}/new"),
            Self::Edit(id) => format!("{TEMPLATES}/{id}/edit"),
        }
    }
}

/// Query of the page with the form for a new template.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NewQuery {
    /// Id of the template to copy; empty for an empty form.
    from: String,
    /// Name of a starting point.
    start: String,
}

/// `GET /admin/templates/new`: the form for a new template, empty or with the values of another template.
pub(crate) async fn new(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    Query(query): Query<NewQuery>,
) -> PageResult {
    let mut form = match Uuid::try_parse(&query.from) {
        Ok(id) => TemplateForm::copy_of(t, &state.launcher.template(&caller, id).await?),
        Err(_) => match StartingPoint::named(&query.start) {
            Some(point) => point.form(&t.text(&format!("start-{}", point.name))),
            None => TemplateForm::new_template(),
        },
    };
    form.controls.template_id = state.launcher.draw_template_id().to_string();
    page(StatusCode::OK, &form_page(&state, &caller, t, &Purpose::New, &form, &FormErrors::default()))
}

/// `POST /admin/templates`.
pub(crate) async fn create(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    Fields(form): Fields<TemplateForm>,
) -> PageResult {
    if !form.controls.language.is_empty() {
        return in_language(&state, &caller, t, &Purpose::New, &form);
    }
    let created = match form.body(t, &state.launcher) {
        Ok(body) if form.controls.next == Next::Preview => {
            return preview(&state, &caller, t, &Purpose::New, &form, &body);
        }
        Ok(body) => {
            let drawn =
                Uuid::try_parse(&form.controls.template_id).unwrap_or_else(|_| state.launcher.draw_template_id());
            state.launcher.create_template_once(&caller, drawn, &body).await
        }
        Err(errors) => return refused(&state, &caller, t, &Purpose::New, &form, &errors),
    };
    match created {
        Ok(template) => Ok(saved(&form, template.template_id)),
        Err(ServiceError::Invalid(errors)) => {
            refused(&state, &caller, t, &Purpose::New, &form, &form.errors(t, &errors))
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
    Query(query): Query<ImageQuery>,
) -> PageResult {
    let template = state.launcher.template(&caller, id).await?;
    let form = TemplateForm::of(&template);
    let form_page = form_page(&state, &caller, t, &Purpose::Edit(id), &form, &FormErrors::default());
    let image = images::line(&state, &caller, t, &template).await?;
    let notice = query.notice(t, &image);
    page(StatusCode::OK, &FormPage { notice, image, ..form_page })
}

/// `POST /admin/templates/{template_id}`.
pub(crate) async fn update(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
    Fields(mut form): Fields<TemplateForm>,
) -> PageResult {
    let purpose = Purpose::Edit(id);
    let before = state.launcher.template(&caller, id).await?;
    if !form.controls.language.is_empty() {
        return in_language(&state, &caller, t, &purpose, &form);
    }
    let body = match form.body(t, &state.launcher) {
        Ok(body) if form.controls.next == Next::Preview => return preview(&state, &caller, t, &purpose, &form, &body),
        Ok(body) => form::kept(t, body, &before),
        Err(errors) => return refused(&state, &caller, t, &purpose, &form, &errors),
    };
    // A form without a readable version expects version 0, which no template has: it must not overwrite the change of
    // another admin.
    let expected_version = Some(form.controls.version.parse().unwrap_or(0));
    match state.launcher.update_template(&caller, id, TemplateUpdate { body, expected_version }).await {
        Ok(_) => Ok(saved(&form, id)),
        Err(ServiceError::VersionMismatch) => {
            let current = state.launcher.template(&caller, id).await?;
            form.controls.version = current.version.to_string();
            let mut answer = answer(&state, &caller, t, &purpose, &form, &FormErrors::default());
            answer.notice = Some(conflict(t));
            page(StatusCode::CONFLICT, &answer)
        }
        Err(ServiceError::Invalid(errors)) => refused(&state, &caller, t, &purpose, &form, &form.errors(t, &errors)),
        Err(error) => Err(error.into()),
    }
}

/// Redirects to the page that the pressed button requests.
fn saved(form: &TemplateForm, id: Uuid) -> Response {
    match form.controls.next {
        Next::Try => forms::see_other(&LocalPath::parse(&format!("/launch/{id}")).unwrap_or_else(LocalPath::root)),
        Next::Save | Next::Preview => to_saved(id),
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
    page(StatusCode::UNPROCESSABLE_ENTITY, &answer(state, caller, t, purpose, form, errors))
}

/// Shows the form as it was sent, in the chosen language. The browser remembers this language.
fn in_language(state: &AppState, caller: &Caller, t: Language, purpose: &Purpose, form: &TemplateForm) -> PageResult {
    let t = Language::with_code(&form.controls.language).unwrap_or(t);
    let found = || form.body(t, &state.launcher).err().unwrap_or_default();
    let errors = if form.controls.shows_errors.is_empty() { FormErrors::default() } else { found() };
    let mut response = page(StatusCode::OK, &answer(state, caller, t, purpose, form, &errors))?;
    let (name, value) = t.cookie(state.settings.is_https());
    response.headers_mut().insert(name, value);
    Ok(response)
}

/// Shows the form as it was sent, with a preview of the template.
fn preview(
    state: &AppState,
    caller: &Caller,
    t: Language,
    purpose: &Purpose,
    form: &TemplateForm,
    body: &JsonObject,
) -> PageResult {
    let content = match state.launcher.validate_template(body) {
        Ok(content) => content,
        Err(errors) => return refused(state, caller, t, purpose, form, &form.errors(t, &errors)),
    };
    let card = Card::of(t, &state.launcher, Uuid::nil(), &content.settings);
    let card = card.listed(&content.listing);
    let preview = Preview { card, description: markdown::to_html(&content.settings.description) };
    let mut answer = answer(state, caller, t, purpose, form, &FormErrors::default());
    answer.preview = Some(preview);
    page(StatusCode::OK, &answer)
}

/// Returns the page that answers a sent form: the form as it was sent.
fn answer(
    state: &AppState,
    caller: &Caller,
    t: Language,
    purpose: &Purpose,
    form: &TemplateForm,
    errors: &FormErrors,
) -> FormPage {
    let form_page = form_page(state, caller, t, purpose, form, errors);
    FormPage { shell: form_page.shell.returning_to(purpose.form_path()), ..form_page }
}

fn form_page(
    state: &AppState,
    caller: &Caller,
    t: Language,
    purpose: &Purpose,
    form: &TemplateForm,
    errors: &FormErrors,
) -> FormPage {
    let groups = form.groups(t, errors, state.process.ignored_fields);
    let wrong = groups.iter().flat_map(|group| &group.fields).filter(|field| !field.error.is_empty());
    let summary: Vec<Field> = wrong.cloned().collect();
    let (advanced, basic): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(|group| group.is_advanced);
    let is_advanced_open = advanced.iter().flat_map(|group| &group.fields).any(|field| !field.error.is_empty());
    let (heading, submit, action) = match purpose {
        Purpose::New => (t.text("editor-new-template"), t.text("editor-create"), TEMPLATES.to_owned()),
        Purpose::Edit(id) => (t.text("edit-template"), t.text("editor-save"), format!("{TEMPLATES}/{id}")),
    };
    let (template_id, version) = match purpose {
        Purpose::New => (Some(form.controls.template_id.clone()), None),
        Purpose::Edit(_) => (None, Some(form.controls.version.clone())),
    };
    let shell = Shell { language_form: Some(FORM_ID), ..shell(state, caller, t, "admin-templates") };
    let starting = if template_id.is_some() { starting_choices(t, form.typed("icon")) } else { Vec::new() };
    FormPage {
        t,
        shell,
        notice: None,
        heading,
        submit,
        action,
        template_id,
        version,
        preview: None,
        shows_errors: !errors.is_empty(),
        summary,
        basic,
        advanced,
        is_advanced_open,
        starting,
        image: None,
    }
}
