//! The template editor: new, edit, preview, save.

use std::ops::ControlFlow;

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use launcher_domain::{JsonObject, Template as CatalogTemplate};
use launcher_service::{ServiceError, TemplateUpdate};
use serde::Deserialize;
use uuid::Uuid;

use super::form::{self, Field, FormErrors, Group, Next, TemplateForm};
use super::images::{self, ImageLine, ImageQuery, Place};
use crate::extract::TemplateId;
use crate::pages::admin::fields::Kind;
use crate::pages::admin::presets::{self, ChosenPreset, Preset, PresetCard};
use crate::pages::paths::TEMPLATES;
use crate::pages::view::{Card, Notice};
use crate::pages::{
    Fields, Language, PageResult, Query, Shell, Text, Visitor, assets, forms, markdown, page, page_with,
};
use crate::permission::{Allowed, ManageTemplates};

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
    presets: Vec<PresetCard>,
    chosen: Option<ChosenPreset>,
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
#[derive(Clone, Copy)]
enum Purpose {
    New,
    Edit(Uuid),
}

impl Purpose {
    /// Path of the page with the form, as it was before any change.
    fn form_path(self) -> String {
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
    /// Name of the preset that fills the form; empty for none.
    preset: String,
}

/// `GET /admin/templates/new`: the form for a new template: empty, or with the values of another template or of a preset.
pub(crate) async fn new(visitor: Allowed<ManageTemplates, Visitor>, Query(query): Query<NewQuery>) -> PageResult {
    let t = visitor.t;
    let mut form = match Uuid::try_parse(&query.from) {
        Ok(id) => TemplateForm::copy_of(t, &visitor.launcher.template(&visitor.caller, id).await?),
        Err(_) => match Preset::named(&query.preset) {
            Some(preset) => {
                let ignores_image = visitor.process.ignored_fields.contains(&"image");
                TemplateForm::showing(preset.template(&preset.label(t), ignores_image)).of_preset(preset.name)
            }
            None => TemplateForm::new_template(),
        },
    };
    form.controls.template_id = visitor.launcher.draw_template_id().to_string();
    page(&Editor { visitor, purpose: Purpose::New, form }.page(&FormErrors::default()))
}

pub(crate) async fn create(
    visitor: Allowed<ManageTemplates, Visitor>,
    Fields(form): Fields<TemplateForm>,
) -> PageResult {
    let editor = Editor { visitor, purpose: Purpose::New, form };
    let body = match editor.body() {
        ControlFlow::Continue(body) => body,
        ControlFlow::Break(answer) => return answer,
    };
    let launcher = &editor.visitor.launcher;
    let drawn = Uuid::try_parse(&editor.form.controls.template_id).unwrap_or_else(|_| launcher.draw_template_id());
    match launcher.create_template_once(&editor.visitor.caller, drawn, &body).await {
        Ok(template) => Ok(forms::redirect(&after_save(&editor.form, template.template_id))),
        Err(error) => editor.failed(error),
    }
}

pub(crate) async fn edit(
    visitor: Allowed<ManageTemplates, Visitor>,
    TemplateId(id): TemplateId,
    Query(query): Query<ImageQuery>,
) -> PageResult {
    let template = visitor.launcher.template(&visitor.caller, id).await?;
    let image = images::lines(&visitor, Place::Edit, std::slice::from_ref(&template)).await?.remove(&id);
    let notice = query.notice(visitor.t, &image);
    let editor = Editor { visitor, purpose: Purpose::Edit(id), form: TemplateForm::of(&template) };
    page(&FormPage { notice, image, ..editor.page(&FormErrors::default()) })
}

pub(crate) async fn update(
    visitor: Allowed<ManageTemplates, Visitor>,
    TemplateId(id): TemplateId,
    Fields(form): Fields<TemplateForm>,
) -> PageResult {
    let before = visitor.launcher.template(&visitor.caller, id).await?;
    let mut editor = Editor { visitor, purpose: Purpose::Edit(id), form };
    let body = match editor.body() {
        ControlFlow::Continue(body) => form::kept(editor.visitor.t, body, &before),
        ControlFlow::Break(answer) => return answer,
    };
    let t = editor.visitor.t;
    // A form without a readable version expects version 0, which no template has: it must not overwrite the change of
    // another admin.
    let update = TemplateUpdate { body, expected_version: Some(editor.form.controls.version.parse().unwrap_or(0)) };
    match editor.visitor.launcher.update_template(&editor.visitor.caller, id, update).await {
        Ok(after) => Ok(editor.saved(&before, &after).await),
        Err(ServiceError::VersionMismatch) => {
            let current = editor.visitor.launcher.template(&editor.visitor.caller, id).await?;
            editor.form.controls.version = current.version.to_string();
            let (title, text) = (t.text("editor-conflict-title"), t.text("editor-conflict"));
            let notice = Some(Notice { kind: "wait", title, text, blockers: None });
            page_with(StatusCode::CONFLICT, &FormPage { notice, ..editor.answer(&FormErrors::default()) })
        }
        Err(error) => editor.failed(error),
    }
}

/// Returns the path of the page that the pressed button requests.
fn after_save(form: &TemplateForm, id: Uuid) -> String {
    match form.controls.next {
        Next::Try => format!("/launch/{id}"),
        Next::Save | Next::Preview => format!("{TEMPLATES}?saved={id}"),
    }
}

/// The form of a template, and its purpose.
struct Editor {
    visitor: Allowed<ManageTemplates, Visitor>,
    purpose: Purpose,
    form: TemplateForm,
}

impl Editor {
    /// Returns the template of a sent form, or the answer to a form that shall not be saved: the form in another
    /// language, with its errors, or with a preview.
    fn body(&self) -> ControlFlow<PageResult, JsonObject> {
        if !self.form.controls.language.is_empty() {
            return ControlFlow::Break(self.in_language());
        }
        match self.form.body(self.visitor.t, &self.visitor.launcher) {
            Ok(body) if self.form.controls.next == Next::Preview => ControlFlow::Break(self.preview(&body)),
            Ok(body) => ControlFlow::Continue(body),
            Err(errors) => ControlFlow::Break(self.refused(&errors)),
        }
    }

    /// Redirects after a change. If the maximum lifetime was raised, first asks if it applies to the current workshops.
    async fn saved(&self, before: &CatalogTemplate, after: &CatalogTemplate) -> Response {
        let (id, next) = (after.template_id, after_save(&self.form, after.template_id));
        let is_raised = after.settings.max_lifetime_seconds > before.settings.max_lifetime_seconds;
        let (launcher, caller) = (&self.visitor.launcher, &self.visitor.caller);
        if !is_raised || launcher.count_below_maximum(caller, id).await.is_ok_and(|count| count == 0) {
            return forms::redirect(&next);
        }
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("return_to", &next).finish();
        forms::redirect(&format!("{TEMPLATES}/{id}/maximum?{query}"))
    }

    /// Shows the form as it was sent, in the chosen language. The browser remembers this language.
    fn in_language(&self) -> PageResult {
        let t = Language::with_code(&self.form.controls.language).unwrap_or(self.visitor.t);
        let shows_errors = !self.form.controls.shows_errors.is_empty();
        let found = shows_errors.then(|| self.form.body(t, &self.visitor.launcher).err()).flatten().unwrap_or_default();
        let visitor = self.visitor.clone().map(|visitor| visitor.in_language(t));
        let editor = Self { visitor, purpose: self.purpose, form: self.form.clone() };
        let mut response = page(&editor.answer(&found))?;
        let (name, value) = t.cookie(self.visitor.settings.is_https());
        response.headers_mut().insert(name, value);
        Ok(response)
    }

    /// Shows the form as it was sent, with a preview of the template.
    fn preview(&self, body: &JsonObject) -> PageResult {
        let content = match self.visitor.launcher.validate_template(body) {
            Ok(content) => content,
            Err(errors) => return self.refused(&self.form.errors(self.visitor.t, &errors)),
        };
        let card = Card::of(&self.visitor, Uuid::nil(), &content.settings, &content.listing);
        let preview = Some(Preview { card, description: markdown::to_html(&content.settings.description) });
        page(&FormPage { preview, ..self.answer(&FormErrors::default()) })
    }

    /// Shows the form with the errors that the service found.
    fn failed(&self, error: ServiceError) -> PageResult {
        match error {
            ServiceError::Invalid(errors) => self.refused(&self.form.errors(self.visitor.t, &errors)),
            error => Err(error.into()),
        }
    }

    fn refused(&self, errors: &FormErrors) -> PageResult {
        page_with(StatusCode::UNPROCESSABLE_ENTITY, &self.answer(errors))
    }

    /// Returns the page that answers a sent form: the form as it was sent.
    fn answer(&self, errors: &FormErrors) -> FormPage {
        let form_page = self.page(errors);
        FormPage { shell: form_page.shell.returning_to(self.purpose.form_path()), ..form_page }
    }

    fn page(&self, errors: &FormErrors) -> FormPage {
        let Self { visitor, purpose, form } = self;
        let t = visitor.t;
        let groups = form.groups(t, errors, visitor.process.ignored_fields);
        let wrong = groups.iter().flat_map(|group| &group.fields).filter(|field| !field.error.is_empty());
        let summary: Vec<Field> = wrong.cloned().collect();
        let (advanced, basic): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(|group| group.is_advanced);
        let (heading, submit, action) = match purpose {
            Purpose::New => (t.text("editor-new-template"), t.text("editor-create"), TEMPLATES.to_owned()),
            Purpose::Edit(id) => (t.text("edit-template"), t.text("editor-save"), format!("{TEMPLATES}/{id}")),
        };
        let preset = &form.controls.preset;
        let (template_id, version, presets) = match purpose {
            Purpose::New => (Some(form.controls.template_id.clone()), None, presets::cards(t, preset)),
            Purpose::Edit(_) => (None, Some(form.controls.version.clone()), Vec::new()),
        };
        FormPage {
            t,
            shell: Shell { language_form: Some(FORM_ID), ..visitor.shell("admin-templates") },
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
            is_advanced_open: advanced.iter().flat_map(|group| &group.fields).any(|field| !field.error.is_empty()),
            advanced,
            presets,
            chosen: ChosenPreset::named(t, preset),
            image: None,
        }
    }
}
