//! Formats and parses the command of a template as text in a `<textarea>`, without loss.
//!
//! The text is a shell line. A command with a control character other than a line feed does not survive a browser's
//! form, so it is written as a JSON list of strings. A text that starts with `[` is parsed as such a list.

use launcher_domain::input::{CommandLineError, command_line, parse_command_line};

use super::lines::normal;
use crate::pages::language::Language;

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

/// Formats the words of a command.
pub(super) fn format(words: &[String]) -> String {
    let survives = |character: char| character == '\n' || !character.is_control();
    if words.iter().all(|word| word.chars().all(survives)) {
        command_line(words.iter().map(String::as_str))
    } else {
        serde_json::Value::from(words).to_string()
    }
}

/// Parses the words of a command.
///
/// # Errors
/// [`CommandError`].
pub(super) fn parse(text: &str) -> Result<Vec<String>, CommandError> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text.trim()).map_err(|_| CommandError::NotAList);
    }
    parse_command_line(&normal(text)).map_err(CommandError::Line)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let sent = format(&words).replace('\n', "\r\n");
            assert_eq!(parse(&sent), Ok(words), "{sent}");
        }
    }

    #[test]
    fn text_that_is_no_command_is_refused() {
        assert_eq!(parse("[\"sh\", 1]"), Err(CommandError::NotAList));
        let open = CommandLineError::OpenQuote { quote: "'".to_owned() };
        assert_eq!(parse("echo 'x"), Err(CommandError::Line(open)));
    }
}
