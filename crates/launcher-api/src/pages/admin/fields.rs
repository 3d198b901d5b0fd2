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

/// The whole form, as it was typed, with what is wrong beside it.
pub(crate) fn groups(form: &TemplateForm, errors: &FormErrors) -> Vec<Group> {
    let field = |name: &'static str, label, value: &str, kind, hint| Field {
        id: format!("field-{name}"),
        name,
        label,
        hint,
        kind,
        value: value.to_owned(),
        error: errors.of(name),
    };
    let lines =
        "One word per line. A word with a line break in it, or with spaces at an end, is a JSON string: \"a\\nb\".";
    vec![
        Group {
            legend: "What people see",
            class: "fields",
            fields: vec![
                field("name", "Name", &form.name, Kind::Text, "1 to 80 characters."),
                field(
                    "description",
                    "Description",
                    &form.description,
                    Kind::Prose,
                    "Markdown, at most 4,000 characters. Its first lines are shown on the card.",
                ),
                field(
                    "active",
                    "In the catalog",
                    &form.active,
                    Kind::Check,
                    "People can launch it. Running workshops are not touched when it leaves the catalog.",
                ),
            ],
        },
        Group {
            legend: "What runs",
            class: "fields",
            fields: vec![
                field("app_type", "Kind of app", &form.app_type, Kind::Select(app_types(&form.app_type)), ""),
                field("image", "Image", &form.image, Kind::Text, "For example quay.io/jupyter/base-notebook:latest."),
                field(
                    "port",
                    "Port",
                    &form.port,
                    Kind::Number,
                    "Where the app listens. Empty: 8787 for RStudio, 8888 for Jupyter; required for a web app.",
                ),
                field("command", "Command", &form.command, Kind::Lines, lines),
                field("args", "Arguments", &form.args, Kind::Lines, lines),
                field(
                    "env",
                    "Environment",
                    &form.env,
                    Kind::Lines,
                    "One NAME=value per line. A value that starts with a quotation mark is a JSON string, for line breaks inside: KEY=\"a\\nb\".",
                ),
                field(
                    "security_profile",
                    "Security profile",
                    &form.security_profile,
                    Kind::Select(profiles(&form.security_profile)),
                    "",
                ),
            ],
        },
        Group {
            legend: "What it may use",
            class: "fields-pair",
            fields: vec![
                field("cpu_request", "CPU set aside", &form.cpu_request, Kind::Text, "Empty: 100m."),
                field("cpu_limit", "CPU at most", &form.cpu_limit, Kind::Text, "Empty: 2."),
                field("memory_request", "Memory set aside", &form.memory_request, Kind::Text, "Empty: 256Mi."),
                field("memory_limit", "Memory at most", &form.memory_limit, Kind::Text, "Empty: 2Gi."),
            ],
        },
        Group {
            legend: "How long it lasts",
            class: "fields-pair",
            fields: vec![
                field(
                    "lifetime_seconds",
                    "Lifetime in seconds",
                    &form.lifetime_seconds,
                    Kind::Number,
                    "From ready to the end. Empty: 7200, two hours.",
                ),
                field(
                    "extension_seconds",
                    "One extension in seconds",
                    &form.extension_seconds,
                    Kind::Number,
                    "Empty: 3600, one hour.",
                ),
                field(
                    "max_lifetime_seconds",
                    "Longest lifetime in seconds",
                    &form.max_lifetime_seconds,
                    Kind::Number,
                    "No extension goes beyond. Empty: 28800, eight hours.",
                ),
            ],
        },
    ]
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
