//! Formats and parses the sources of course material as lines in a `<textarea>`.
//!
//! A source is its address and settings: `https://git.example.org/101.git ref=main folder="week 1"`. A source with
//! `sha256=` is an archive, another one a repository. Without `target=`, the last segment of the address names the
//! folder.

use launcher_domain::{JsonObject, MaterialKind, SourceUrl};
use serde_json::Value;

use super::lines::filled_lines;
use crate::pages::language::Language;
use crate::pages::texts::sentence;

/// Endings of archives, which the name of a folder omits. An address with such an ending needs `sha256=`.
const ARCHIVES: [&str; 4] = [".tar.gz", ".tgz", ".tar", ".zip"];
/// Fields of a source that are settings of its line.
const SETTINGS: [&str; 5] = ["ref", "folder", "sha256", "secret", "target"];

/// Formats sources, one per line.
pub(super) fn format(sources: &[JsonObject]) -> String {
    sources.iter().map(format_one).collect::<Vec<_>>().join("\n")
}

fn format_one(source: &JsonObject) -> String {
    let text = |name: &str| source.get(name).and_then(Value::as_str);
    let settings = SETTINGS.into_iter().filter_map(|name| Some(format!(" {name}={}", encode(text(name)?))));
    std::iter::once(text("url").unwrap_or_default().to_owned()).chain(settings).collect()
}

/// Parses sources, one per line.
///
/// # Errors
/// All invalid lines, as sentences.
pub(super) fn parse(t: Language, text: &str) -> Result<Value, String> {
    let (mut sources, mut wrong) = (Vec::new(), Vec::new());
    for (number, line) in filled_lines(text) {
        match parse_one(line) {
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
fn parse_one(line: &str) -> Option<JsonObject> {
    let line = line.trim();
    let (url, mut rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let mut source = JsonObject::new();
    while !rest.trim_start().is_empty() {
        let (name, after) = rest.trim_start().split_once('=')?;
        let (value, next) = decode(after)?;
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

/// Returns true if the path of an address ends like an archive.
fn is_archive(url: &Value) -> bool {
    let url = url.as_str().unwrap_or_default();
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    ARCHIVES.iter().any(|ending| path.ends_with(ending))
}

fn encode(value: &str) -> String {
    let is_plain = !value.starts_with('"') && !value.contains(char::is_whitespace);
    if is_plain { value.to_owned() } else { Value::from(value).to_string() }
}

/// Returns the value at the start of a text, and the text after it. A value that starts with a quotation mark is a JSON
/// string.
fn decode(text: &str) -> Option<(String, &str)> {
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
    use serde_json::json;

    use super::*;

    #[test]
    fn source_round_trips_through_a_line() {
        let source = json!({
            "kind": "archive", "url": "https://example.org/it's/data.zip?a=b&c", "sha256": "ab".repeat(32),
            "folder": "week 1/\"data\"", "secret": "statistics", "target": "data",
        });
        let line = format_one(source.as_object().unwrap());
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(parse_one(&line).as_ref(), source.as_object());
    }

    #[test]
    fn folder_is_named_by_the_address_unless_target_names_it() {
        let target = |line: &str| parse_one(line).unwrap()["target"].clone();
        assert_eq!(target("https://git.example.org/statistics/101.git ref=main"), "101");
        assert_eq!(target("https://example.org/data.tar.gz?x=1 sha256=0"), "data");
        assert_eq!(target("https://example.org/data.tgz sha256=0"), "data");
        assert_eq!(target("https://example.org/data.zip target=other"), "other");
        assert_eq!(target("nonsense"), "");
    }

    #[test]
    fn archive_without_sha256_is_refused() {
        let refused = |line: &str| parse(Language::english(), &format!("\n{line}")).err().unwrap_or_default();
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
            assert_eq!(parse_one(line), None, "{line}");
        }
    }
}
