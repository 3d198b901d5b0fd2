//! The fields of the form for course material: each line of a text area is a source, or a prefix of repositories.
//!
//! A source is its address and settings: `https://git.example.org/101.git ref=main folder="week 1"`. A source with `sha256=` is an archive, another one a repository. Without `target=`, the last
//! segment of the address names the folder.

use launcher_domain::{MaterialDraft, MaterialKind, MaterialSourceDraft, SourceUrl};

use super::{FormErrors, TemplateForm, given};
use crate::pages::admin::lines::filled_lines;
use crate::pages::language::Language;

/// Endings of archives, which the name of a folder omits. An address with such an ending needs `sha256=`.
const ARCHIVES: [&str; 4] = [".tar.gz", ".tgz", ".tar", ".zip"];

impl TemplateForm {
    /// Fills the fields with this material.
    pub(super) fn with_material(self, material: Option<MaterialDraft>) -> Self {
        let Some(MaterialDraft { directory, sources, allowed_repositories }) = material else { return self };
        Self {
            material_sources: sources.into_iter().map(format).collect::<Vec<_>>().join("\n"),
            material_directory: directory.unwrap_or_default(),
            material_allowed_repositories: allowed_repositories.join("\n"),
            ..self
        }
    }

    /// Returns the material; `None` if all fields are empty.
    pub(super) fn material(&self, t: Language, errors: &mut FormErrors) -> Option<MaterialDraft> {
        let mut sources = Vec::new();
        for (line, text) in filled_lines(&self.material_sources) {
            match parse(text) {
                Some(source) if source.kind == MaterialKind::Git && is_archive(&source.url) => {
                    errors.add("material_sources", &t.with_one("editor-archive-without-sha256", "line", line));
                }
                Some(source) => sources.push(source),
                None => errors.add("material_sources", &t.with_one("editor-not-a-source", "line", line)),
            }
        }
        let prefixes = filled_lines(&self.material_allowed_repositories);
        let material = MaterialDraft {
            directory: given(&self.material_directory),
            sources,
            allowed_repositories: prefixes.map(|(_, prefix)| prefix.trim().to_owned()).collect(),
        };
        (material != MaterialDraft::default()).then_some(material)
    }
}

/// Writes a source as a line.
fn format(source: MaterialSourceDraft) -> String {
    let MaterialSourceDraft { kind: _, url, reference, sha256, folder, secret, target } = source;
    let settings =
        [("ref", reference), ("folder", folder), ("sha256", sha256), ("secret", secret), ("target", Some(target))];
    let settings = settings.into_iter().filter_map(|(name, value)| Some(format!(" {name}={}", encode(value?))));
    std::iter::once(url).chain(settings).collect()
}

/// Parses the line of a source; `None` if a word is not a setting, or a setting is repeated.
fn parse(line: &str) -> Option<MaterialSourceDraft> {
    let line = line.trim();
    let (url, mut rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let mut settings: [(&str, Option<String>); 5] =
        [("ref", None), ("folder", None), ("sha256", None), ("secret", None), ("target", None)];
    while !rest.trim_start().is_empty() {
        let (name, after) = rest.trim_start().split_once('=')?;
        let (_, setting) = settings.iter_mut().find(|(known, setting)| *known == name && setting.is_none())?;
        let (value, next) = decode(after)?;
        *setting = Some(value);
        rest = next;
    }
    let [(_, reference), (_, folder), (_, sha256), (_, secret), (_, target)] = settings;
    let kind = if sha256.is_some() { MaterialKind::Archive } else { MaterialKind::Git };
    let target = target.unwrap_or_else(|| default_target(url));
    Some(MaterialSourceDraft { kind, url: url.to_owned(), reference, sha256, folder, secret, target })
}

/// Returns true if the path of an address ends like an archive.
fn is_archive(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    ARCHIVES.iter().any(|ending| path.ends_with(ending))
}

fn encode(value: String) -> String {
    let is_plain = !value.starts_with('"') && !value.contains(char::is_whitespace);
    if is_plain { value } else { serde_json::Value::from(value).to_string() }
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
    use super::*;

    #[test]
    fn source_round_trips_through_a_line() {
        let source = MaterialSourceDraft {
            kind: MaterialKind::Archive,
            url: "https://example.org/it's/data.zip?a=b&c".to_owned(),
            reference: None,
            sha256: Some("ab".repeat(32)),
            folder: Some("week 1/\"data\"".to_owned()),
            secret: Some("statistics".to_owned()),
            target: "data".to_owned(),
        };
        let line = format(source.clone());
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(parse(&line), Some(source));
    }

    #[test]
    fn folder_is_named_by_the_address_unless_target_names_it() {
        let target = |line: &str| parse(line).unwrap().target;
        assert_eq!(target("https://git.example.org/statistics/101.git ref=main"), "101");
        assert_eq!(target("https://example.org/data.tar.gz?x=1 sha256=0"), "data");
        assert_eq!(target("https://example.org/data.tgz sha256=0"), "data");
        assert_eq!(target("https://example.org/data.zip target=other"), "other");
        assert_eq!(target("nonsense"), "");
    }

    #[test]
    fn archive_without_sha256_is_refused() {
        let refused = |line: &str| {
            let form = TemplateForm { material_sources: format!("\n{line}"), ..TemplateForm::default() };
            let mut errors = FormErrors::default();
            form.material(Language::english(), &mut errors);
            errors.of("material_sources")
        };
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
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
