//! Launch parameters of a template: values that a launch asks for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Number, Value, json};

use super::codecs::{AnyNumber, Name, Variable, has_invisible, text_codec};
use super::field::{Audience, Codec, Errors, FieldError, integer, items, join, json_object, text};
use super::rule::FieldRule;
use super::variable::APP_VARIABLES;
use crate::secrets::SecretValues;
use crate::text_enum::text_enum;

const MAX_PARAMETERS: usize = 10;
const MAX_HELP: usize = 300;
const MAX_DEFAULT: usize = 1000;
const CHOICES: std::ops::RangeInclusive<usize> = 2..=50;
const MAX_CHOICE: usize = 200;
const LENGTHS: std::ops::RangeInclusive<i64> = 1..=1000;
/// Maximum characters of a text, if the parameter does not say another one.
const MAX_LENGTH: u32 = 200;
/// Maximum characters of a number.
const MAX_NUMBER: usize = 40;
/// Maximum characters of an unknown name that its error repeats.
const SHOWN_CHARACTERS: usize = 40;

text_enum! {
    /// Kind of a launch parameter.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ParameterKind {
        /// One line of text.
        Text = "text",
        /// One of the choices.
        Choice = "choice",
        /// A decimal number.
        Number = "number",
        /// One line of text that is never shown again.
        Secret = "secret",
    }
}

json_object! {
    /// A value that the user gives at the launch. It becomes an environment variable of the app.
    pub struct Parameter {
        /// Name of the environment variable.
        name: String = required(Variable),
        /// Label of the field.
        label: String = required(Name),
        /// Help text of the field, one line.
        help: Option<String> = optional_text(Help),
        /// Kind of the value. secret: the value is never shown again.
        kind: ParameterKind = required(ParameterKind),
        /// Value for a launch that gives none. Not for secret. null: the variable is then not set.
        default: Option<String> = optional(DefaultValue),
        /// True if the launch needs a value, from the user or by default.
        required: bool = filled(bool, "Default: true without `default`."),
        /// 2 to 50 different values; only for choice.
        choices: Vec<String> = defaulted(Choices, json!([])),
        /// Minimum; only for number.
        min: Option<Number> = optional(AnyNumber),
        /// Maximum, at least min; only for number.
        max: Option<Number> = optional(AnyNumber),
        /// True if a number must be a whole one; only for number.
        integer: bool = defaulted(bool, false.into()),
        /// Maximum characters; only for text and secret. Default: 200.
        max_length: Option<u32> = optional(Length),
    }
}

text_codec! {
    Help, { "type": "string", "maxLength": MAX_HELP },
    ParameterHelp if not |help| help.chars().count() <= MAX_HELP && !has_invisible(help)
}

/// Value for a launch that gives none. The kind of the parameter decides on its rules.
enum DefaultValue {}

impl Codec for DefaultValue {
    type Value = String;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<String> {
        text(json, at, errors).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "string", "maxLength": MAX_DEFAULT })
    }
}

/// Choices of a parameter. Their rule needs the kind of the parameter.
enum Choices {}

impl Codec for Choices {
    type Value = Vec<String>;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Vec<String>> {
        let Some(choices) = json.as_array() else { return errors.wrong_type(at, FieldRule::List) };
        let choice = |(index, choice)| text(choice, &format!("{at}/{index}"), errors).map(str::to_owned);
        Some(choices.iter().enumerate().filter_map(choice).collect())
    }

    fn schema(_: Audience) -> Value {
        let choice = json!({ "type": "string", "minLength": 1, "maxLength": MAX_CHOICE });
        json!({ "type": "array", "maxItems": CHOICES.end(), "items": choice })
    }
}

/// Maximum length of a value.
enum Length {}

impl Codec for Length {
    type Value = u32;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<u32> {
        let length = integer(json, at, errors)?;
        errors.check(LENGTHS.contains(&length), at, FieldRule::ParameterLength);
        Some(u32::try_from(length).unwrap_or(MAX_LENGTH))
    }

    fn schema(_: Audience) -> Value {
        json!({ "type": "integer", "format": "int32", "minimum": LENGTHS.start(), "maximum": LENGTHS.end() })
    }
}

pub(super) enum Parameters {}

impl Codec for Parameters {
    type Value = Vec<Parameter>;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Vec<Parameter>> {
        let is_short = json.as_array().is_none_or(|parameters| parameters.len() <= MAX_PARAMETERS);
        errors.check(is_short, at, FieldRule::ParameterCount);
        let first = json.as_array().map(|parameters| parameters.iter().take(MAX_PARAMETERS).map(filled).collect());
        items::<Parameter>(first.as_ref().unwrap_or(json), at, errors)
    }

    fn schema(audience: Audience) -> Value {
        let example =
            json!([{ "name": "DATASET", "label": "Data set", "kind": "choice", "choices": ["iris", "cars"] }]);
        let items = Parameter::schema(audience);
        let mut schema = json!({ "type": "array", "maxItems": MAX_PARAMETERS, "items": items });
        if audience == Audience::Request {
            schema["examples"] = json!([example]);
        }
        schema
    }
}

/// Returns a parameter with the default of `required`, which depends on the field `default`.
fn filled(parameter: &Value) -> Value {
    let mut parameter = parameter.clone();
    let has_default = parameter.get("default").is_some_and(|default| !default.is_null() && default != "");
    if let Some(object) = parameter.as_object_mut()
        && object.get("required").is_none_or(Value::is_null)
    {
        object.insert("required".to_owned(), (!has_default).into());
    }
    parameter
}

/// Checks the parameters with each other and with `env`, the variables that the template sets itself. Completes each.
pub(super) fn check(parameters: &mut [Parameter], env: &BTreeMap<String, String>, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for (index, parameter) in parameters.iter_mut().enumerate() {
        let at = format!("/parameters/{index}");
        let at_name = format!("{at}/name");
        let name = parameter.name.clone();
        errors.check(!APP_VARIABLES.contains(&&*name), &at_name, FieldRule::ParameterReserved { name: name.clone() });
        errors.check(!env.contains_key(&name), &at_name, FieldRule::ParameterInEnv { name: name.clone() });
        if !names.insert(name.clone()) {
            errors.add_first(&at_name, FieldRule::ParameterRepeated { name });
        }
        if errors.has(&format!("{at}/kind")) {
            continue;
        }
        parameter.check_fields(&at, errors);
        let is_text = matches!(parameter.kind, ParameterKind::Text | ParameterKind::Secret);
        parameter.max_length = is_text.then(|| parameter.max_length.unwrap_or(MAX_LENGTH));
        parameter.check_limits(&at, errors);
    }
}

impl Parameter {
    /// True if the value must not be shown or logged.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.kind == ParameterKind::Secret
    }

    /// True if a launch without a value of the user is refused.
    #[must_use]
    pub fn must_be_given(&self) -> bool {
        self.required && self.default.is_none()
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
        if let Some(Err(rule)) = self.default.as_ref().map(|default| check_value(self, default)) {
            errors.add(format!("{pointer}/default"), rule);
        }
    }
}

/// Values of the parameters of one launch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchValues {
    /// Values by name. `None` is a secret value, which is in `secrets`. A parameter without a value is absent.
    pub values: BTreeMap<String, Option<String>>,
    /// Values of the secret parameters.
    pub secrets: SecretValues,
}

/// Returns the values of a launch. An empty value counts as absent: the default applies, if there is one.
///
/// # Errors
/// All errors, each at `/parameters/NAME`; never empty. They contain no value.
pub fn read_values(parameters: &[Parameter], given: &SecretValues) -> Result<LaunchValues, Vec<FieldError>> {
    let mut errors = Vec::new();
    for (name, _) in given.reveal_all() {
        if !parameters.iter().any(|parameter| parameter.name == name) {
            let shown = name.chars().take(SHOWN_CHARACTERS).collect();
            errors.push(FieldError::new(pointer(name), FieldRule::ParameterUnknown { name: shown }));
        }
    }
    let (mut values, mut secrets) = (BTreeMap::new(), Vec::new());
    for parameter in parameters {
        let given = given.reveal(&parameter.name).filter(|value| !value.is_empty());
        let Some(value) = given.or(parameter.default.as_deref()) else {
            if parameter.required {
                errors.push(FieldError::new(pointer(&parameter.name), FieldRule::ParameterRequired));
            }
            continue;
        };
        if let Err(rule) = check_value(parameter, value) {
            errors.push(FieldError::new(pointer(&parameter.name), rule));
        } else if parameter.is_secret() {
            values.insert(parameter.name.clone(), None);
            secrets.push((parameter.name.clone(), value.to_owned()));
        } else {
            values.insert(parameter.name.clone(), Some(value.to_owned()));
        }
    }
    if errors.is_empty() { Ok(LaunchValues { values, secrets: secrets.into_iter().collect() }) } else { Err(errors) }
}

fn pointer(name: &str) -> String {
    join("/parameters", name)
}

/// Checks a value.
///
/// # Errors
/// The rule that it breaks. The rule does not contain the value.
fn check_value(parameter: &Parameter, value: &str) -> Result<(), FieldRule> {
    if !is_line(value) {
        return Err(FieldRule::ParameterLine);
    }
    match parameter.kind {
        ParameterKind::Text | ParameterKind::Secret => {
            let max = parameter.max_length.unwrap_or(u32::MAX);
            let fits = u32::try_from(value.chars().count()).is_ok_and(|length| length <= max);
            if fits { Ok(()) } else { Err(FieldRule::ParameterTooLong { max: max.to_string() }) }
        }
        ParameterKind::Choice if parameter.choices.iter().any(|choice| choice == value) => Ok(()),
        ParameterKind::Choice => Err(FieldRule::ParameterChoice),
        ParameterKind::Number => check_number(parameter, value),
    }
}

fn check_number(parameter: &Parameter, text: &str) -> Result<(), FieldRule> {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_decimal = are_digits(whole.strip_prefix('-').unwrap_or(whole)) && fraction.is_none_or(are_digits);
    let number = text.parse::<f64>().ok().filter(|_| is_decimal && text.len() <= MAX_NUMBER);
    let Some(number) = number else { return Err(FieldRule::ParameterNumber) };
    if parameter.integer && fraction.is_some() {
        return Err(FieldRule::ParameterInteger);
    }
    if let Some(min) = &parameter.min
        && min.as_f64().is_some_and(|min| number < min)
    {
        return Err(FieldRule::ParameterMin { min: min.to_string() });
    }
    if let Some(max) = &parameter.max
        && max.as_f64().is_some_and(|max| number > max)
    {
        return Err(FieldRule::ParameterMax { max: max.to_string() });
    }
    Ok(())
}

/// True for a text on one line, without control characters.
fn is_line(text: &str) -> bool {
    !text.chars().any(|character| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}'))
}
