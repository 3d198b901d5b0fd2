//! Secret values: environment variables that no log, error or answer may contain.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Text in place of a secret value.
const REDACTED: &str = "(secret)";
/// Shorter values, in characters, are not redacted: they occur in any text by chance.
const LEAST_REDACTED: usize = 4;

/// Values by the name of an environment variable. `Debug` shows the names only.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretValues(BTreeMap<String, String>);

impl SecretValues {
    #[must_use]
    pub const fn none() -> Self {
        Self(BTreeMap::new())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if the variable has a value.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the value of a variable, for the app and nothing else.
    #[must_use]
    pub fn reveal(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns all variables with their values, for the app and nothing else.
    pub fn reveal_all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the text with `(secret)` in place of each occurrence of a value of at least 4 characters. Occurrences that
    /// overlap are replaced together, so that no part of a value is left.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let values: Vec<&str> =
            self.0.values().map(String::as_str).filter(|value| value.chars().count() >= LEAST_REDACTED).collect();
        let mut redacted = String::with_capacity(text.len());
        let mut end_of_secret = 0;
        for (at, character) in text.char_indices() {
            let rest = text.get(at..).unwrap_or_default();
            let longest = values.iter().filter(|value| rest.starts_with(**value)).map(|value| value.len()).max();
            if let Some(length) = longest {
                if at >= end_of_secret {
                    redacted.push_str(REDACTED);
                }
                end_of_secret = end_of_secret.max(at + length);
            }
            if at >= end_of_secret {
                redacted.push(character);
            }
        }
        redacted
    }
}

impl FromIterator<(String, String)> for SecretValues {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(values: T) -> Self {
        Self(values.into_iter().collect())
    }
}

impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
