//! The fields of the template editor, in the order of the form.

use launcher_domain::{AppType, SecurityProfile};

use super::form::{FormErrors, TemplateForm};
use crate::pages::texts::{self, Label, fields as words};
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
    pub(crate) label: &'static str,
    pub(crate) hint: &'static str,
    pub(crate) kind: Kind,
    pub(crate) value: String,
    /// All errors of the field, as sentences; empty if the field is valid.
    pub(crate) error: String,
}

impl Field {
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
    pub(crate) legend: &'static str,
    pub(crate) class: &'static str,
    pub(crate) fields: Vec<Field>,
}

/// Returns all groups of the form. Each field has the value as typed, and its errors.
pub(crate) fn groups(form: &TemplateForm, errors: &FormErrors) -> Vec<Group> {
    vec![shown(form, errors), run(form, errors), used(form, errors), lasting(form, errors)]
}

/// A field before it is built: label with hint, name, value, kind.
type Row<'a> = (Label, &'static str, &'a str, Kind);

fn group<const N: usize>(legend: &'static str, class: &'static str, errors: &FormErrors, rows: [Row<'_>; N]) -> Group {
    let field = |(Label { label, hint }, name, value, kind): Row<'_>| Field {
        id: format!("field-{name}"),
        name,
        label,
        hint,
        kind,
        value: value.to_owned(),
        error: errors.of(name),
    };
    Group { legend, class, fields: rows.into_iter().map(field).collect() }
}

fn shown(form: &TemplateForm, errors: &FormErrors) -> Group {
    let rows = [
        (words::NAME, "name", &*form.name, Kind::Text),
        (words::DESCRIPTION, "description", &*form.description, Kind::Prose),
        (words::ACTIVE, "active", &*form.active, Kind::Check),
    ];
    group(words::SHOWN, "fields", errors, rows)
}

fn run(form: &TemplateForm, errors: &FormErrors) -> Group {
    let (kinds, security) = (app_types(&form.app_type), profiles(&form.security_profile));
    let rows = [
        (words::APP_TYPE, "app_type", &*form.app_type, Kind::Select(kinds)),
        (words::IMAGE, "image", &*form.image, Kind::Text),
        (words::PORT, "port", &*form.port, Kind::Number),
        (words::COMMAND, "command", &*form.command, Kind::Lines),
        (words::ARGUMENTS, "args", &*form.args, Kind::Lines),
        (words::ENVIRONMENT, "env", &*form.env, Kind::Lines),
        (words::SECURITY_PROFILE, "security_profile", &*form.security_profile, Kind::Select(security)),
    ];
    group(words::RUN, "fields", errors, rows)
}

fn used(form: &TemplateForm, errors: &FormErrors) -> Group {
    let rows = [
        (words::CPU_REQUEST, "cpu_request", &*form.cpu_request, Kind::Text),
        (words::CPU_LIMIT, "cpu_limit", &*form.cpu_limit, Kind::Text),
        (words::MEMORY_REQUEST, "memory_request", &*form.memory_request, Kind::Text),
        (words::MEMORY_LIMIT, "memory_limit", &*form.memory_limit, Kind::Text),
    ];
    group(words::USED, "fields-pair", errors, rows)
}

fn lasting(form: &TemplateForm, errors: &FormErrors) -> Group {
    let rows = [
        (words::LIFETIME, "lifetime_seconds", &*form.lifetime_seconds, Kind::Number),
        (words::EXTENSION, "extension_seconds", &*form.extension_seconds, Kind::Number),
        (words::LONGEST, "max_lifetime_seconds", &*form.max_lifetime_seconds, Kind::Number),
    ];
    group(words::LASTING, "fields-pair", errors, rows)
}

fn app_types(chosen: &str) -> Vec<Choice> {
    AppType::ALL.into_iter().map(|kind| choice(kind.as_str(), texts::app_type(kind), chosen)).collect()
}

fn profiles(chosen: &str) -> Vec<Choice> {
    SecurityProfile::ALL
        .into_iter()
        .map(|profile| choice(profile.as_str(), texts::security_profile(profile), chosen))
        .collect()
}

fn choice(value: &str, label: &str, chosen: &str) -> Choice {
    Choice { value: value.to_owned(), label: label.to_owned(), selected: value == chosen }
}
