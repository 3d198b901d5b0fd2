//! The fields of a launch form: one for each launch parameter of the template.

use launcher_domain::{FieldError, Parameter, ParameterKind, SecretValues};

use crate::pages::language::Language;
use crate::pages::paths::PREFIX;
use crate::pages::view::Choice;

/// Input type of a field.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// One line of text.
    Text { max_length: u32 },
    /// One line that the browser hides.
    Secret { max_length: u32 },
    /// A number.
    Number { min: Option<String>, max: Option<String>, step: &'static str },
    /// Choice from a list.
    Choice(Vec<Choice>),
}

/// A field of a launch form.
#[derive(Debug, Clone)]
pub(crate) struct LaunchField {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) label: String,
    /// Help text; empty if the field has none.
    pub(crate) help: String,
    pub(crate) input: Input,
    /// The value as typed, or the default. Empty for a secret, which no page contains.
    pub(crate) value: String,
    /// The error as a sentence; empty if the field is valid.
    pub(crate) error: String,
    pub(crate) is_required: bool,
}

impl LaunchField {
    /// Creates the field of a parameter. `typed` has the values that the reader or a link gave; without one, the field
    /// has the default.
    fn new(t: Language, parameter: &Parameter, typed: &SecretValues, errors: &[FieldError]) -> Self {
        let given = typed.reveal(&parameter.name).or(parameter.default.as_deref()).unwrap_or_default();
        let value = if parameter.is_secret() { "" } else { given };
        let pointer = format!("/parameters/{}", parameter.name);
        let error = errors.iter().find(|error| error.pointer == pointer);
        let label = parameter.label.as_str();
        Self {
            id: format!("parameter-{}", parameter.name),
            name: format!("{PREFIX}{}", parameter.name),
            label: if parameter.required { label.to_owned() } else { t.with_one("parameter-optional", "label", label) },
            help: help(t, parameter),
            input: input(t, parameter, value),
            value: value.to_owned(),
            error: error.map(|error| t.field_error(error)).unwrap_or_default(),
            is_required: parameter.must_be_given(),
        }
    }

    /// Returns the JSON pointer of the parameter.
    pub(super) fn pointer(&self) -> String {
        format!("/parameters/{}", self.name.trim_start_matches(PREFIX))
    }

    /// Returns the HTML attributes that link the field to its help and its error. They need no escaping: the name of a
    /// parameter has only letters, digits and underscores.
    pub(crate) fn described(&self) -> String {
        let ids = [(&self.help, "hint"), (&self.error, "error")];
        let ids: Vec<_> = ids.into_iter().filter(|(text, _)| !text.is_empty()).collect();
        let ids = ids.into_iter().map(|(_, kind)| format!("{}-{kind}", self.id)).collect::<Vec<_>>().join(" ");
        let described = if ids.is_empty() { String::new() } else { format!(" aria-describedby=\"{ids}\"") };
        let invalid = if self.error.is_empty() { "" } else { " aria-invalid=\"true\"" };
        format!("{described}{invalid}")
    }
}

/// Returns the fields of a launch form, in the order of the parameters.
pub(crate) fn fields(
    t: Language,
    parameters: &[Parameter],
    typed: &SecretValues,
    errors: &[FieldError],
) -> Vec<LaunchField> {
    parameters.iter().map(|parameter| LaunchField::new(t, parameter, typed, errors)).collect()
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
            let none = parameter.default.is_none().then(|| (String::new(), t.text("parameter-choose").into_owned()));
            let choices = parameter.choices.iter().map(|choice| (choice.clone(), choice.clone()));
            let choice = |(choice, label): (String, String)| Choice { selected: choice == value, value: choice, label };
            Input::Choice(none.into_iter().chain(choices).map(choice).collect())
        }
    }
}
