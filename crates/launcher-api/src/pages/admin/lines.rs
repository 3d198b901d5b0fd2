//! Formats and parses the command and the environment variables of a template as lines in a `<textarea>`, without loss.
//!
//! Each line has one word of the command, or one `NAME=value`, and is taken literally. Some texts do not fit on a line:
//! empty texts, and texts with a line break or another control character, with white space at an end, or with a
//! quotation mark at the start. Such texts are written as JSON strings. A text that starts with a quotation mark is
//! parsed as a JSON string.

use std::collections::BTreeMap;

use crate::pages::texts::editor as words;

/// Formats the words of a command, one per line.
pub(crate) fn from_words(words: &[String]) -> String {
    words
        .iter()
        .map(|word| if word.is_empty() { "\"\"".to_owned() } else { encode(word) })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Parses the words of a command, one per line. Ignores empty lines.
///
/// # Errors
/// A sentence with the number of the invalid line.
pub(crate) fn to_words(text: &str) -> Result<Vec<String>, String> {
    filled_lines(text).map(|(number, line)| decode(line, number)).collect()
}

/// Formats environment variables, one per line.
pub(crate) fn from_env(env: &BTreeMap<String, String>) -> String {
    env.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>().join("\n")
}

/// Parses environment variables, one per line. Ignores empty lines.
///
/// # Errors
/// A sentence with the number of the invalid line.
pub(crate) fn to_env(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut env = BTreeMap::new();
    for (number, line) in filled_lines(text) {
        let (name, value) = line.split_once('=').ok_or_else(|| words::not_a_variable(number))?;
        let name = name.trim();
        if env.insert(name.to_owned(), decode(value, number)?).is_some() {
            return Err(words::second_time(number, name));
        }
    }
    Ok(env)
}

/// Converts line breaks as browsers send them (CR LF) to LF.
pub(crate) fn normal(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn filled_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
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

fn decode(text: &str, number: usize) -> Result<String, String> {
    if !text.trim_start().starts_with('"') {
        return Ok(text.trim().to_owned());
    }
    serde_json::from_str(text.trim()).map_err(|_| words::not_json(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_words_round_trip_through_form() {
        let words: Vec<String> =
            ["sh", "-c", "echo \"a b\" {x} = $Y\n\ttwo", "", " padded ", "\"quoted\"", "é\u{2028}z", "\r"]
                .map(str::to_owned)
                .into();
        // Browsers send every line break as CR LF.
        let sent = from_words(&words).replace('\n', "\r\n");
        assert_eq!(to_words(&sent), Ok(words));
    }

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
        assert!(to_env("A=1\nB").is_err_and(|error| error.starts_with("Line 2")));
        assert!(to_env("A=1\n\nA=2").is_err_and(|error| error.starts_with("Line 3")));
        assert!(to_words("\"open").is_err_and(|error| error.starts_with("Line 1")));
    }
}
