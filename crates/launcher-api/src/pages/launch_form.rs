//! Values of launch parameters in forms and links, the repository that a link may name, and the fields of the launch form.

use std::collections::BTreeMap;

use launcher_domain::template::read_values;
use launcher_domain::{FieldError, Parameter, ParameterKind, RepositoryDraft, SecretValues, Template};
use serde::Deserialize;
use uuid::Uuid;

use crate::pages::language::Language;
use crate::pages::paths::PREFIX;
use crate::pages::view::{Choice, described};
use crate::problem::{Problem, ProblemCode};

/// The form of the button "Launch". It has no field for the owner: the caller becomes the owner.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Vec<(String, String)>")]
pub(crate) struct LaunchForm {
    /// Idempotency key of the rendered form: a form that is sent twice launches once. An invalid key counts as absent.
    pub(super) idempotency_key: String,
    /// Path to open after the launch.
    pub(super) return_to: Option<String>,
    /// Repository that the launch adds to the course material.
    pub(super) repository: Option<RepositoryDraft>,
    /// Snapshot whose files the workshop starts with. An invalid identifier is one of no snapshot.
    pub(super) snapshot: Option<Uuid>,
    pub(super) parameters: SecretValues,
}

/// Names of the fields that are not launch parameters.
const FIELDS: [&str; 6] = ["idempotency_key", "return_to", "repo", "ref", "path", "snapshot"];

impl TryFrom<Vec<(String, String)>> for LaunchForm {
    type Error = String;

    /// Reads the fields. The error names the unknown or repeated field, without its value.
    fn try_from(fields: Vec<(String, String)>) -> Result<Self, String> {
        let mut known = BTreeMap::new();
        for (name, value) in fields {
            let is_known = FIELDS.contains(&name.as_str()) || name.starts_with(PREFIX);
            if !is_known || known.insert(name.clone(), value).is_some() {
                return Err(name);
            }
        }
        let mut take = |name: &str| known.remove(name).unwrap_or_default();
        Ok(Self {
            idempotency_key: take("idempotency_key"),
            repository: repository(take("repo"), take("ref"), take("path")),
            snapshot: snapshot(&take("snapshot")),
            return_to: known.remove("return_to"),
            parameters: named(known),
        })
    }
}

/// Returns the values by parameter, without the prefix of their fields.
fn named(fields: BTreeMap<String, String>) -> SecretValues {
    let name = |name: String| name.strip_prefix(PREFIX).map(str::to_owned);
    fields.into_iter().filter_map(|(field, value)| Some((name(field)?, value.trim().to_owned()))).collect()
}

/// The values that a link puts into the fields of a form.
#[derive(Debug, Default)]
pub(super) struct Prefill {
    pub(super) values: SecretValues,
    pub(super) errors: Vec<FieldError>,
    /// Names for which the link cannot give a value: of secrets, and of parameters that the template does not have.
    pub(super) ignored: Vec<String>,
}

impl Prefill {
    /// True without any value, also without an ignored one.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.ignored.is_empty()
    }

    pub(super) fn of_link(parameters: &[Parameter], query: &BTreeMap<String, String>) -> Self {
        let given = named(query.clone());
        let is_open = |name: &str| parameters.iter().any(|parameter| parameter.name == name && !parameter.is_secret());
        let (used, ignored): (Vec<_>, Vec<_>) = given.reveal_all().partition(|(name, _)| is_open(name));
        let values: SecretValues = used.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut errors = read_values(parameters, &values).err().unwrap_or_default();
        errors.retain(|error| error.pointer.rsplit('/').next().is_some_and(|name| values.contains(name)));
        Self { values, errors, ignored: ignored.into_iter().map(|(name, _)| name.to_owned()).collect() }
    }

    /// Returns the values of an earlier launch, except those that the template does not accept any more.
    pub(super) fn of_launch(parameters: &[Parameter], values: &BTreeMap<String, Option<String>>) -> Self {
        let fields = values.iter().filter_map(|(name, value)| Some((format!("{PREFIX}{name}"), value.clone()?)));
        Self { ignored: Vec::new(), errors: Vec::new(), ..Self::of_link(parameters, &fields.collect()) }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Input {
    Text {
        max_length: u32,
    },
    /// One line that the browser hides.
    Secret {
        max_length: u32,
    },
    Number {
        min: Option<String>,
        max: Option<String>,
        step: &'static str,
    },
    Choice(Vec<Choice>),
}

#[derive(Debug, Clone)]
pub(crate) struct LaunchField {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) label: String,
    /// Help text; empty if the field has none.
    pub(crate) hint: String,
    pub(crate) input: Input,
    /// The value as typed, or the default. Empty for a secret, which no page contains.
    pub(crate) value: String,
    /// The error as a sentence; empty if the field is valid.
    pub(crate) error: String,
    pub(crate) is_required: bool,
}

impl LaunchField {
    /// Creates the field of a parameter. Without a value that the reader or a link gave, the field has the default.
    pub(super) fn new(t: Language, parameter: &Parameter, Prefill { values, errors, .. }: &Prefill) -> Self {
        let given = values.reveal(&parameter.name).or(parameter.default.as_deref()).unwrap_or_default();
        let value = if parameter.is_secret() { "" } else { given };
        let pointer = format!("/parameters/{}", parameter.name);
        let error = errors.iter().find(|error| error.pointer == pointer);
        let label = parameter.label.as_str();
        Self {
            id: format!("parameter-{}", parameter.name),
            name: format!("{PREFIX}{}", parameter.name),
            label: if parameter.required { label.to_owned() } else { t.with_one("parameter-optional", "label", label) },
            hint: help(t, parameter),
            input: input(t, parameter, value),
            value: value.to_owned(),
            error: error.map(|error| t.field_error(error)).unwrap_or_default(),
            is_required: parameter.must_be_given(),
        }
    }

    pub(super) fn pointer(&self) -> String {
        format!("/parameters/{}", self.name.trim_start_matches(PREFIX))
    }

    pub(crate) fn described(&self) -> String {
        described(&self.id, !self.hint.is_empty(), !self.error.is_empty())
    }
}

fn help(t: Language, parameter: &Parameter) -> String {
    let own = parameter.help.clone().unwrap_or_default();
    match (parameter.is_secret(), own.is_empty()) {
        (false, _) => own,
        (true, true) => t.text("parameter-secret-hint").into_owned(),
        (true, false) => t.with_one("parameter-secret-help", "help", own),
    }
}

fn input(t: Language, parameter: &Parameter, value: &str) -> Input {
    let max_length = parameter.max_length.unwrap_or(u32::MAX);
    match parameter.kind {
        ParameterKind::Text => Input::Text { max_length },
        ParameterKind::Secret => Input::Secret { max_length },
        ParameterKind::Number => Input::Number {
            min: parameter.min.as_ref().map(ToString::to_string),
            max: parameter.max.as_ref().map(ToString::to_string),
            step: if parameter.integer { "1" } else { "any" },
        },
        ParameterKind::Choice => {
            let none =
                parameter.default.is_none().then(|| Choice::new("", t.text("parameter-choose"), value.is_empty()));
            let choices = parameter.choices.iter().map(|choice| Choice::new(choice, choice, choice == value));
            Input::Choice(none.into_iter().chain(choices).collect())
        }
    }
}

/// Returns the snapshot of a field of a query or a form; `None` if it is empty.
pub(super) fn snapshot(text: &str) -> Option<Uuid> {
    (!text.is_empty()).then(|| Uuid::try_parse(text).unwrap_or_default())
}

/// Returns the repository of these fields of a query or a form; `None` without a URL.
pub(super) fn repository(url: String, reference: String, folder: String) -> Option<RepositoryDraft> {
    let given = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    Some(RepositoryDraft { url: given(url)?, reference: given(reference), folder: given(folder) })
}

/// Returns the path of the page of a template, with the repository.
pub(super) fn launch_path(template_id: Uuid, repository: Option<&RepositoryDraft>) -> String {
    let page = format!("/launch/{template_id}");
    let Some(RepositoryDraft { url, reference, folder }) = repository else { return page };
    let fields = [("repo", Some(url)), ("ref", reference.as_ref()), ("path", folder.as_ref())];
    let given = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish();
    format!("{page}?{query}")
}

/// Checks that the template allows the repository.
///
/// # Errors
/// InvalidParameters, with all rules that the repository breaks.
pub(super) fn check_repository(
    t: Language,
    template: &Template,
    repository: Option<&RepositoryDraft>,
) -> Result<(), Problem> {
    let Some(repository) = repository else { return Ok(()) };
    let Err(errors) = template.settings.with_repository(repository.clone()) else { return Ok(()) };
    let details: Vec<String> = errors.iter().map(|error| t.coded(&error.key())).collect();
    let detail = t.with_one("repository-refused", "wrong", details.join("; "));
    Err(Problem::new(ProblemCode::InvalidParameters, detail))
}
