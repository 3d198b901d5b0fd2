//! Formats and parses the environment variables of a template as lines in a `<textarea>`, without loss.
//!
//! Each line has one `NAME=value`, and is taken literally. Some values do not fit on a line: values with a line break or
//! another control character, with white space at an end, or with a quotation mark at the start. Such values are
//! written as JSON strings. A value that starts with a quotation mark is parsed as a JSON string.

use std::collections::BTreeMap;

use launcher_domain::{TemplateDraft, TemplateSettings};

use crate::pages::language::Language;

/// An invalid line, with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineError {
    /// The line starts with a quotation mark, but is not a JSON string.
    NotJson { line: usize },
    /// The line is not `NAME=value`.
    NotAVariable { line: usize },
    /// The line sets a variable that an earlier line set.
    SetAgain { line: usize, name: String },
}

impl LineError {
    /// Returns the error as a sentence.
    pub(crate) fn text(&self, t: Language) -> String {
        match self {
            Self::NotJson { line } => t.with_one("editor-not-json", "line", *line),
            Self::NotAVariable { line } => t.with_one("editor-not-a-variable", "line", *line),
            Self::SetAgain { line, name } => {
                t.with("editor-second-time", [("line", (*line).into()), ("name", name.as_str().into())])
            }
        }
    }
}

/// Formats environment variables, one per line.
pub(crate) fn from_env(env: &BTreeMap<String, String>) -> String {
    env.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>().join("\n")
}

/// Parses environment variables, one per line. Ignores empty lines.
///
/// # Errors
/// The first invalid line.
pub(crate) fn to_env(text: &str) -> Result<BTreeMap<String, String>, LineError> {
    let mut env = BTreeMap::new();
    for (number, line) in filled_lines(text) {
        let (name, value) = line.split_once('=').ok_or(LineError::NotAVariable { line: number })?;
        let name = name.trim();
        if env.insert(name.to_owned(), decode(value, number)?).is_some() {
            return Err(LineError::SetAgain { line: number, name: name.to_owned() });
        }
    }
    Ok(env)
}

/// Converts line breaks as browsers send them (CR LF) to LF.
pub(crate) fn normal(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns the lines that are not empty, with their numbers.
pub(super) fn filled_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| (index + 1, line))
}

fn encode(text: &str) -> String {
    let plain = !text.starts_with('"') && text.trim() == text && !text.chars().any(char::is_control);
    if plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

fn decode(text: &str, number: usize) -> Result<String, LineError> {
    if !text.trim_start().starts_with('"') {
        return Ok(text.trim().to_owned());
    }
    serde_json::from_str(text.trim()).map_err(|_| LineError::NotJson { line: number })
}

/// Restores the stored line breaks of a description that was not edited: browsers send every line break as CR LF.
pub(super) fn kept(mut draft: TemplateDraft, stored: &TemplateSettings) -> TemplateDraft {
    if draft.description == normal(&stored.description) {
        draft.description.clone_from(&stored.description);
    }
    draft
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_variables_round_trip_through_form() {
        let env: BTreeMap<String, String> = [
            ("JSON", "{\"a\": [1, \"=\"]}"),
            ("EMPTY", ""),
            ("KEY", "-----BEGIN-----\nabc==\n-----END-----\n"),
            ("QUOTED", "\"x\""),
            ("TEMPLATE", "{{ name }} ${HOME} %s"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let sent = from_env(&env).replace('\n', "\r\n");
        assert_eq!(to_env(&sent), Ok(env));
    }

    #[test]
    fn error_of_unreadable_line_contains_line_number() {
        assert_eq!(to_env("A=1\nB"), Err(LineError::NotAVariable { line: 2 }));
        assert_eq!(to_env("A=1\n\nA=2"), Err(LineError::SetAgain { line: 3, name: "A".to_owned() }));
        assert_eq!(to_env("A=\"open"), Err(LineError::NotJson { line: 1 }));
    }
}
