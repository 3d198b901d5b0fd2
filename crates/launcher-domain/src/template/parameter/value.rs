//! Values of launch parameters.

use std::collections::BTreeMap;

use super::definition::{Parameter, ParameterKind};
use crate::secrets::SecretValues;
use crate::template::field_error::FieldError;
use crate::template::rule::FieldRule;

/// Maximum characters of a number.
const MAX_NUMBER: usize = 40;
/// Maximum characters of an unknown name that its error repeats.
const SHOWN_CHARACTERS: usize = 40;

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
        if let Err(rule) = check(parameter, value) {
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
    format!("/parameters/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Checks a value.
///
/// # Errors
/// The rule that it breaks. The rule does not contain the value.
pub(super) fn check(parameter: &Parameter, value: &str) -> Result<(), FieldRule> {
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
pub(super) fn is_line(text: &str) -> bool {
    !text.chars().any(|character| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}'))
}
