//! Errors in the fields of a request body.

use super::rule::FieldRule;
use crate::coded_text::TextKey;

/// One invalid field of a request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Location of the field: a JSON pointer (RFC 6901), such as `/env/PATH`.
    pub pointer: String,
    /// The rule that the value breaks.
    pub rule: FieldRule,
}

impl FieldError {
    /// Creates an error at a JSON pointer.
    #[must_use]
    pub fn new(pointer: impl Into<String>, rule: FieldRule) -> Self {
        Self { pointer: pointer.into(), rule }
    }

    /// Returns the rule as an English phrase. The API sends it.
    #[must_use]
    pub fn detail(&self) -> String {
        self.rule.to_string()
    }

    /// Returns the key of the rule for translators: `field-rule-<code>`, with the rule's arguments.
    #[must_use]
    pub fn key(&self) -> TextKey {
        TextKey::of("field-rule", &self.rule.coded())
    }
}

/// Collects all errors: validation continues after an error, so that an admin sees all errors at once.
#[derive(Debug, Default)]
pub(super) struct Errors(pub(super) Vec<FieldError>);

impl Errors {
    pub(super) fn add(&mut self, pointer: impl Into<String>, rule: FieldRule) {
        self.0.push(FieldError::new(pointer, rule));
    }

    pub(super) fn check(&mut self, holds: bool, pointer: &str, rule: FieldRule) {
        if !holds {
            self.add(pointer, rule);
        }
    }
}
