//! Checks that all text of the pages is in `locales/`: templates, the script and the code of the pages contain none.
//! Checks the messages of each language.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says where by panicking")]

mod code;
mod html;
mod locales;

use std::fs;
use std::path::{Path, PathBuf};

use code::Language;

/// String literals that look like text, but that pages do not show.
const NOT_READ: [&str; 12] = [
    "use strict",
    "Notification",
    "text/css; charset=utf-8",
    "text/html; charset=utf-8",
    "text/javascript; charset=utf-8",
    "private, max-age=31536000, immutable",
    "Accept-Encoding",
    "HX-Request, Accept-Encoding, Accept-Language, Cookie",
    "=; Path=/; Max-Age=; HttpOnly; SameSite=Lax",
    "Locale",
    "Memory",
    "noopener noreferrer",
];

/// Text that was found in a file, with its line number.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    line: usize,
    text: String,
}

/// Returns the line number of a byte offset.
fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Panics with a list of all text that `words` finds in the files.
fn assert_wordless(files: &[PathBuf], words: impl Fn(&str) -> Vec<Found>) {
    assert!(!files.is_empty(), "no files found: correct the path in this test");
    let in_file = |path: &PathBuf| {
        let found = words(&fs::read_to_string(path).unwrap());
        let found = found.into_iter().filter(|found| !NOT_READ.contains(&found.text.as_str()));
        found.map(|Found { line, text }| format!("{}:{line}: {text:?}", path.display())).collect::<Vec<_>>()
    };
    let found: Vec<String> = files.iter().flat_map(in_file).collect();
    assert!(
        found.is_empty(),
        "These words stand outside of crates/launcher-api/locales. Add a message to the folder `en` there, and name its \
         key here: `{{{{ t.text(\"key\") }}}}` in a template, a `data-` attribute that a template fills for the \
         script.\n{}",
        found.join("\n")
    );
}

#[test]
fn templates_contain_no_literal_text() {
    assert_wordless(&files("templates", "html"), html::words);
}

#[test]
fn scripts_contain_no_literal_text() {
    let is_own = |file: &PathBuf| file.parent().is_some_and(|folder| folder.ends_with("assets"));
    let scripts: Vec<PathBuf> = files("assets", "js").into_iter().filter(is_own).collect();
    assert_wordless(&scripts, |text| code::words(text, Language::JavaScript));
}

#[test]
fn page_code_contains_no_literal_text() {
    // The presets are commands and Dockerfiles. Their labels are messages.
    let is_page =
        |file: &PathBuf| !file.ends_with("presets.rs") && file.iter().any(|part| part == "pages" || part == "pages.rs");
    let sources: Vec<PathBuf> = files("src", "rs").into_iter().filter(is_page).collect();
    assert_wordless(&sources, |text| {
        let without_tests = text.split("#[cfg(test)]").next().unwrap_or(text);
        code::words(without_tests, Language::Rust)
    });
}
