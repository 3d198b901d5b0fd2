//! Formats and parses values as lines in a `<textarea>`, without loss: pairs of names and values, and the words of a command.

use std::collections::BTreeMap;

use launcher_domain::TextKey;
use launcher_domain::input::{command_line, parse_command_line};

/// Returns the error of a text of the form: key and values of a message.
pub(super) fn wrong<const N: usize>(key: &str, values: [(&str, &dyn ToString); N]) -> TextKey {
    TextKey { key: key.to_owned(), args: values.map(|(name, value)| (name.to_owned(), value.to_string())).into() }
}

/// Formats pairs of names and values, one per line. Some values do not fit on a line: values with a line break or another
/// control character, with white space at an end, or with a quotation mark at the start. Such values are written as JSON
/// strings.
pub(crate) fn from_labels(labels: &BTreeMap<String, String>) -> String {
    labels.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>().join("\n")
}

/// Parses labels, one per line. Ignores empty lines. Each line has one `NAME=value`, and is taken literally. A value that
/// starts with a quotation mark is parsed as a JSON string.
///
/// # Errors
/// The error of the first invalid line.
pub(super) fn to_labels(text: &str) -> Result<BTreeMap<String, String>, TextKey> {
    let mut labels = BTreeMap::new();
    for (number, line) in filled_lines(text) {
        let pair = line.split_once('=').and_then(|(name, value)| Some((name.trim(), decode(value)?)));
        let (name, value) = pair.ok_or_else(|| wrong("editor-not-a-label", [("line", &number)]))?;
        if labels.insert(name.to_owned(), value).is_some() {
            return Err(wrong("editor-repeated-label", [("line", &number), ("name", &name)]));
        }
    }
    Ok(labels)
}

/// Converts line breaks as browsers send them (CR LF) to LF.
pub(crate) fn normal(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns the lines that are not empty, with their numbers.
pub(super) fn filled_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}

fn encode(text: &str) -> String {
    let plain = !text.starts_with('"') && text.trim() == text && !text.chars().any(char::is_control);
    if plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// Returns the value of a line; `None` if it starts with a quotation mark, but is not a JSON string.
fn decode(text: &str) -> Option<String> {
    let text = text.trim();
    if text.starts_with('"') { serde_json::from_str(text).ok() } else { Some(text.to_owned()) }
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
/// The text is neither a shell line nor such a list.
pub(super) fn to_words(text: &str) -> Result<Vec<String>, TextKey> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text.trim()).map_err(|_| wrong("editor-not-a-list", []));
    }
    parse_command_line(&normal(text)).map_err(|error| error.key())
}

#[cfg(test)]
mod tests {
    use launcher_domain::input::CommandLineError;

    use super::*;

    #[test]
    fn labels_round_trip_through_form() {
        let labels: BTreeMap<String, String> = [
            ("JSON", "{\"a\": [1, \"=\"]}"),
            ("EMPTY", ""),
            ("KEY", "-----BEGIN-----\nabc==\n-----END-----\n"),
            ("QUOTED", "\"x\""),
            ("TEMPLATE", "{{ name }} ${HOME} %s"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let sent = from_labels(&labels).replace('\n', "\r\n");
        assert_eq!(to_labels(&sent), Ok(labels));
    }

    #[test]
    fn error_of_unreadable_line_contains_line_number() {
        for (text, error) in [
            ("A=1\nB", wrong("editor-not-a-label", [("line", &2)])),
            ("A=1\n\nA=2", wrong("editor-repeated-label", [("line", &3), ("name", &"A")])),
            ("A=\"open", wrong("editor-not-a-label", [("line", &1)])),
        ] {
            assert_eq!(to_labels(text), Err(error), "{text}");
        }
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
        assert_eq!(to_words("[\"sh\", 1]"), Err(wrong("editor-not-a-list", [])));
        let open = CommandLineError::OpenQuote { quote: "'".to_owned() };
        assert_eq!(to_words("echo 'x"), Err(open.key()));
    }
}
