//! Formats and parses values as text in a `<textarea>`, without loss: environment variables and the words of a command.

use std::collections::BTreeMap;

use launcher_domain::input::{CommandLineError, command_line, parse_command_line};

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

/// Formats environment variables, one per line. Some values do not fit on a line: values with a line break or another
/// control character, with white space at an end, or with a quotation mark at the start. Such values are written as JSON
/// strings.
pub(crate) fn from_env(env: &BTreeMap<String, String>) -> String {
    env.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>().join("\n")
}

/// Parses environment variables, one per line. Ignores empty lines. Each line has one `NAME=value`, and is taken literally.
/// A value that starts with a quotation mark is parsed as a JSON string.
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

/// Reason why a text is not a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CommandError {
    /// The text is not a shell line.
    Line(CommandLineError),
    /// The text starts with `[`, but is not a JSON list of strings.
    NotAList,
}

impl CommandError {
    /// Returns the error as a sentence.
    pub(super) fn text(&self, t: Language) -> String {
        match self {
            Self::Line(error) => t.coded(&error.key()),
            Self::NotAList => t.text("editor-not-a-list").into_owned(),
        }
    }
}

/// Formats words as a shell line. Words with a control character other than a line feed do not survive a browser's form:
/// they are written as a JSON list of strings.
pub(super) fn from_words(words: &[String]) -> String {
    let survives = |character: char| character == '\n' || !character.is_control();
    if words.iter().all(|word| word.chars().all(survives)) {
        command_line(words.iter().map(String::as_str))
    } else {
        serde_json::Value::from(words).to_string()
    }
}

/// Parses the words of a shell line. A text that starts with `[` is parsed as a JSON list of strings.
///
/// # Errors
/// [`CommandError`].
pub(super) fn to_words(text: &str) -> Result<Vec<String>, CommandError> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text.trim()).map_err(|_| CommandError::NotAList);
    }
    parse_command_line(&normal(text)).map_err(CommandError::Line)
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

    #[test]
    fn command_round_trips_through_a_form() {
        let commands: [&[&str]; 4] = [
            &["sh", "-c", "echo \"a b\" {x} = $Y\n\ttwo"],
            &["start", "", " padded ", "\"quoted\"", "é\u{2028}z", "[", "it's"],
            &["\r", "a\r\nb"],
            &[],
        ];
        for words in commands {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            // Browsers send every line break as CR LF.
            let sent = from_words(&words).replace('\n', "\r\n");
            assert_eq!(to_words(&sent), Ok(words), "{sent}");
        }
    }

    #[test]
    fn text_that_is_no_command_is_refused() {
        assert_eq!(to_words("[\"sh\", 1]"), Err(CommandError::NotAList));
        let open = CommandLineError::OpenQuote { quote: "'".to_owned() };
        assert_eq!(to_words("echo 'x"), Err(CommandError::Line(open)));
    }
}
