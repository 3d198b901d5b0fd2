//! The template editor's form: its texts, their conversion to the JSON object of a template, and its errors.

use std::collections::BTreeMap;

use launcher_domain::template::{MaterialSource, slug_of};
use launcher_domain::{
    AppType, FieldError, JsonObject, MaterialFinding, MaterialKind, Resources, SecurityProfile, Size, Sizes, Template,
    TemplateContent,
};
use launcher_service::Launcher;
use serde::Deserialize;
use serde::de::Error as _;
use serde::de::value::{Error, MapDeserializer};
use serde_json::{Value, json};

use crate::pages::admin::fields::{Codec, FIELDS, FormField, FormGroup, Kind};
use crate::pages::admin::pod_settings::{Setting, Settings, join, split};
use crate::pages::admin::presets::{HOME, Preset};
use crate::pages::admin::rows::{self, Column, List, Row};
use crate::pages::language::Value as TextValue;
use crate::pages::view::described;
use crate::pages::{Language, Text};
use crate::problem::sentence;

/// Maximum length of a template's name, in characters.
const MAX_NAME: usize = 80;
const POD_TEMPLATE: &str = "pod_template";
const MATERIAL: &str = "material";
const RESOURCES: &str = "resources";
/// Fields that a preset fills, except for the name and the environment.
const APP: [&str; 10] = [
    "icon",
    "app_type",
    "image",
    "port",
    "start_path",
    "command",
    "args",
    "security_profile",
    "memory_limit",
    "material_directory",
];
/// Maximum slugs that are tried for a name.
const MAX_SLUGS: u32 = 99;
/// Characters of a slug before a number.
const MAX_SLUG_START: usize = 36;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Vec<(String, String)>")]
pub(crate) struct TemplateForm {
    pub(crate) controls: Controls,
    /// Texts by the names of the fields. An absent text is empty.
    texts: BTreeMap<&'static str, String>,
    /// Rows by the names of the fields that have rows.
    rows: BTreeMap<&'static str, Vec<Row>>,
}

/// The values of the form that are no fields of a template.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Controls {
    /// Id for a new template, drawn when the form was rendered. Because of this id, a form that is sent twice creates
    /// only one template.
    pub(crate) template_id: String,
    pub(crate) version: String,
    /// Name of the preset that filled the form; empty for none.
    pub(crate) preset: String,
    /// Name of the preset that the user chose after typing into the form; empty for none.
    pub(crate) choose: String,
    /// Code of the language that the user chose in the footer: the form is shown again in this language.
    pub(crate) language: String,
    /// `yes` if the page shows the errors of the form.
    pub(crate) shows_errors: String,
    /// Name of the list that gets a row; empty for none.
    pub(crate) add: String,
    /// Name of the list that loses a row, a full stop, and the number of the row; empty for none.
    pub(crate) remove: String,
    /// Name of the list, a full stop, and the number of the row whose source is to be checked; empty for none.
    pub(crate) check: String,
    /// Sources that a check has found, one per line.
    found: String,
    /// Name of the chosen size; empty for other resources.
    size: String,
    /// Name of the size that the page showed as chosen.
    shown_size: String,
    #[serde(rename = "then")]
    pub(crate) next: Next,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Next {
    #[default]
    Save,
    /// Save the template, also with course material that was not found.
    Anyway,
    /// Save the template, then open its launch page.
    Try,
    /// Show a preview of the template, without saving.
    Preview,
}

impl TryFrom<Vec<(String, String)>> for TemplateForm {
    type Error = Error;

    /// Refuses unknown and repeated fields. The numbers of rows may have gaps.
    fn try_from(sent: Vec<(String, String)>) -> Result<Self, Error> {
        let (mut texts, mut controls) = (BTreeMap::new(), Vec::new());
        let mut rows: BTreeMap<&'static str, BTreeMap<usize, Row>> = BTreeMap::new();
        for (name, text) in sent {
            let (known, earlier) = if let Some(field) = FormField::named(&name).filter(|field| field.list().is_none()) {
                (field.name, texts.insert(field.name, text))
            } else if let Some((field, number, column)) = part(&name) {
                (column, rows.entry(field).or_default().entry(number).or_default().insert(column, text))
            } else {
                controls.push((name, text));
                continue;
            };
            if earlier.is_some() {
                return Err(Error::duplicate_field(known));
            }
        }
        let rows = rows.into_iter().map(|(field, rows)| (field, rows.into_values().collect())).collect();
        let controls = Controls::deserialize(MapDeserializer::new(controls.into_iter()))?;
        Ok(Self { controls, texts, rows }.with_row_button())
    }
}

/// Splits the name of a part of a row: name of the field, number of the row, name of the column.
fn part(name: &str) -> Option<(&'static str, usize, &'static str)> {
    let (field, part) = name.split_once('.')?;
    let field = FormField::named(field)?;
    let (number, column) = field.list()?.part(part)?;
    Some((field.name, number, column))
}

impl TemplateForm {
    /// Returns an empty form with the defaults of a new template.
    pub(crate) fn new_template() -> Self {
        Self::default()
            .with("app_type", AppType::Notebook.as_str())
            .with("security_profile", SecurityProfile::default().as_str())
            .with("active", "yes")
    }

    /// Returns the form for a copy of this template. The copy is not in the catalog at first, so that its author can
    /// try it before.
    pub(crate) fn copy_of(t: Language, template: &Template) -> Self {
        let form = Self { controls: Controls::default(), ..Self::of(template) };
        let name: String = t.with_one("editor-copy-of", "name", form.typed("name")).chars().take(MAX_NAME).collect();
        form.with("active", "").with("slug", "").with("name", &name)
    }

    /// Returns a form that reproduces this template if it is sent unchanged.
    pub(crate) fn of(template: &Template) -> Self {
        let controls = Controls { version: template.version.to_string(), ..Controls::default() };
        Self { controls, ..Self::showing(TemplateContent::from(template).to_json()) }
    }

    /// Returns a form with the values of the JSON object of a template. Absent values are empty.
    pub(super) fn showing(mut json: JsonObject) -> Self {
        let (settings, rest) = json.get(POD_TEMPLATE).and_then(Value::as_object).map(split).unwrap_or_default();
        json.insert(POD_TEMPLATE.to_owned(), json!(rest));
        let json = Value::Object(json);
        let text = |field: &FormField| {
            let value = match field.setting() {
                Some(setting) => settings.get(&setting),
                None => json.pointer(field.pointer),
            };
            value.map(|value| field.codec.format(value)).unwrap_or_default()
        };
        let rows = |field: &FormField| Some((field.name, field.list()?.rows(json.pointer(field.pointer)?)));
        Self {
            controls: Controls::default(),
            texts: FIELDS.iter().map(|field| (field.name, text(field))).collect(),
            rows: FIELDS.iter().filter_map(rows).collect(),
        }
    }

    /// True if the form shall only be shown again: the user adds or removes a row, or chooses a preset.
    pub(crate) fn only_changes(&self) -> bool {
        let Controls { add, remove, choose, .. } = &self.controls;
        [add, remove, choose].into_iter().any(|pressed| !pressed.is_empty())
    }

    /// True if the user has pressed a button of a list in these groups.
    pub(crate) fn is_button_in(&self, groups: &[Group]) -> bool {
        let Controls { add, remove, .. } = &self.controls;
        let pressed = [add.as_str(), remove.split('.').next().unwrap_or_default()];
        groups.iter().flat_map(|group| &group.fields).any(|field| pressed.contains(&&*field.name))
    }

    /// Adds or removes the row that a button names.
    fn with_row_button(mut self) -> Self {
        let Controls { add, remove, .. } = &self.controls;
        if let Some((field, list)) = FormField::named(add).and_then(|field| Some((field, field.list()?))) {
            let rows = self.rows.entry(field.name).or_default();
            if rows.is_empty() && list.begins_with_row() {
                rows.push(list.new_row());
            }
            if rows.len() < list.most {
                rows.push(list.new_row());
            }
        }
        if let Some((field, number)) = remove.split_once('.')
            && let (Some(rows), Ok(number)) = (self.rows.get_mut(field), number.parse::<usize>())
            && number < rows.len()
        {
            rows.remove(number);
        }
        self
    }

    pub(crate) fn row_to_check(&self) -> Option<usize> {
        let (field, number) = self.controls.check.split_once('.')?;
        let number = number.parse().ok()?;
        (field == SOURCES && number < self.rows.get(SOURCES)?.len()).then_some(number)
    }

    /// Returns the source in a row, as it can be checked.
    ///
    /// # Errors
    /// The errors of the row.
    pub(crate) fn source(&self, t: Language, number: usize) -> Result<MaterialSource, FormErrors> {
        let row = self.rows.get(SOURCES).and_then(|rows| rows.get(number)).cloned().unwrap_or_default();
        let (entries, _) = rows::SOURCES.parse(t, &[row]);
        let entry = entries.as_ref().and_then(|entries| entries.get(0)).and_then(Value::as_object).cloned();
        MaterialSource::read_to_check(&entry.unwrap_or_default()).map_err(|wrong| {
            let mut errors = FormErrors::default();
            for error in wrong.iter().filter(|error| error.pointer != "/kind") {
                errors.add(&format!("{SOURCES}.{number}{}", error.pointer.replace('/', ".")), &t.coded(&error.key()));
            }
            errors
        })
    }

    /// Returns the public sources that no check has found and that the stored template does not have, with the numbers of
    /// their rows.
    pub(crate) fn new_sources(&self, t: Language, stored: Option<&Template>) -> Vec<(usize, MaterialSource)> {
        let stored = stored.and_then(|stored| stored.settings.material.as_ref());
        let stored: Vec<String> = stored.iter().flat_map(|material| &material.sources).map(fingerprint).collect();
        let is_known = |known: &String| stored.contains(known) || self.controls.found.lines().any(|line| line == known);
        let rows = self.rows.get(SOURCES).map_or(&[][..], Vec::as_slice).iter().enumerate();
        let filled = rows.filter(|(_, row)| !rows::SOURCES.is_blank(row));
        let sources = filled.filter_map(|(number, _)| Some((number, self.source(t, number).ok()?)));
        sources.filter(|(_, source)| !is_known(&fingerprint(source))).collect()
    }

    /// Records that a check has found the source in a row, and fills the checksum of an archive.
    pub(crate) fn record_found(&mut self, number: usize, source: &MaterialSource, finding: &MaterialFinding) {
        let mut source = source.clone();
        if source.kind == MaterialKind::Archive {
            source.sha256.clone_from(&finding.version);
            if let Some(row) = self.rows.get_mut(SOURCES).and_then(|rows| rows.get_mut(number)) {
                row.insert("sha256", source.sha256.clone().unwrap_or_default());
            }
        }
        self.controls.found = format!("{}\n{}", self.controls.found.trim(), fingerprint(&source));
    }

    /// Returns the slugs that the name gives, best first; none if the author has typed one.
    pub(crate) fn derived_slugs(&self) -> impl Iterator<Item = String> {
        let slug = if self.is_filled("slug") { None } else { slug_of(self.typed("name")) };
        let numbered = |slug: String| {
            let start: String = slug.chars().take(MAX_SLUG_START).collect();
            let start = start.trim_end_matches('-').to_owned();
            std::iter::once(slug).chain((2..=MAX_SLUGS).map(move |number| format!("{start}-{number}")))
        };
        slug.into_iter().flat_map(numbered)
    }

    pub(crate) fn with(mut self, name: &'static str, text: &str) -> Self {
        self.texts.insert(name, text.to_owned());
        self
    }

    pub(super) fn of_preset(t: Language, preset: &Preset, ignored: &[&str]) -> Self {
        let json = preset.template(&preset.label(t), ignored.contains(&"image"));
        let mut form = Self::showing(json).with("material_directory", preset.directory());
        preset.name.clone_into(&mut form.controls.preset);
        form
    }

    /// Replaces the app by that of the chosen preset. Keeps all other values, and a name that the user has typed.
    pub(super) fn with_chosen(mut self, t: Language, ignored: &[&str]) -> Self {
        let Some(preset) = Preset::named(&self.controls.choose) else { return self };
        let mut fresh = Self::of_preset(t, preset, ignored);
        let suggested = Preset::named(&self.controls.preset).map(|earlier| earlier.label(t));
        let is_typed = self.is_filled("name") && suggested.is_none_or(|label| label != self.typed("name"));
        for name in APP.into_iter().chain((!is_typed).then_some("name")) {
            self.texts.insert(name, fresh.texts.remove(name).unwrap_or_default());
        }
        self.rows.insert("env", fresh.rows.remove("env").unwrap_or_default());
        self.controls.preset = fresh.controls.preset;
        self
    }

    /// Fills in the resources of the size that the user chose. The page showed those of the former choice, which the user may
    /// have changed.
    pub(crate) fn with_size(self, sizes: &Sizes) -> Self {
        let Controls { size, shown_size, .. } = &self.controls;
        let chosen = sizes.named(size).filter(|_| size != shown_size);
        chosen.map_or_else(|| self.clone(), |size| self.clone().with_resources(&size.resources))
    }

    /// Fills in the smallest size with enough memory, unless the form has the resources of a size.
    pub(crate) fn fitted(self, t: Language, sizes: &Sizes) -> Self {
        let Some(resources) = self.resources(t).filter(|resources| sizes.of(resources).is_none()) else { return self };
        let Some(size) = sizes.fitting(&resources.memory_limit) else { return self };
        self.with_resources(&size.resources)
    }

    fn with_resources(self, resources: &Resources) -> Self {
        let json = json!({ RESOURCES: resources });
        let fields = FIELDS.iter().filter(|field| field.api_name() == RESOURCES);
        let texts = fields.filter_map(|field| Some((field, json.pointer(field.pointer)?)));
        texts.fold(self, |form, (field, value)| form.with(field.name, &field.codec.format(value)))
    }

    /// Returns the resources of the form; `None` if one is wrong.
    fn resources(&self, t: Language) -> Option<Resources> {
        let mut body = JsonObject::new();
        for field in FIELDS.iter().filter(|field| field.api_name() == RESOURCES) {
            let value = field.codec.parse(t, self.typed(field.name)).ok()?;
            value.into_iter().for_each(|value| insert(&mut body, field.pointer, value));
        }
        Resources::of_json(body.get(RESOURCES).unwrap_or(&json!({})))
    }

    /// Returns the choice of the size; `None` without sizes. `offers_other`: the resources may be those of no size.
    pub(crate) fn sizes(&self, t: Language, errors: &FormErrors, sizes: &Sizes, offers_other: bool) -> Option<Group> {
        let resources = self.resources(t);
        let current = resources.as_ref().and_then(|resources| sizes.of(resources)).map(|size| size.name.as_str());
        let card = |Size { name, resources }: &Size| SizeCard {
            label: t.size_name(name),
            figures: t.with("editor-size-figures", figures(resources)),
            is_current: current == Some(name),
            name: name.clone(),
        };
        let other = || SizeCard {
            name: String::new(),
            label: t.text("editor-size-other"),
            figures: t.text("editor-size-other-figures").into_owned(),
            is_current: current.is_none(),
        };
        let cards: Vec<_> = sizes.iter().map(card).chain(offers_other.then(other)).collect();
        let field = Field {
            id: "field-size".to_owned(),
            name: "size".to_owned(),
            label: t.text("editor-size"),
            hint: Text::default(),
            suggestions: Vec::new(),
            kind: Kind::Sizes(cards),
            value: current.unwrap_or_default().to_owned(),
            error: errors.of("size"),
            link: None,
            has_focus: false,
        };
        let group = Group { is_folded: false, legend: None, class: "fields", fields: vec![field] };
        (sizes.iter().next().is_some() || !offers_other).then_some(group)
    }

    pub(crate) fn typed(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    fn rows_of(&self, field: &FormField) -> &[Row] {
        self.rows.get(field.name).map_or(&[], Vec::as_slice)
    }

    fn is_filled(&self, name: &str) -> bool {
        !self.typed(name).trim().is_empty()
    }

    /// Converts the form to the JSON object of a template.
    ///
    /// # Errors
    /// All errors of the form and of the template.
    pub(crate) fn body(&self, t: Language, launcher: &Launcher) -> Result<JsonObject, FormErrors> {
        let (body, mut errors) = self.read(t);
        if let Err(invalid) = launcher.validate_template(&body) {
            errors.merge(self.errors(t, &invalid));
        }
        if errors.is_empty() { Ok(body) } else { Err(errors) }
    }

    /// Parses the texts. Returns a JSON object with the values, and the errors of the other texts.
    fn read(&self, t: Language) -> (JsonObject, FormErrors) {
        let (mut body, mut settings, mut errors) = (JsonObject::new(), Settings::new(), FormErrors::default());
        for field in FIELDS.iter().filter(|field| field.requires.is_none_or(|name| self.is_filled(name))) {
            if let Some(list) = field.list() {
                let (value, wrong) = list.parse(t, self.rows_of(field));
                wrong.iter().for_each(|(number, column, wrong)| errors.add(&id_of(field, *number, column), wrong));
                value.into_iter().for_each(|value| insert(&mut body, field.pointer, value));
                continue;
            }
            match (field.codec.parse(t, self.typed(field.name)), field.codec) {
                (Err(wrong), _) => errors.add(field.name, &wrong),
                (Ok(None), _) => {}
                (Ok(Some(value)), Codec::Setting(setting)) => {
                    settings.insert(setting, value);
                }
                (Ok(Some(value)), _) => insert(&mut body, field.pointer, value),
            }
        }
        // The directory alone is no course material.
        if body.get(MATERIAL).and_then(Value::as_object).is_some_and(|material| material.keys().eq(["directory"])) {
            body.remove(MATERIAL);
        }
        let rest = body.get(POD_TEMPLATE).and_then(Value::as_object).cloned();
        let (pod_template, conflicts) = join(rest, &settings);
        for setting in conflicts {
            let wrong = t.with_one("editor-set-in-yaml", "setting", setting.kubernetes_name());
            errors.add(FormField::of_setting(setting).map_or("", |field| field.name), &wrong);
        }
        body.insert(POD_TEMPLATE.to_owned(), json!(pod_template));
        (body, errors)
    }

    /// Converts the errors of the JSON object that this form was converted to: an error at `/storage/size` belongs to the
    /// field `storage_size`, and an error at `/env/PATH` to the field `env`. An error at
    /// `/pod_template/spec/nodeSelector` belongs to the field `node_selector`, if this field is filled.
    pub(crate) fn errors(&self, t: Language, errors: &[FieldError]) -> FormErrors {
        let mut found = FormErrors::default();
        for error in errors {
            let Some((field, rest)) = FormField::at(&error.pointer) else {
                let name = if error.pointer == "/resources" { "size" } else { "" };
                found.add(name, &t.coded(&error.key()));
                continue;
            };
            let place = field.list().and_then(|list| list.place(self.rows_of(field), rest, error));
            if let Some((number, column)) = place {
                found.add(&id_of(field, number, column), &t.coded(&error.key()));
                continue;
            }
            let setting = if field.api_name() == POD_TEMPLATE { Setting::at(rest) } else { None };
            match setting.and_then(FormField::of_setting).filter(|field| self.is_filled(field.name)) {
                Some(setting) => found.add(setting.name, &t.coded(&error.key())),
                None => found.add(field.name, &field.codec.error(t, rest, error)),
            }
        }
        found
    }

    /// Returns the groups of the page. Each field has its text and its errors.
    pub(crate) fn groups(&self, t: Language, errors: &FormErrors, shown: &Shown<'_>) -> Vec<Group> {
        let group = |fields: &[FormField]| {
            let &FormGroup { legend, class, is_folded } = fields.first()?.group;
            let fields = fields.iter().filter(|field| !is_ignored(field, shown.ignored));
            let fields: Vec<Field> = fields.map(|field| self.field(t, field, errors, shown)).collect();
            (!fields.is_empty()).then(|| Group { legend: legend.map(|key| t.text(key)), class, is_folded, fields })
        };
        FIELDS.chunk_by(|one, next| one.group == next.group).filter_map(group).collect()
    }

    /// Returns the names and texts of the fields that the page does not show, because the fleet ignores them.
    pub(crate) fn hidden(&self, ignored: &[&str]) -> Vec<(&'static str, &str)> {
        let hidden = FIELDS.iter().filter(|field| is_ignored(field, ignored));
        hidden.map(|field| (field.name, self.typed(field.name))).collect()
    }

    /// Fills the empty fields that the fleet ignores, but the template requires.
    pub(crate) fn with_ignored(mut self, t: Language, ignored: &[&str]) -> Self {
        let empty = FIELDS.iter().filter(|field| is_ignored(field, ignored) && !self.is_filled(field.name));
        let empty: Vec<&FormField> = empty.filter(|field| ["image", "port"].contains(&field.name)).collect();
        let app_type = AppType::parse(self.typed("app_type")).unwrap_or(AppType::Custom);
        for name in ["storage_path", "material_directory"] {
            if ignored.contains(&name) && app_type.home().is_none() && !self.is_filled(name) {
                self = self.with(name, HOME);
            }
        }
        if let (false, Some(preset)) = (empty.is_empty(), Preset::of_app_type(app_type)) {
            let preset = Self::showing(preset.template(&preset.label(t), true));
            for field in empty {
                self = self.with(field.name, preset.typed(field.name));
            }
        }
        self
    }

    fn field(&self, t: Language, field: &FormField, errors: &FormErrors, shown: &Shown<'_>) -> Field {
        let text = self.typed(field.name);
        let kind = match field.list() {
            Some(list) => Kind::Rows(self.rows_view(t, field, list, errors, shown)),
            None => field.codec.kind(t, text),
        };
        let is_named = field.name == "name" && !self.is_filled("slug");
        let images = if field.name == "image" { shown.images } else { &[] };
        Field {
            id: format!("field-{}", field.name),
            name: field.name.to_owned(),
            label: t.text(field.label),
            hint: match images {
                [] if shown.ignored.contains(&POD_TEMPLATE) => machine_hint(t, field.label),
                [] => hint(t, field.label),
                _ => t.with_one("editor-class-images", "images", images.join(", ")).into(),
            },
            suggestions: images.iter().filter(|image| !image.ends_with('*')).cloned().collect(),
            kind,
            value: text.to_owned(),
            error: errors.of(field.name),
            link: shown.link.filter(|_| is_named).cloned(),
            has_focus: false,
        }
    }

    fn rows_view(
        &self,
        t: Language,
        field: &FormField,
        list: &'static List,
        errors: &FormErrors,
        shown: &Shown<'_>,
    ) -> RowsView {
        let added = (self.controls.add == field.name).then(|| self.rows_of(field).len().saturating_sub(1));
        let new_row = [list.new_row()];
        let rows = match self.rows_of(field) {
            [] if list.begins_with_row() => &new_row,
            rows => rows,
        };
        let part = |number: usize, row: &Row, column: &Column| {
            let id = id_of(field, number, column.name);
            let text = row.get(column.name).cloned().unwrap_or_default();
            Field {
                id: format!("field-{}", id.replace('.', "-")),
                label: t.text(column.label),
                hint: hint(t, column.label),
                suggestions: Vec::new(),
                kind: column.codec.kind(t, &text),
                error: errors.of(&id),
                value: text,
                name: id,
                link: None,
                has_focus: added == Some(number) && list.columns.first().is_some_and(|first| first.name == column.name),
            }
        };
        let view = |(number, row): (usize, &Row)| {
            let parts = list.columns.iter().map(|column| (column.is_folded, part(number, row, column)));
            let (folded, shown_parts): (Vec<_>, Vec<_>) = parts.partition(|(is_folded, _)| *is_folded);
            let folded: Vec<Field> = folded.into_iter().map(|(_, part)| part).collect();
            let id = format!("{}.{number}", field.name);
            RowView {
                legend: t.with_one(list.key, "number", number + 1),
                shown: shown_parts.into_iter().map(|(_, part)| part).collect(),
                is_open: folded.iter().any(|part| !part.error.is_empty()),
                folded,
                more: t.text("editor-more"),
                remove: t.text("editor-remove"),
                check: (list.has_check() && shown.has_check).then(|| t.text("editor-check")),
                note: shown.notes.get(&number).filter(|_| list.has_check()).cloned(),
                id,
            }
        };
        RowsView {
            id: format!("rows-{}", field.name),
            action: shown.action.to_owned(),
            add: (rows.len() < list.most).then(|| t.attribute(list.key, "add")),
            found: if list.has_check() { self.controls.found.clone() } else { String::new() },
            rows: rows.iter().enumerate().map(view).collect(),
        }
    }
}

/// Name of the field with the sources of course material.
const SOURCES: &str = "material_sources";

/// Returns the parts of a source that decide whether it is found, on one line.
fn fingerprint(source: &MaterialSource) -> String {
    let MaterialSource { kind, url, reference, sha256, folder, secret, target: _ } = source;
    json!([kind, url, reference, sha256, folder, secret]).to_string()
}

#[derive(Debug)]
pub(crate) struct Shown<'s> {
    /// Names of the fields that the fleet ignores.
    pub(crate) ignored: &'s [&'s str],
    pub(crate) action: &'s str,
    /// The link that the name of a new template gives.
    pub(crate) link: Option<&'s ShortLink>,
    /// True if the launcher can check course material.
    pub(crate) has_check: bool,
    /// Results of checks, by the number of the source.
    pub(crate) notes: &'s BTreeMap<usize, Note>,
    /// Images that the template may use: see `ClassContent::allowed_images`.
    pub(crate) images: &'s [String],
}

#[derive(Debug, Clone)]
pub(crate) struct Note {
    pub(crate) is_good: bool,
    pub(crate) text: String,
}

/// A short link that is derived from the name.
#[derive(Debug, Clone)]
pub(crate) struct ShortLink {
    /// Address without the slug.
    pub(crate) start: String,
    /// The slug; empty without one.
    pub(crate) slug: String,
    pub(crate) label: Text,
}

fn id_of(field: &FormField, number: usize, column: &str) -> String {
    format!("{}.{number}.{column}", field.name)
}

fn is_ignored(field: &FormField, ignored: &[&str]) -> bool {
    let is_of_pod = field.api_name() == POD_TEMPLATE;
    ignored.contains(if is_of_pod { &POD_TEMPLATE } else { &field.name })
}

fn hint(t: Language, label: &str) -> Text {
    if t.has_attribute(label, "hint") { t.attribute(label, "hint") } else { Text::default() }
}

/// Returns the hint for the fleets of one machine. Most hints are the same with all fleets.
fn machine_hint(t: Language, label: &str) -> Text {
    const HINT: &str = "hint-of-machine";
    if t.has_attribute(label, HINT) { t.attribute(label, HINT) } else { hint(t, label) }
}

/// Adds a value at a JSON pointer. Adds absent parents.
fn insert(object: &mut JsonObject, pointer: &str, value: Value) {
    let path = pointer.trim_start_matches('/');
    if let Some((parent, rest)) = path.split_once('/') {
        if let Value::Object(parent) = object.entry(parent).or_insert_with(|| json!({})) {
            insert(parent, rest, value);
        }
    } else {
        object.insert(path.to_owned(), value);
    }
}

/// Restores stored values that the form shows in another notation, if they were not edited: the line breaks of the
/// description, and the order of lists, the numbers and the name of the volume at `/dev/shm` in the pod template.
pub(crate) fn kept(t: Language, mut body: JsonObject, stored: &Template) -> JsonObject {
    let (shown, errors) = TemplateForm::of(stored).read(t);
    let is_readable = |name: &str| !FIELDS.iter().any(|field| field.api_name() == name && errors.has(field.name));
    for (name, value) in TemplateContent::from(stored).to_json() {
        if body.get(&name) == shown.get(&name) && is_readable(&name) {
            body.insert(name, value);
        }
    }
    body
}

/// Errors of the form, by the name of the field or of the part of a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct FormErrors(BTreeMap<String, Vec<String>>);

impl FormErrors {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all errors of a field, as sentences; empty if the field is valid.
    pub(crate) fn of(&self, field: &str) -> String {
        self.0.get(field).map(|errors| errors.join(" ")).unwrap_or_default()
    }

    /// True if the field or a part of it has an error.
    fn has(&self, field: &str) -> bool {
        let is_of =
            |name: &String| name.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.0.keys().any(is_of)
    }

    /// True if all errors are about the checksums of archives, which a check can fill in.
    pub(crate) fn are_of_checksums(&self) -> bool {
        self.0.keys().all(|name| name.starts_with(SOURCES) && name.ends_with(".sha256"))
    }

    pub(crate) fn add(&mut self, field: &str, detail: &str) {
        self.0.entry(field.to_owned()).or_default().push(sentence(detail));
    }

    /// Adds other errors, except for fields that already have an error.
    fn merge(&mut self, other: Self) {
        for (field, details) in other.0 {
            self.0.entry(field).or_insert(details);
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct SizeCard {
    /// Name of the size; empty for other resources.
    pub(crate) name: String,
    pub(crate) label: Text,
    pub(crate) figures: String,
    pub(crate) is_current: bool,
}

fn figures(resources: &Resources) -> [TextValue<'_>; 4] {
    let Resources { cpu_request, cpu_limit, memory_request, memory_limit } = resources;
    [
        ("cpu_request", cpu_request.as_str().into()),
        ("cpu_limit", cpu_limit.as_str().into()),
        ("memory_request", memory_request.as_str().into()),
        ("memory_limit", memory_limit.as_str().into()),
    ]
}

#[derive(Debug, Clone, askama::Template)]
#[template(path = "admin/field.html")]
pub(crate) struct Field {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) label: Text,
    pub(crate) hint: Text,
    /// Values that the browser suggests.
    pub(crate) suggestions: Vec<String>,
    pub(crate) kind: Kind,
    pub(crate) value: String,
    /// All errors of the field, as sentences; empty if the field is valid.
    pub(crate) error: String,
    pub(crate) link: Option<ShortLink>,
    /// True if the page opens with the focus in this field.
    pub(crate) has_focus: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct RowsView {
    pub(crate) id: String,
    pub(crate) action: String,
    pub(crate) rows: Vec<RowView>,
    /// Label of the button that adds a row; `None` for a full list.
    pub(crate) add: Option<Text>,
    /// Sources that a check has found; empty for other lists.
    pub(crate) found: String,
}

#[derive(Debug, Clone)]
pub(crate) struct RowView {
    /// Value of the buttons of the row.
    pub(crate) id: String,
    pub(crate) legend: String,
    pub(crate) shown: Vec<Field>,
    /// Parts that the page shows only on request.
    pub(crate) folded: Vec<Field>,
    pub(crate) is_open: bool,
    pub(crate) more: Text,
    pub(crate) remove: Text,
    pub(crate) check: Option<Text>,
    pub(crate) note: Option<Note>,
}

impl Field {
    /// Returns the field and its parts that have errors.
    pub(crate) fn wrong(&self) -> Vec<Self> {
        let parts = match &self.kind {
            Kind::Rows(list) => list.rows.iter().flat_map(|row| row.shown.iter().chain(&row.folded)).collect(),
            _ => Vec::new(),
        };
        std::iter::once(self).chain(parts).filter(|field| !field.error.is_empty()).cloned().collect()
    }

    pub(crate) fn described(&self) -> String {
        described(&self.id, !self.hint.is_empty(), !self.error.is_empty())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// True if the page shows the group only on request.
    pub(crate) is_folded: bool,
    pub(crate) legend: Option<Text>,
    pub(crate) class: &'static str,
    pub(crate) fields: Vec<Field>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_repeated_fields_are_refused() {
        let form = |sent: &[(&str, &str)]| {
            TemplateForm::try_from(sent.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect::<Vec<_>>())
        };
        let sent = form(&[("name", "Penguins"), ("then", "try"), ("version", "3")]).unwrap();
        assert_eq!((sent.typed("name"), sent.controls.next, &*sent.controls.version), ("Penguins", Next::Try, "3"));
        for refused in
            [[("name", "a"), ("name", "b")], [("version", "1"), ("version", "2")], [("owner", ""), ("name", "")]]
        {
            assert!(form(&refused).is_err(), "{refused:?}");
        }
        assert!(form(&[("then", "delete")]).is_err());
    }
}
