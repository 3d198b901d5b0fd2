//! Formats and parses values as lines in a `<textarea>`, without loss: environment variables, the words of a command,
//! and sources of course material.
//!
//! A source is its address and settings: `https://git.example.org/101.git ref=main folder="week 1"`. A source with
//! `sha256=` is an archive, another one a repository. Without `target=`, the last segment of the address names the
//! folder.

use std::collections::BTreeMap;

use launcher_domain::input::{command_line, parse_command_line};
use launcher_domain::{JsonObject, MaterialKind, SourceUrl, TextKey};
use serde_json::Value;

use crate::pages::language::Language;
use crate::pages::texts::sentence;

/// Returns the error of a text of the form: key and values of a message.
pub(super) fn wrong<const N: usize>(key: &str, values: [(&str, &dyn ToString); N]) -> TextKey {
    TextKey { key: key.to_owned(), args: values.map(|(name, value)| (name.to_owned(), value.to_string())).into() }
}

/// Keys of the errors of lines.
#[derive(Debug)]
pub(super) struct LineErrors {
    /// The line is not `NAME=value`.
    pub(super) not_a_pair: &'static str,
    /// The line starts with a quotation mark, but is not a JSON string.
    pub(super) not_json: &'static str,
    /// The line has a name that an earlier line has.
    pub(super) repeated: &'static str,
}

pub(super) const VARIABLES: LineErrors =
    LineErrors { not_a_pair: "editor-not-a-variable", not_json: "editor-not-json", repeated: "editor-second-time" };

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
/// The error of the first invalid line.
pub(super) fn to_env(text: &str, errors: &LineErrors) -> Result<BTreeMap<String, String>, TextKey> {
    let mut env = BTreeMap::new();
    for (number, line) in filled_lines(text) {
        let (name, value) = line.split_once('=').ok_or_else(|| wrong(errors.not_a_pair, [("line", &number)]))?;
        let name = name.trim();
        let value = decode(value).ok_or_else(|| wrong(errors.not_json, [("line", &number)]))?;
        if env.insert(name.to_owned(), value).is_some() {
            return Err(wrong(errors.repeated, [("line", &number), ("name", &name)]));
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

/// Endings of archives, which the name of a folder omits. An address with such an ending needs `sha256=`.
const ARCHIVES: [&str; 4] = [".tar.gz", ".tgz", ".tar", ".zip"];
/// Fields of a source that are settings of its line.
const SETTINGS: [&str; 5] = ["ref", "folder", "sha256", "secret", "target"];

pub(super) fn format_sources(sources: &[JsonObject]) -> String {
    sources.iter().map(format_source).collect::<Vec<_>>().join("\n")
}

fn format_source(source: &JsonObject) -> String {
    let text = |name: &str| source.get(name).and_then(Value::as_str);
    let settings = SETTINGS.into_iter().filter_map(|name| Some(format!(" {name}={}", encode_setting(text(name)?))));
    std::iter::once(text("url").unwrap_or_default().to_owned()).chain(settings).collect()
}

/// Parses sources, one per line.
///
/// # Errors
/// All invalid lines, as sentences.
pub(super) fn parse_sources(t: Language, text: &str) -> Result<Value, String> {
    let (mut sources, mut wrong) = (Vec::new(), Vec::new());
    for (number, line) in filled_lines(text) {
        match parse_source(line) {
            Some(source) if !source.contains_key("sha256") && source.get("url").is_some_and(is_archive) => {
                wrong.push(sentence(&t.with_one("editor-archive-without-sha256", "line", number)));
            }
            Some(source) => sources.push(source),
            None => wrong.push(sentence(&t.with_one("editor-not-a-source", "line", number))),
        }
    }
    if wrong.is_empty() { Ok(sources.into()) } else { Err(wrong.join(" ")) }
}

/// Parses the line of a source; `None` if a word is not a setting, or a setting is repeated.
fn parse_source(line: &str) -> Option<JsonObject> {
    let line = line.trim();
    let (url, mut rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let mut source = JsonObject::new();
    while !rest.trim_start().is_empty() {
        let (name, after) = rest.trim_start().split_once('=')?;
        let (value, next) = decode_setting(after)?;
        if !SETTINGS.contains(&name) || source.insert(name.to_owned(), value.into()).is_some() {
            return None;
        }
        rest = next;
    }
    let kind = if source.contains_key("sha256") { MaterialKind::Archive } else { MaterialKind::Git };
    source.entry("target").or_insert_with(|| default_target(url).into());
    source.insert("kind".to_owned(), kind.as_str().into());
    source.insert("url".to_owned(), url.into());
    Some(source)
}

fn is_archive(url: &Value) -> bool {
    let url = url.as_str().unwrap_or_default();
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    ARCHIVES.iter().any(|ending| path.ends_with(ending))
}

fn encode_setting(value: &str) -> String {
    let is_plain = !value.starts_with('"') && !value.contains(char::is_whitespace);
    if is_plain { value.to_owned() } else { Value::from(value).to_string() }
}

/// Returns the value at the start of a text, and the text after it. A value that starts with a quotation mark is a JSON
/// string.
fn decode_setting(text: &str) -> Option<(String, &str)> {
    if text.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let value = values.next()?.ok()?;
        return Some((value, text.get(values.byte_offset()..)?));
    }
    let (value, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Some((value.to_owned(), rest))
}

/// Returns the last segment of the address, without the ending of a repository or an archive.
fn default_target(url: &str) -> String {
    let parsed = SourceUrl::parse(url);
    let name = parsed.as_ref().and_then(SourceUrl::repository_name).unwrap_or_default();
    ARCHIVES.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use launcher_domain::input::CommandLineError;
    use serde_json::json;

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
        assert_eq!(to_env(&sent, &VARIABLES), Ok(env));
    }

    #[test]
    fn error_of_unreadable_line_contains_line_number() {
        for (text, error) in [
            ("A=1\nB", wrong("editor-not-a-variable", [("line", &2)])),
            ("A=1\n\nA=2", wrong("editor-second-time", [("line", &3), ("name", &"A")])),
            ("A=\"open", wrong("editor-not-json", [("line", &1)])),
        ] {
            assert_eq!(to_env(text, &VARIABLES), Err(error), "{text}");
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

    #[test]
    fn source_round_trips_through_a_line() {
        let source = json!({
            "kind": "archive", "url": "https://example.org/it's/data.zip?a=b&c", "sha256": "ab".repeat(32),
            "folder": "week 1/\"data\"", "secret": "statistics", "target": "data",
        });
        let line = format_source(source.as_object().unwrap());
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(parse_source(&line).as_ref(), source.as_object());
    }

    #[test]
    fn folder_is_named_by_the_address_unless_target_names_it() {
        let target = |line: &str| parse_source(line).unwrap()["target"].clone();
        assert_eq!(target("https://git.example.org/statistics/101.git ref=main"), "101");
        assert_eq!(target("https://example.org/data.tar.gz?x=1 sha256=0"), "data");
        assert_eq!(target("https://example.org/data.tgz sha256=0"), "data");
        assert_eq!(target("https://example.org/data.zip target=other"), "other");
        assert_eq!(target("nonsense"), "");
    }

    #[test]
    fn archive_without_sha256_is_refused() {
        let refused = |line: &str| parse_sources(Language::english(), &format!("\n{line}")).err().unwrap_or_default();
        for address in ["a.zip", "a.tar", "a.tar.gz", "a.tgz", "A.ZIP", "a.zip?raw=1", "a.zip ref=main target=a"] {
            let error = refused(&format!("https://example.org/{address}"));
            assert!(error.starts_with("Line 2: add sha256="), "{address}: {error}");
        }
        for address in ["a.zip sha256=0", "a.zip.git", "zip", "a.git?x=a.zip", "a.zip/b"] {
            assert_eq!(refused(&format!("https://example.org/{address}")), "", "{address}");
        }
    }

    #[test]
    fn unknown_and_repeated_settings_are_refused() {
        for line in [
            "https://a.example/ main",
            "https://a.example/ ref=a ref=b",
            "https://a.example/ hook=x",
            "https://a.example/ folder=\"open",
        ] {
            assert_eq!(parse_source(line), None, "{line}");
        }
    }
}
