//! Checks the messages in `locales/`: English has exactly the messages that the pages use, and each other language has
//! only such messages, with the same values. The example `translations` reports what a language lacks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fluent_syntax::ast::{CallArguments, Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser::parse;

use super::files;

/// Values of each pattern of a language, by `file: message` or `file: message.attribute`.
type Messages = BTreeMap<String, BTreeSet<String>>;

/// File with the texts of the domain. The domain names them by their codes.
const DOMAIN: &str = "domain.ftl";
/// File with the texts of the sidecar. Its build makes a field of each English message.
const SIDECAR: &str = "sidecar.ftl";

fn languages() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("locales");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Reads the messages of a language, with those of the domain in English. Panics if a file has a syntax error, or a
/// message exists twice.
fn messages(language: &str) -> Messages {
    let mut messages = Messages::new();
    let mut seen = BTreeSet::new();
    let name = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
    let files = files(&format!("locales/{language}"), "ftl");
    let mut texts: Vec<_> = files.iter().map(|file| (name(file), fs::read_to_string(file).unwrap())).collect();
    if language == "en" {
        texts.push((DOMAIN.to_owned(), launcher_api::domain_messages()));
    }
    for (name, text) in texts {
        let resource = parse(text.as_str()).unwrap_or_else(|(_, errors)| panic!("{language}/{name}: {errors:?}"));
        for entry in resource.body {
            let Entry::Message(message) = entry else { continue };
            assert!(
                seen.insert((name == SIDECAR, message.id.name.to_owned())),
                "{language}: {} exists twice",
                message.id.name
            );
            let key = format!("{name}: {}", message.id.name);
            messages.extend(message.value.as_ref().map(|value| (key.clone(), values(value))));
            for attribute in &message.attributes {
                messages.insert(format!("{key}.{}", attribute.id.name), values(&attribute.value));
            }
        }
    }
    messages
}

fn values(pattern: &Pattern<&str>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(pattern, &mut found);
    found
}

fn collect(pattern: &Pattern<&str>, found: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        match element {
            PatternElement::TextElement { .. } => {}
            PatternElement::Placeable { expression: Expression::Inline(inline) } => collect_inline(inline, found),
            PatternElement::Placeable { expression: Expression::Select { selector, variants } } => {
                collect_inline(selector, found);
                variants.iter().for_each(|variant| collect(&variant.value, found));
            }
        }
    }
}

fn collect_inline(inline: &InlineExpression<&str>, found: &mut BTreeSet<String>) {
    match inline {
        InlineExpression::VariableReference { id } => {
            found.insert(id.name.to_owned());
        }
        InlineExpression::FunctionReference { arguments: CallArguments { positional, .. }, .. } => {
            positional.iter().for_each(|argument| collect_inline(argument, found));
        }
        _ => {}
    }
}

#[test]
fn each_language_has_only_messages_of_english_with_the_same_values() {
    let english = messages("en");
    for language in languages() {
        let translated = messages(&language);
        let unknown: Vec<&String> = translated.keys().filter(|key| !english.contains_key(*key)).collect();
        assert!(unknown.is_empty(), "{language}: unknown {unknown:?}");
        for (key, values) in &translated {
            assert_eq!(values, &english[key], "{language}: values of {key}");
        }
        assert!(translated.contains_key("frame.ftl: language-name"), "{language}: the footer shows language-name");
    }
}

#[test]
fn english_has_all_guides_and_other_languages_have_no_more() {
    let guides = |language: &str| -> BTreeSet<String> {
        let files = files(&format!("locales/{language}"), "md");
        files.iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    };
    let english = guides("en");
    assert_eq!(english, ["class.md", "students.md", "teachers.md"].map(str::to_owned).into());
    for language in languages() {
        assert!(guides(&language).is_subset(&english), "{language}");
    }
}

#[test]
fn english_has_exactly_the_messages_that_the_pages_use() {
    let sources: Vec<String> = [files("templates", "html"), files("src/pages", "rs")]
        .concat()
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let literals: BTreeSet<&str> =
        sources.iter().flat_map(|source| source.split('"')).filter(|text| !text.contains('\n')).collect();
    // Keys such as `state-{}`, which end with the name of a state.
    let families: Vec<&str> = literals
        .iter()
        .filter_map(|text| text.split_once('{'))
        .map(|(start, _)| start)
        .filter(|s| s.len() > 3)
        .collect();
    let english = messages("en");
    let of_pages =
        english.keys().filter_map(|key| key.split_once(": ")).filter(|(file, _)| ![DOMAIN, SIDECAR].contains(file));
    let keys: BTreeSet<&str> = of_pages.map(|(_, key)| key.split('.').next().unwrap()).collect();
    let is_used = |key: &&str| literals.contains(*key) || families.iter().any(|family| key.starts_with(family));
    let unused: Vec<&&str> = keys.iter().filter(|key| !is_used(key)).collect();
    assert!(unused.is_empty(), "no page uses these messages: {unused:?}");

    let called = sources.iter().flat_map(|source| {
        ["t.text(\"", "t.around(\"", "t.with(\"", "t.with_one(\"", "self.text(\"", "self.with(\"", "self.with_one(\""]
            .into_iter()
            .flat_map(|call| source.split(call).skip(1).filter_map(|rest| rest.split('"').next()))
    });
    let missing: BTreeSet<&str> = called.filter(|key| !keys.contains(key)).collect();
    assert!(missing.is_empty(), "these messages are missing in locales/en: {missing:?}");
}
