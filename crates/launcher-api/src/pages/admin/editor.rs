//! The template editor: new, edit, preview, save.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Deref};

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use launcher_domain::template::MaterialSource;
use launcher_domain::{
    ClassAccess, FieldError, FieldRule, JsonObject, MaterialFinding, Sizes, Template as CatalogTemplate,
};
use launcher_service::{Catalog, ServiceError, TemplateUpdate};
use serde::Deserialize;
use uuid::Uuid;

use super::form::{self, Field, FormErrors, Group, Next, Note, ShortLink, Shown, TemplateForm};
use super::images::{self, ImageLine, ImageQuery, Place};
use crate::extract::TemplateId;
use crate::pages::admin::presets::{self, Preset};
use crate::pages::classes;
use crate::pages::paths::TEMPLATES;
use crate::pages::view::{Card, Notice};
use crate::pages::{
    Fields, Language, PageResult, Query, Shell, Text, Visitor, assets, forms, markdown, page, page_with,
};
use crate::permission::{Allowed, InClass, ManageClassTemplates, ManageTemplates};

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
    /// Path of the page to which the editor leads back.
    list_path: String,
    templates_path: String,
    template_id: Option<String>,
    version: Option<String>,
    preview: Option<Preview>,
    /// True if the page answers a form with errors: it shows them again after a choice of the language.
    shows_errors: bool,
    /// Fields with errors, for the summary above the form.
    summary: Vec<Field>,
    first: Vec<Group>,
    /// Groups that the page shows only on request.
    folded: Vec<Group>,
    /// True to show them at once, because a field has an error or waits for a value.
    is_open: bool,
    /// Names and texts of the fields that the fleet ignores.
    hidden: Vec<(&'static str, String)>,
    presets: Vec<&'static Preset>,
    chosen: Option<&'static Preset>,
    /// Name of the chosen preset; empty for none.
    chosen_name: &'static str,
    /// A Dockerfile of its image, if the fleet has images and there is no public one.
    dockerfile: Option<String>,
    /// True to offer to save the template although course material was not found.
    asks: bool,
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

#[derive(Clone)]
pub(crate) struct Author {
    visitor: Visitor,
    access: Option<ClassAccess>,
}

impl From<Allowed<ManageTemplates, Visitor>> for Author {
    fn from(admin: Allowed<ManageTemplates, Visitor>) -> Self {
        Self { visitor: Visitor::clone(&admin), access: None }
    }
}

impl From<InClass<ManageClassTemplates, Visitor>> for Author {
    fn from(teacher: InClass<ManageClassTemplates, Visitor>) -> Self {
        Self { visitor: Visitor::clone(&teacher), access: Some(teacher.access) }
    }
}

impl Deref for Author {
    type Target = Visitor;

    fn deref(&self) -> &Visitor {
        &self.visitor
    }
}

impl Author {
    fn catalog(&self) -> Catalog<'_> {
        Catalog::of(&self.caller, self.access.as_ref())
    }

    fn sizes(&self) -> Sizes {
        let sizes = self.launcher.sizes();
        self.access.as_ref().map_or_else(|| sizes.clone(), |access| sizes.only(&access.class().content.allowed_sizes))
    }

    /// Images that a template here may use; empty for all.
    fn images(&self) -> &[String] {
        self.access.as_ref().map_or(&[], |access| &access.class().content.allowed_images)
    }

    fn list_path(&self) -> String {
        self.access.as_ref().map_or_else(|| TEMPLATES.to_owned(), classes::path)
    }

    fn templates_path(&self) -> String {
        let of_class = |access| format!("{}/templates", classes::path(access));
        self.access.as_ref().map_or_else(|| TEMPLATES.to_owned(), of_class)
    }

    /// Path of the page with the form, as it was before any change.
    fn form_path(&self, purpose: Purpose) -> String {
        let base = self.templates_path();
        match purpose {
            Purpose::New => format!("{base}/new"),
            Purpose::Edit(id) => format!("{base}/{id}/edit"),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NewQuery {
    /// Id of the template to copy; empty for an empty form.
    from: String,
    /// Name of the preset that fills the form; empty for none.
    preset: String,
}

/// `GET /admin/templates/new`: the form for a new template: empty, or with the values of another template or of a preset.
pub(crate) async fn new<A: Into<Author>>(author: A, Query(query): Query<NewQuery>) -> PageResult {
    let visitor: Author = author.into();
    let (t, ignored) = (visitor.t, visitor.process.ignored_fields);
    let mut form = match Uuid::try_parse(&query.from) {
        Ok(id) => TemplateForm::copy_of(t, &visitor.launcher.template(visitor.catalog(), id).await?),
        Err(_) => match Preset::named(&query.preset) {
            Some(preset) => TemplateForm::of_preset(t, preset, ignored),
            None => TemplateForm::new_template(),
        },
    };
    if query.from.is_empty() {
        form = form.fitted(t, &visitor.sizes());
    }
    form.controls.template_id = visitor.launcher.draw_id().to_string();
    page(&Editor::new(visitor, Purpose::New, form).page(&FormErrors::default()))
}

pub(crate) async fn create<A: Into<Author>>(author: A, Fields(form): Fields<TemplateForm>) -> PageResult {
    let visitor: Author = author.into();
    let sizes = &visitor.sizes();
    let mut form = form.with_size(sizes).with_chosen(visitor.t, visitor.process.ignored_fields);
    if !form.controls.choose.is_empty() {
        form = form.fitted(visitor.t, sizes);
    }
    let mut editor = Editor::new(visitor, Purpose::New, form);
    let body = match editor.body(None).await {
        ControlFlow::Continue(body) => body,
        ControlFlow::Break(answer) => return answer,
    };
    let launcher = &editor.visitor.launcher;
    let drawn = Uuid::try_parse(&editor.form.controls.template_id).unwrap_or_else(|_| launcher.draw_id());
    match create_with_slug(&editor, drawn, body).await {
        Ok(template) => Ok(forms::redirect(&editor.after_save(template.template_id))),
        Err(error) => editor.failed(error),
    }
}

/// Creates a template. Without a slug of the author, its name gives one, with a number if another template has it.
async fn create_with_slug(editor: &Editor, id: Uuid, mut body: JsonObject) -> Result<CatalogTemplate, ServiceError> {
    let (launcher, catalog) = (&editor.visitor.launcher, editor.visitor.catalog());
    for slug in editor.form.derived_slugs() {
        body.insert("slug".to_owned(), slug.into());
        let is_taken = |error: &FieldError| matches!(error.rule, FieldRule::SlugTaken { .. });
        match launcher.create_template_once(catalog, id, &body).await {
            Err(ServiceError::Invalid(errors)) if errors.iter().all(is_taken) => {}
            result => return result,
        }
    }
    if editor.form.typed("slug").trim().is_empty() {
        body.remove("slug");
    }
    launcher.create_template_once(catalog, id, &body).await
}

pub(crate) async fn edit<A: Into<Author>>(
    author: A,
    TemplateId(id): TemplateId,
    Query(query): Query<ImageQuery>,
) -> PageResult {
    let visitor: Author = author.into();
    let template = visitor.launcher.template(visitor.catalog(), id).await?;
    let image = match visitor.access {
        // Only admins pull images.
        Some(_) => None,
        None => images::lines(&visitor, Place::Edit, std::slice::from_ref(&template)).await?.remove(&id),
    };
    let notice = query.notice(visitor.t, &image);
    let editor = Editor::new(visitor, Purpose::Edit(id), TemplateForm::of(&template));
    page(&FormPage { notice, image, ..editor.page(&FormErrors::default()) })
}

pub(crate) async fn update<A: Into<Author>>(
    author: A,
    TemplateId(id): TemplateId,
    Fields(form): Fields<TemplateForm>,
) -> PageResult {
    let visitor: Author = author.into();
    let before = visitor.launcher.template(visitor.catalog(), id).await?;
    let form = form.with_size(&visitor.sizes());
    let mut editor = Editor::new(visitor, Purpose::Edit(id), form);
    let body = match editor.body(Some(&before)).await {
        ControlFlow::Continue(body) => form::kept(editor.visitor.t, body, &before),
        ControlFlow::Break(answer) => return answer,
    };
    let t = editor.visitor.t;
    // A form without a readable version expects version 0, which no template has: it must not overwrite the change of
    // another admin.
    let update = TemplateUpdate { body, expected_version: Some(editor.form.controls.version.parse().unwrap_or(0)) };
    match editor.visitor.launcher.update_template(editor.visitor.catalog(), id, update).await {
        Ok(after) => Ok(editor.saved(&before, &after).await),
        Err(ServiceError::VersionMismatch) => {
            let current = editor.visitor.launcher.template(editor.visitor.catalog(), id).await?;
            editor.form.controls.version = current.version.to_string();
            let (title, text) = (t.text("editor-conflict-title"), t.text("editor-conflict"));
            let notice = Some(Notice { kind: "wait", title, text, blockers: None });
            page_with(StatusCode::CONFLICT, &FormPage { notice, ..editor.answer(&FormErrors::default()) })
        }
        Err(error) => editor.failed(error),
    }
}

struct Editor {
    visitor: Author,
    purpose: Purpose,
    form: TemplateForm,
    /// Results of checks, by the number of the source.
    notes: BTreeMap<usize, Note>,
}

impl Editor {
    fn new(visitor: Author, purpose: Purpose, form: TemplateForm) -> Self {
        let form = form.with_ignored(visitor.t, visitor.process.ignored_fields);
        Self { visitor, purpose, form, notes: BTreeMap::new() }
    }

    /// Returns the path of the page that the pressed button requests.
    fn after_save(&self, id: Uuid) -> String {
        match (self.form.controls.next, &self.visitor.access) {
            (Next::Try, _) => format!("/launch/{id}"),
            (_, None) => format!("{TEMPLATES}?saved={id}"),
            (_, Some(access)) => classes::path(access),
        }
    }

    /// Checks the course material that the pressed button names, or new course material before it is saved. Returns the
    /// answer if the form shall not be saved.
    async fn check(&mut self, stored: Option<&CatalogTemplate>) -> Option<PageResult> {
        let t = self.visitor.t;
        if let Some(number) = self.form.row_to_check() {
            return Some(match self.form.source(t, number) {
                Ok(source) => {
                    self.check_sources(&[(number, source)]).await;
                    page(&self.answer(&FormErrors::default()))
                }
                Err(errors) => page(&self.answer(&errors)),
            });
        }
        let is_saved = matches!(self.form.controls.next, Next::Save | Next::Try) && !self.form.only_changes();
        let is_asked = is_saved && self.form.controls.language.is_empty() && self.visitor.launcher.can_check_sources();
        let is_valid = || self.form.body(t, &self.visitor.launcher).err().is_none_or(|wrong| wrong.are_of_checksums());
        let sources = if is_asked && is_valid() { self.form.new_sources(t, stored) } else { Vec::new() };
        if sources.is_empty() || self.check_sources(&sources).await {
            return None;
        }
        let (title, text) = (t.text("editor-unfound-title"), t.text("editor-unfound"));
        let notice = Some(Notice { kind: "wait", title, text, blockers: None });
        let form_page = FormPage { notice, asks: true, ..self.answer(&FormErrors::default()) };
        Some(page_with(StatusCode::UNPROCESSABLE_ENTITY, &form_page))
    }

    /// Checks sources, and notes the results. Returns true if all were found.
    async fn check_sources(&mut self, sources: &[(usize, MaterialSource)]) -> bool {
        let t = self.visitor.t;
        let plain: Vec<MaterialSource> = sources.iter().map(|(_, source)| source.clone()).collect();
        let findings = self.visitor.launcher.check_sources(self.visitor.catalog(), &plain).await;
        let is_busy = matches!(findings, Err(ServiceError::TooManyChecks));
        let without = t.text(if is_busy { "editor-check-busy" } else { "editor-check-failed" });
        let findings = findings.unwrap_or_else(|_| vec![MaterialFinding::failed(without); sources.len()]);
        for ((number, source), finding) in sources.iter().zip(&findings) {
            if finding.is_found() {
                self.form.record_found(*number, source, finding);
            }
            self.notes.insert(*number, Note { is_good: finding.is_found(), text: t.finding(finding) });
        }
        findings.iter().all(MaterialFinding::is_found)
    }

    /// Returns the template of a sent form, or the answer to a form that shall not be saved: the form in another
    /// language, with its errors, or with a preview.
    async fn body(&mut self, stored: Option<&CatalogTemplate>) -> ControlFlow<PageResult, JsonObject> {
        if let Some(answer) = self.check(stored).await {
            return ControlFlow::Break(answer);
        }
        if !self.form.controls.language.is_empty() {
            return ControlFlow::Break(self.in_language());
        }
        if self.form.only_changes() {
            return ControlFlow::Break(page(&self.answer(&FormErrors::default())));
        }
        match self.form.body(self.visitor.t, &self.visitor.launcher) {
            Ok(body) if self.form.controls.next == Next::Preview => ControlFlow::Break(self.preview(&body)),
            Ok(body) => ControlFlow::Continue(body),
            Err(errors) => ControlFlow::Break(self.refused(&errors)),
        }
    }

    /// Redirects after a change. If the maximum lifetime was raised, first asks if it applies to the current workshops.
    async fn saved(&self, before: &CatalogTemplate, after: &CatalogTemplate) -> Response {
        let (id, next) = (after.template_id, self.after_save(after.template_id));
        let is_raised = after.settings.max_lifetime_seconds > before.settings.max_lifetime_seconds;
        let (launcher, caller) = (&self.visitor.launcher, &self.visitor.caller);
        if !is_raised
            || self.visitor.access.is_some()
            || launcher.count_below_maximum(caller, id).await.is_ok_and(|count| count == 0)
        {
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
        let Author { visitor, access } = self.visitor.clone();
        let visitor = Author { visitor: visitor.in_language(t), access };
        let editor = Self::new(visitor, self.purpose, self.form.clone());
        let mut response = page(&editor.answer(&found))?;
        let (name, value) = t.cookie(self.visitor.settings.is_https());
        response.headers_mut().insert(name, value);
        Ok(response)
    }

    fn preview(&self, body: &JsonObject) -> PageResult {
        let content = match self.visitor.launcher.validate_template(body) {
            Ok(content) => content,
            Err(errors) => return self.refused(&self.form.errors(self.visitor.t, &errors)),
        };
        let card = Card::of(&self.visitor, Uuid::nil(), &content.settings, &content.listing);
        let preview = Some(Preview { card, description: markdown::to_html(&content.settings.description) });
        page(&FormPage { preview, ..self.answer(&FormErrors::default()) })
    }

    fn failed(&self, error: ServiceError) -> PageResult {
        match error {
            ServiceError::Invalid(errors) => self.refused(&self.form.errors(self.visitor.t, &errors)),
            error => Err(error.into()),
        }
    }

    fn refused(&self, errors: &FormErrors) -> PageResult {
        page_with(StatusCode::UNPROCESSABLE_ENTITY, &self.answer(errors))
    }

    fn answer(&self, errors: &FormErrors) -> FormPage {
        let form_page = self.page(errors);
        FormPage { shell: form_page.shell.returning_to(self.visitor.form_path(self.purpose)), ..form_page }
    }

    fn page(&self, errors: &FormErrors) -> FormPage {
        let Self { visitor, purpose, form, notes } = self;
        let (t, ignored) = (visitor.t, visitor.process.ignored_fields);
        let (heading, submit, action) = match purpose {
            Purpose::New => ("editor-new-template", "editor-create", visitor.templates_path()),
            Purpose::Edit(id) => ("edit-template", "editor-save", format!("{}/{id}", visitor.templates_path())),
        };
        let chosen = Preset::named(&form.controls.preset);
        let dockerfile = chosen.and_then(Preset::dockerfile).filter(|_| !ignored.contains(&"image"));
        let link = (matches!(purpose, Purpose::New) && visitor.access.is_none()).then(|| ShortLink {
            start: format!("{}/go/", visitor.settings.origin()),
            slug: form.derived_slugs().next().unwrap_or_default(),
            label: t.text("editor-short-link"),
        });
        let has_check = visitor.launcher.can_check_sources();
        let shown = Shown { ignored, action: &action, link: link.as_ref(), has_check, notes, images: visitor.images() };
        let (folded, mut first): (Vec<Group>, Vec<Group>) =
            form.groups(t, errors, &shown).into_iter().partition(|group| group.is_folded);
        if !ignored.contains(&"memory_limit") {
            let is_free = visitor.access.as_ref().is_none_or(|access| access.class().content.allowed_sizes.is_empty());
            first.extend(form.sizes(t, errors, &visitor.sizes(), is_free));
        }
        let wrong =
            |groups: &[Group]| groups.iter().flat_map(|group| &group.fields).flat_map(Field::wrong).collect::<Vec<_>>();
        let (wrong_first, wrong_folded) = (wrong(&first), wrong(&folded));
        let waits_for_image = dockerfile.is_some() && form.typed("image").is_empty();
        let is_open = !wrong_folded.is_empty() || waits_for_image || form.is_button_in(&folded);
        let summary = [wrong_first, wrong_folded].concat();
        let hidden = form.hidden(ignored).into_iter().map(|(name, text)| (name, text.to_owned())).collect();
        let (template_id, version, presets) = match purpose {
            Purpose::New => (Some(form.controls.template_id.clone()), None, presets::offered(visitor.access.as_ref())),
            Purpose::Edit(_) => (None, Some(form.controls.version.clone()), Vec::new()),
        };
        FormPage {
            t,
            shell: Shell {
                language_form: Some(FORM_ID),
                ..visitor.shell(if visitor.access.is_some() { "classes" } else { "admin-templates" })
            },
            list_path: visitor.list_path(),
            templates_path: visitor.templates_path(),
            notice: None,
            heading: t.text(heading),
            submit: t.text(submit),
            action,
            template_id,
            version,
            preview: None,
            shows_errors: !errors.is_empty(),
            summary,
            first,
            folded,
            is_open,
            hidden,
            presets,
            chosen,
            chosen_name: chosen.map_or("", |chosen| chosen.name),
            dockerfile,
            asks: false,
            image: None,
        }
    }
}
