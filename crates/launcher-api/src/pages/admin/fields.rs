//! The fields of the template editor, in the order of the form.

use launcher_domain::{AppType, SecurityProfile};

use super::form::{FormErrors, TemplateForm};
use crate::pages::language::{Language, Text};
use crate::pages::view::Choice;

/// Input type of a field.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Input for one line of text.
    Text,
    /// Input for a number.
    Number,
    /// Input for several lines of text.
    Prose,
    /// Input for several lines. Each line is parsed separately.
    Lines,
    /// Choice from a list.
    Select(Vec<Choice>),
    /// A checkbox.
    Check,
}

/// A field of the template editor.
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
    /// Returns the direction of the text that people type here: from left to right for code, else as they write.
    pub(crate) fn direction(&self) -> &'static str {
        if self.name == "name" { "auto" } else { "ltr" }
    }

    /// Returns the HTML attributes that link the field to its hint and its error. They need no escaping, because they
    /// contain only text of this module.
    pub(crate) fn described(&self) -> String {
        let hint = if self.hint.is_empty() { String::new() } else { format!("{}-hint", self.id) };
        let error = if self.error.is_empty() { String::new() } else { format!("{}-error", self.id) };
        let ids = [hint, error].into_iter().filter(|id| !id.is_empty()).collect::<Vec<_>>().join(" ");
        let described = if ids.is_empty() { String::new() } else { format!(" aria-describedby=\"{ids}\"") };
        let invalid = if self.error.is_empty() { "" } else { " aria-invalid=\"true\"" };
        format!("{described}{invalid}")
    }
}

/// A group of fields with a heading.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) legend: Text,
    pub(crate) class: &'static str,
    pub(crate) fields: Vec<Field>,
}

/// Returns all groups of the form. Each field has the value as typed, and its errors.
pub(crate) fn groups(t: Language, form: &TemplateForm, errors: &FormErrors) -> Vec<Group> {
    vec![shown(t, form, errors), run(t, form, errors), used(t, form, errors), lasting(t, form, errors)]
}

/// A field before it is built: key of its label and hint, name, value, kind.
type Row<'a> = (&'static str, &'static str, &'a str, Kind);

fn group<const N: usize>(
    t: Language,
    (legend, class): (&str, &'static str),
    errors: &FormErrors,
    rows: [Row<'_>; N],
) -> Group {
    let field = |(key, name, value, kind): Row<'_>| Field {
        id: format!("field-{name}"),
        name,
        label: t.text(key),
        hint: if t.has_attribute(key, "hint") { t.attribute(key, "hint") } else { Text::default() },
        kind,
        value: value.to_owned(),
        error: errors.of(name),
    };
    Group { legend: t.text(legend), class, fields: rows.into_iter().map(field).collect() }
}

fn shown(t: Language, form: &TemplateForm, errors: &FormErrors) -> Group {
    let rows = [
        ("field-name", "name", &*form.name, Kind::Text),
        ("field-description", "description", &*form.description, Kind::Prose),
        ("field-active", "active", &*form.active, Kind::Check),
    ];
    group(t, ("field-shown", "fields"), errors, rows)
}

fn run(t: Language, form: &TemplateForm, errors: &FormErrors) -> Group {
    let (kinds, security) = (app_types(t, &form.app_type), profiles(t, &form.security_profile));
    let rows = [
        ("field-app-type", "app_type", &*form.app_type, Kind::Select(kinds)),
        ("field-image", "image", &*form.image, Kind::Text),
        ("field-port", "port", &*form.port, Kind::Number),
        ("field-command", "command", &*form.command, Kind::Lines),
        ("field-arguments", "args", &*form.args, Kind::Lines),
        ("field-environment", "env", &*form.env, Kind::Lines),
        ("field-security-profile", "security_profile", &*form.security_profile, Kind::Select(security)),
    ];
    group(t, ("field-run", "fields"), errors, rows)
}

fn used(t: Language, form: &TemplateForm, errors: &FormErrors) -> Group {
    let rows = [
        ("field-cpu-request", "cpu_request", &*form.cpu_request, Kind::Text),
        ("field-cpu-limit", "cpu_limit", &*form.cpu_limit, Kind::Text),
        ("field-memory-request", "memory_request", &*form.memory_request, Kind::Text),
        ("field-memory-limit", "memory_limit", &*form.memory_limit, Kind::Text),
    ];
    group(t, ("field-used", "fields-pair"), errors, rows)
}

fn lasting(t: Language, form: &TemplateForm, errors: &FormErrors) -> Group {
    let rows = [
        ("field-lifetime", "lifetime_seconds", &*form.lifetime_seconds, Kind::Number),
        ("field-extension", "extension_seconds", &*form.extension_seconds, Kind::Number),
        ("field-longest", "max_lifetime_seconds", &*form.max_lifetime_seconds, Kind::Number),
    ];
    group(t, ("field-lasting", "fields-pair"), errors, rows)
}

fn app_types(t: Language, chosen: &str) -> Vec<Choice> {
    AppType::ALL.into_iter().map(|kind| choice(kind.as_str(), &t.app_type(kind), chosen)).collect()
}

fn profiles(t: Language, chosen: &str) -> Vec<Choice> {
    SecurityProfile::ALL
        .into_iter()
        .map(|profile| choice(profile.as_str(), &t.security_profile(profile), chosen))
        .collect()
}

fn choice(value: &str, label: &str, chosen: &str) -> Choice {
    Choice { value: value.to_owned(), label: label.to_owned(), selected: value == chosen }
}
