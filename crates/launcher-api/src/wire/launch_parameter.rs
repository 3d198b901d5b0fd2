//! Launch parameters as the API sends and receives them.

use std::collections::BTreeMap;
use std::fmt;

use launcher_domain::{Parameter, ParameterKind, SecretValues};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value, json};
use utoipa::ToSchema;

use super::named::ParameterKindName;

/// A value that the user gives at the launch. It becomes an environment variable of the app.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ParameterResponse {
    /// Name of the environment variable.
    #[schema(example = "DATASET")]
    name: String,
    /// Label of the field.
    #[schema(example = "Data set")]
    label: String,
    /// Help text of the field.
    #[schema(required)]
    help: Option<String>,
    #[schema(value_type = ParameterKindName)]
    kind: &'static str,
    /// Value for a launch that gives none. null: the variable is then not set.
    #[schema(required)]
    default: Option<String>,
    /// True if the launch needs a value, from the user or by default.
    required: bool,
    /// Values of a choice; empty for other kinds.
    choices: Vec<String>,
    /// Minimum of a number.
    #[schema(required, value_type = Option<f64>)]
    min: Option<Number>,
    /// Maximum of a number.
    #[schema(required, value_type = Option<f64>)]
    max: Option<Number>,
    /// True if a number must be a whole one.
    integer: bool,
    /// Maximum characters of a text or a secret; null for other kinds.
    #[schema(required)]
    max_length: Option<u32>,
}

impl From<Parameter> for ParameterResponse {
    fn from(parameter: Parameter) -> Self {
        let Parameter { name, label, help, kind, default, required, choices, min, max, integer, max_length } =
            parameter;
        let kind = kind.as_str();
        Self { name, label, help, kind, default, required, choices, min, max, integer, max_length }
    }
}

/// Values of launch parameters by name. No error contains them, because some may be secrets.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenParameters(pub(crate) SecretValues);

impl<'de> Deserialize<'de> for GivenParameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = BTreeMap::<String, GivenValue>::deserialize(deserializer)?;
        Ok(Self(values.into_iter().map(|(name, value)| (name, value.0)).collect()))
    }
}

struct GivenValue(String);

impl fmt::Debug for GivenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenValue")
    }
}

impl<'de> Deserialize<'de> for GivenValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            _ => Err(D::Error::custom("expected a string")),
        }
    }
}

/// Returns the schema of the parameters of a template as admins send them.
pub(super) fn parameters_schema(name: &str, variable: &str) -> Value {
    let text = |most: u32, about: &str| json!({ "type": ["string", "null"], "maxLength": most, "description": about });
    let number = |about: &str| json!({ "type": ["number", "null"], "description": about });
    json!({
        "type": "array", "maxItems": 10, "default": [],
        "description": "Values that a launch asks for. They become environment variables of the app. Their names differ \
                        from each other, from `PORT`, and from those in `env`.",
        "items": {
            "type": "object", "additionalProperties": false, "required": ["name", "label", "kind"],
            "properties": {
                "name": { "type": "string", "pattern": variable, "description": "Name of the environment variable." },
                "label": { "type": "string", "minLength": 1, "maxLength": 80, "pattern": name,
                           "description": "Label of the field." },
                "help": text(300, "Help text of the field, one line."),
                "kind": { "type": "string", "enum": ParameterKind::ALL.map(ParameterKind::as_str),
                          "description": "Kind of the value. secret: the value is never shown again." },
                "default": text(1000, "Value for a launch that gives none. Not for secret."),
                "required": { "type": ["boolean", "null"],
                              "description": "True if the launch needs a value. Default: true without `default`." },
                "choices": { "type": "array", "maxItems": 50, "items": { "type": "string", "minLength": 1, "maxLength": 200 },
                             "description": "2 to 50 different values; only for choice." },
                "min": number("Minimum; only for number."),
                "max": number("Maximum, at least min; only for number."),
                "integer": { "type": "boolean", "default": false,
                             "description": "True if a number must be a whole one; only for number." },
                "max_length": { "type": ["integer", "null"], "minimum": 1, "maximum": 1000,
                                "description": "Maximum characters; only for text and secret. Default: 200." },
            },
        },
        "examples": [[{ "name": "DATASET", "label": "Data set", "kind": "choice", "choices": ["iris", "cars"] }]],
    })
}
