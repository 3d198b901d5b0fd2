//! Launch parameters as an admin writes them, and their validation.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::definition::{Parameter, ParameterKind};
use super::value::{check, is_line};
use crate::template::field_error::Errors;
use crate::template::rule::FieldRule;
use crate::template::variable::check_variable;
use crate::template::visible::has_invisible;

const MAX_PARAMETERS: usize = 10;
const MAX_LABEL: usize = 80;
const MAX_HELP: usize = 300;
const CHOICES: std::ops::RangeInclusive<usize> = 2..=50;
const MAX_CHOICE: usize = 200;
const LENGTHS: std::ops::RangeInclusive<i64> = 1..=1000;
/// Variable with the port of the app, which the service sets.
const PORT: &str = "PORT";

/// Launch parameter as an admin writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterDraft {
    /// Name of the environment variable.
    pub name: String,
    /// Label of the field.
    pub label: String,
    /// Help text of the field.
    #[serde(default)]
    pub help: Option<String>,
    /// Kind of the value.
    pub kind: ParameterKind,
    /// Value for a launch that gives none.
    #[serde(default)]
    pub default: Option<String>,
    /// True if the launch needs a value. The default is true, unless the parameter has a default.
    #[serde(default)]
    pub required: Option<bool>,
    /// Values of a choice.
    #[serde(default)]
    pub choices: Vec<String>,
    /// Minimum of a number.
    #[serde(default)]
    pub min: Option<Number>,
    /// Maximum of a number.
    #[serde(default)]
    pub max: Option<Number>,
    /// True if a number must be a whole one.
    #[serde(default)]
    pub integer: bool,
    /// Maximum characters of a text or a secret; default 200.
    #[serde(default)]
    pub max_length: Option<i64>,
}

impl ParameterDraft {
    /// Maximum characters of a text or a secret whose draft gives none.
    pub const MAX_LENGTH: u32 = 200;
}

impl From<Parameter> for ParameterDraft {
    fn from(parameter: Parameter) -> Self {
        let Parameter { name, label, help, kind, default, required, choices, min, max, integer, max_length } =
            parameter;
        let (required, max_length) = (Some(required), max_length.map(i64::from));
        Self { name, label, help, kind, default, required, choices, min, max, integer, max_length }
    }
}

/// Returns the parameters. After an error, they are meaningless. `env` are the variables that the template sets itself.
pub(in crate::template) fn validated(
    drafts: Vec<ParameterDraft>,
    env: &BTreeMap<String, String>,
    errors: &mut Errors,
) -> Vec<Parameter> {
    errors.check(drafts.len() <= MAX_PARAMETERS, "/parameters", FieldRule::ParameterCount);
    let mut names = BTreeSet::new();
    let mut parameters = Vec::new();
    for (index, draft) in drafts.into_iter().take(MAX_PARAMETERS).enumerate() {
        let pointer = format!("/parameters/{index}");
        let at_name = format!("{pointer}/name");
        check_variable(&draft.name, &at_name, errors);
        let name = draft.name.clone();
        errors.check(name != PORT, &at_name, FieldRule::ParameterReserved { name: name.clone() });
        errors.check(!env.contains_key(&name), &at_name, FieldRule::ParameterInEnv { name: name.clone() });
        let is_new = names.insert(name.clone());
        errors.check(is_new, &at_name, FieldRule::ParameterRepeated { name });
        parameters.push(draft.validated(&pointer, errors));
    }
    parameters
}

impl ParameterDraft {
    fn validated(self, pointer: &str, errors: &mut Errors) -> Parameter {
        self.check_fields(pointer, errors);
        let at = |field: &str| format!("{pointer}/{field}");
        let label = self.label.trim().to_owned();
        let is_label = (1..=MAX_LABEL).contains(&label.chars().count()) && !has_invisible(&label);
        errors.check(is_label, &at("label"), FieldRule::Name);
        let help = self.help.map(|help| help.trim().to_owned()).filter(|help| !help.is_empty());
        let is_help = help.as_ref().is_none_or(|help| help.chars().count() <= MAX_HELP && !has_invisible(help));
        errors.check(is_help, &at("help"), FieldRule::ParameterHelp);
        let is_text = matches!(self.kind, ParameterKind::Text | ParameterKind::Secret);
        let length = self.max_length.unwrap_or(ParameterDraft::MAX_LENGTH.into());
        errors.check(LENGTHS.contains(&length), &at("max_length"), FieldRule::ParameterLength);
        let default = self.default.filter(|default| !default.is_empty());
        let parameter = Parameter {
            name: self.name,
            label,
            help,
            kind: self.kind,
            required: self.required.unwrap_or(default.is_none()),
            default,
            choices: self.choices,
            min: self.min,
            max: self.max,
            integer: self.integer,
            max_length: is_text.then(|| u32::try_from(length).unwrap_or(ParameterDraft::MAX_LENGTH)),
        };
        parameter.check_limits(pointer, errors);
        parameter
    }

    /// Checks that the fields belong to the kind of the parameter.
    fn check_fields(&self, pointer: &str, errors: &mut Errors) {
        use ParameterKind::{Choice, Number, Secret, Text};
        let fields: [(&str, bool, &[ParameterKind]); 6] = [
            ("default", self.default.is_some(), &[Text, Choice, Number]),
            ("choices", !self.choices.is_empty(), &[Choice]),
            ("min", self.min.is_some(), &[Number]),
            ("max", self.max.is_some(), &[Number]),
            ("integer", self.integer, &[Number]),
            ("max_length", self.max_length.is_some(), &[Text, Secret]),
        ];
        for (field, is_given, kinds) in fields {
            if is_given && !kinds.contains(&self.kind) {
                let rule = FieldRule::ParameterField { kind: self.kind.as_str().to_owned() };
                errors.add(format!("{pointer}/{field}"), rule);
            }
        }
    }
}

impl Parameter {
    fn check_limits(&self, pointer: &str, errors: &mut Errors) {
        if self.kind == ParameterKind::Choice {
            let is_choice = |choice: &String| (1..=MAX_CHOICE).contains(&choice.chars().count()) && is_line(choice);
            let distinct: BTreeSet<_> = self.choices.iter().collect();
            let are_choices = CHOICES.contains(&self.choices.len())
                && distinct.len() == self.choices.len()
                && self.choices.iter().all(is_choice);
            errors.check(are_choices, &format!("{pointer}/choices"), FieldRule::ParameterChoices);
        }
        if let (Some(min), Some(max)) = (&self.min, &self.max) {
            errors.check(min.as_f64() <= max.as_f64(), &format!("{pointer}/max"), FieldRule::ParameterRange);
        }
        if let Some(Err(rule)) = self.default.as_ref().map(|default| check(self, default)) {
            errors.add(format!("{pointer}/default"), rule);
        }
    }
}
