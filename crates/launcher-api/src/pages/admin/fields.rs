//! The template editor's fields: their labels, hints and order.

use launcher_domain::{AppType, SecurityProfile};

use super::form::{FormErrors, TemplateForm};
use crate::pages::texts;
use crate::pages::view::Choice;

/// How a field is shown.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// One line.
    Text,
    /// One line with digits.
    Number,
    /// Several lines of prose.
    Prose,
    /// Several lines that are read one by one.
    Lines,
    /// One of a few.
    Select(Vec<Choice>),
    /// Yes or no.
    Check,
}

/// One field.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) id: String,
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) hint: &'static str,
    pub(crate) kind: Kind,
    pub(crate) value: String,
    /// Everything that is wrong with it; empty when nothing is.
    pub(crate) error: String,
}

impl Field {
    /// The attributes that tie hint and error to the field. Made of this module's own words only.
    pub(crate) fn described(&self) -> String {
        let hint = if self.hint.is_empty() { String::new() } else { format!("{}-hint", self.id) };
        let error = if self.error.is_empty() { String::new() } else { format!("{}-error", self.id) };
        let ids = [hint, error].into_iter().filter(|id| !id.is_empty()).collect::<Vec<_>>().join(" ");
        let described = if ids.is_empty() { String::new() } else { format!(" aria-describedby=\"{ids}\"") };
        let invalid = if self.error.is_empty() { "" } else { " aria-invalid=\"true\"" };
        format!("{described}{invalid}")
    }
}

/// Fields that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) legend: &'static str,
    pub(crate) class: &'static str,
    pub(crate) fields: Vec<Field>,
}

const WORDS: &str = "One word per line. A word with a line break in it, or with spaces at an end, is a JSON string: \
                     \"a\\nb\".";
const VARIABLES: &str = "One NAME=value per line. A value that starts with a quotation mark is a JSON string, for line \
                         breaks inside: KEY=\"a\\nb\".";

/// The whole form, as it was typed, with what is wrong beside it.
pub(crate) fn groups(form: &TemplateForm, errors: &FormErrors) -> Vec<Group> {
    vec![shown(form, errors), run(form, errors), used(form, errors), lasting(form, errors)]
}

/// A field of a group: label, name, value, kind, hint.
type Row<'a> = (&'static str, &'static str, &'a str, Kind, &'static str);

fn group<const N: usize>(legend: &'static str, class: &'static str, errors: &FormErrors, rows: [Row<'_>; N]) -> Group {
    let field = |(label, name, value, kind, hint): Row<'_>| Field {
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
    let prose = "Markdown, at most 4,000 characters. Its first lines are shown on the card.";
    let catalog = "People can launch it. Running workshops are not touched when it leaves the catalog.";
    let rows = [
        ("Name", "name", &*form.name, Kind::Text, "1 to 80 characters."),
        ("Description", "description", &*form.description, Kind::Prose, prose),
        ("In the catalog", "active", &*form.active, Kind::Check, catalog),
    ];
    group("What people see", "fields", errors, rows)
}

fn run(form: &TemplateForm, errors: &FormErrors) -> Group {
    let image = "For example quay.io/jupyter/base-notebook:latest.";
    let port = "Where the app listens. Empty: 8787 for RStudio, 8888 for Jupyter; required for a web app.";
    let (kinds, security) = (app_types(&form.app_type), profiles(&form.security_profile));
    let rows = [
        ("Kind of app", "app_type", &*form.app_type, Kind::Select(kinds), ""),
        ("Image", "image", &*form.image, Kind::Text, image),
        ("Port", "port", &*form.port, Kind::Number, port),
        ("Command", "command", &*form.command, Kind::Lines, WORDS),
        ("Arguments", "args", &*form.args, Kind::Lines, WORDS),
        ("Environment", "env", &*form.env, Kind::Lines, VARIABLES),
        ("Security profile", "security_profile", &*form.security_profile, Kind::Select(security), ""),
    ];
    group("What runs", "fields", errors, rows)
}

fn used(form: &TemplateForm, errors: &FormErrors) -> Group {
    let rows = [
        ("CPU set aside", "cpu_request", &*form.cpu_request, Kind::Text, "Empty: 100m."),
        ("CPU at most", "cpu_limit", &*form.cpu_limit, Kind::Text, "Empty: 2."),
        ("Memory set aside", "memory_request", &*form.memory_request, Kind::Text, "Empty: 256Mi."),
        ("Memory at most", "memory_limit", &*form.memory_limit, Kind::Text, "Empty: 2Gi."),
    ];
    group("What it may use", "fields-pair", errors, rows)
}

fn lasting(form: &TemplateForm, errors: &FormErrors) -> Group {
    let lifetime = "From ready to the end. Empty: 7200, two hours.";
    let longest = "No extension goes beyond. Empty: 28800, eight hours.";
    let rows = [
        ("Lifetime in seconds", "lifetime_seconds", &*form.lifetime_seconds, Kind::Number, lifetime),
        (
            "One extension in seconds",
            "extension_seconds",
            &*form.extension_seconds,
            Kind::Number,
            "Empty: 3600, one hour.",
        ),
        ("Longest lifetime in seconds", "max_lifetime_seconds", &*form.max_lifetime_seconds, Kind::Number, longest),
    ];
    group("How long it lasts", "fields-pair", errors, rows)
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
