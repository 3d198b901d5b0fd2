//! Validated launch parameter of a template.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::text_enum::text_enum;

text_enum! {
    /// Kind of a launch parameter.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
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

/// Validated launch parameter of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Name of the environment variable, unique in the template.
    pub name: String,
    /// Label of the field, 1–80 characters.
    pub label: String,
    /// Help text of the field, 1–300 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Kind of the value.
    pub kind: ParameterKind,
    /// Value for a launch that gives none. Never of a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// True if the launch needs a value, from the user or by default.
    pub required: bool,
    /// Values of a choice, 2–50.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Minimum of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// Maximum of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// True if a number must be a whole one.
    #[serde(default)]
    pub integer: bool,
    /// Maximum characters of a text or a secret, 1–1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
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
}
