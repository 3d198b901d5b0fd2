//! The template editor's form: its texts, their conversion to the JSON object of a template, and its errors.

use std::collections::BTreeMap;

use launcher_domain::{AppType, FieldError, JsonObject, SecurityProfile, Template, TemplateContent};
use launcher_service::Launcher;
use serde::Deserialize;
use serde::de::Error as _;
use serde::de::value::{Error, MapDeserializer};
use serde_json::{Value, json};

use crate::pages::admin::fields::{Codec, FIELDS, FormField, FormGroup, Kind};
use crate::pages::admin::pod_settings::{Setting, Settings, join, split};
use crate::pages::texts::sentence;
use crate::pages::view::described;
use crate::pages::{Language, Text};

/// Maximum length of a template's name, in characters.
const MAX_NAME: usize = 80;
const POD_TEMPLATE: &str = "pod_template";

/// The values of the form as the browser sent them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Vec<(String, String)>")]
pub(crate) struct TemplateForm {
    pub(crate) controls: Controls,
    /// Texts by the names of the fields. An absent text is empty.
    texts: BTreeMap<&'static str, String>,
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
    /// Code of the language that the user chose in the footer: the form is shown again in this language.
    pub(crate) language: String,
    /// `yes` if the page shows the errors of the form.
    pub(crate) shows_errors: String,
    /// Action of the button that the user pressed.
    #[serde(rename = "then")]
    pub(crate) next: Next,
}

/// Actions of the form's buttons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Next {
    #[default]
    Save,
    /// Save the template, then open its launch page.
    Try,
    /// Show a preview of the template, without saving.
    Preview,
}

impl TryFrom<Vec<(String, String)>> for TemplateForm {
    type Error = Error;

    /// Refuses unknown and repeated fields.
    fn try_from(sent: Vec<(String, String)>) -> Result<Self, Error> {
        let (mut texts, mut controls) = (BTreeMap::new(), Vec::new());
        for (name, text) in sent {
            let Some(field) = FormField::named(&name) else {
                controls.push((name, text));
                continue;
            };
            if texts.insert(field.name, text).is_some() {
                return Err(Error::duplicate_field(field.name));
            }
        }
        Ok(Self { controls: Controls::deserialize(MapDeserializer::new(controls.into_iter()))?, texts })
    }
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
        Self { controls: Controls::default(), texts: FIELDS.iter().map(|field| (field.name, text(field))).collect() }
    }

    pub(crate) fn with(mut self, name: &'static str, text: &str) -> Self {
        self.texts.insert(name, text.to_owned());
        self
    }

    pub(super) fn of_preset(mut self, name: &str) -> Self {
        name.clone_into(&mut self.controls.preset);
        self
    }

    pub(crate) fn typed(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
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
            match (field.codec.parse(t, self.typed(field.name)), field.codec) {
                (Err(wrong), _) => errors.add(field.name, &wrong),
                (Ok(None), _) => {}
                (Ok(Some(value)), Codec::Setting(setting)) => {
                    settings.insert(setting, value);
                }
                (Ok(Some(value)), _) => insert(&mut body, field.pointer, value),
            }
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
                found.add("", &t.coded(&error.key()));
                continue;
            };
            let setting = if field.api_name() == POD_TEMPLATE { Setting::at(rest) } else { None };
            match setting.and_then(FormField::of_setting).filter(|field| self.is_filled(field.name)) {
                Some(setting) => found.add(setting.name, &t.coded(&error.key())),
                None => found.add(field.name, &field.codec.error(t, rest, error)),
            }
        }
        found
    }

    /// Returns the groups of the page. Each field has its text and its errors. `ignored` lists the names of the fields
    /// that the fleet ignores.
    pub(crate) fn groups(&self, t: Language, errors: &FormErrors, ignored: &[&str]) -> Vec<Group> {
        let field = |field: &FormField| Field {
            id: format!("field-{}", field.name),
            name: field.name,
            label: t.text(field.label),
            hint: hint(t, field, ignored),
            kind: field.codec.kind(t, self.typed(field.name)),
            value: self.typed(field.name).to_owned(),
            error: errors.of(field.name),
        };
        let group = |rows: &[FormField]| {
            let &FormGroup { legend, class, is_advanced } = rows.first()?.group;
            Some(Group { legend: t.text(legend), class, is_advanced, fields: rows.iter().map(field).collect() })
        };
        FIELDS.chunk_by(|one, next| one.group == next.group).filter_map(group).collect()
    }
}

fn hint(t: Language, field: &FormField, ignored: &[&str]) -> Text {
    let is_of_pod = field.api_name() == POD_TEMPLATE;
    match ignored.contains(if is_of_pod { &POD_TEMPLATE } else { &field.name }) {
        true if is_of_pod => t.text("editor-ignored-pod-template"),
        true => t.text("editor-ignored"),
        false if t.has_attribute(field.label, "hint") => t.attribute(field.label, "hint"),
        false => Text::default(),
    }
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
    let is_readable =
        |name: &str| !FIELDS.iter().any(|field| field.api_name() == name && !errors.of(field.name).is_empty());
    for (name, value) in TemplateContent::from(stored).to_json() {
        if body.get(&name) == shown.get(&name) && is_readable(&name) {
            body.insert(name, value);
        }
    }
    body
}

/// Errors of the form, by field name.
#[derive(Debug, Clone, Default)]
pub(crate) struct FormErrors(BTreeMap<&'static str, Vec<String>>);

impl FormErrors {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all errors of a field, as sentences; empty if the field is valid.
    pub(crate) fn of(&self, field: &str) -> String {
        self.0.get(field).map(|errors| errors.join(" ")).unwrap_or_default()
    }

    fn add(&mut self, field: &'static str, detail: &str) {
        self.0.entry(field).or_default().push(sentence(detail));
    }

    /// Adds other errors, except for fields that already have an error.
    fn merge(&mut self, other: Self) {
        for (field, details) in other.0 {
            self.0.entry(field).or_insert(details);
        }
    }
}

/// A field as the page shows it.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) id: String,
    pub(crate) name: &'static str,
    pub(crate) label: Text,
    pub(crate) hint: Text,
    pub(crate) kind: Kind,
    pub(crate) value: String,
    /// All errors of the field, as sentences; empty if the field is valid.
    pub(crate) error: String,
}

impl Field {
    /// Returns the HTML attributes that link the field to its hint and its error.
    pub(crate) fn described(&self) -> String {
        described(&self.id, !self.hint.is_empty(), !self.error.is_empty())
    }
}

/// A group of fields as the page shows it.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// True if the page shows the group only on request.
    pub(crate) is_advanced: bool,
    pub(crate) legend: Text,
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
