//! Checks the messages in `locales/`: each language has the same messages with the same values, and English has exactly
//! the messages that the pages use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use fluent_syntax::ast::{CallArguments, Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser::parse;
use launcher_domain::input::{AmountError, CommandLineError, DurationError};
use launcher_domain::template::FieldRule;
use launcher_domain::{FailureCode, FailureDetail, FailureRemedy};

use super::files;

/// Values of each pattern of a language, by `file: message` or `file: message.attribute`.
type Messages = BTreeMap<String, BTreeSet<String>>;

fn languages() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("locales");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Reads the messages of a language. Panics if a file has a syntax error, or a message exists twice.
fn messages(language: &str) -> Messages {
    let mut messages = Messages::new();
    let mut seen = BTreeSet::new();
    for file in files(&format!("locales/{language}"), "ftl") {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let resource = parse(text.as_str()).unwrap_or_else(|(_, errors)| panic!("{}: {errors:?}", file.display()));
        for entry in resource.body {
            let Entry::Message(message) = entry else { continue };
            assert!(seen.insert(message.id.name.to_owned()), "{language}: {} exists twice", message.id.name);
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
fn each_language_has_the_messages_of_english_with_the_same_values() {
    let english = messages("en");
    for language in languages() {
        let translated = messages(&language);
        let missing: Vec<&String> = english.keys().filter(|key| !translated.contains_key(*key)).collect();
        let unknown: Vec<&String> = translated.keys().filter(|key| !english.contains_key(*key)).collect();
        assert!(missing.is_empty() && unknown.is_empty(), "{language}: missing {missing:?}, unknown {unknown:?}");
        for (key, values) in &english {
            assert_eq!(&translated[key], values, "{language}: values of {key}");
        }
        for document in ["students.md", "teachers.md"] {
            assert_eq!(files(&format!("locales/{language}"), "md").len(), 2, "{language}: {document}");
        }
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
    let keys: BTreeSet<&str> =
        english.keys().filter_map(|key| key.split(": ").nth(1)).map(|key| key.split('.').next().unwrap()).collect();

    // The domain names these messages by their codes. Another test compares them with the domain.
    let of_domain = ["failure-", "field-rule-", "input-"];
    let is_used = |key: &&str| {
        of_domain.iter().any(|prefix| key.starts_with(prefix))
            || literals.contains(*key)
            || families.iter().any(|family| key.starts_with(family))
    };
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

/// Returns the English messages as text: values as `{name}`.
fn english() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for file in files("locales/en", "ftl") {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let message = line.split_once(" = ").filter(|(key, _)| !key.starts_with([' ', '#']));
            texts.extend(message.map(|(key, text)| (key.to_owned(), text.replace("{ $", "{").replace(" }", "}"))));
        }
    }
    texts
}

#[test]
fn english_texts_of_failures_and_rules_are_those_of_the_api() {
    type Texts = &'static [(&'static str, &'static str, &'static [&'static str])];
    let kinds: [(&str, Texts); 6] = [
        ("failure-detail", FailureDetail::TEXTS),
        ("failure-advice", FailureRemedy::TEXTS),
        ("field-rule", FieldRule::TEXTS),
        ("input", DurationError::TEXTS),
        ("input", AmountError::TEXTS),
        ("input", CommandLineError::TEXTS),
    ];
    let english = english();
    let mut expected: BTreeMap<String, &str> = BTreeMap::new();
    for code in FailureCode::ALL {
        expected.insert(format!("failure-{}", code.as_str()), code.message());
        expected.insert(format!("failure-remedy-{}", code.as_str()), code.remedy());
    }
    for (prefix, texts) in kinds {
        expected.extend(texts.iter().map(|(code, text, _)| (format!("{prefix}-{code}"), *text)));
    }
    for (key, text) in &expected {
        assert_eq!(english.get(key).map(String::as_str), Some(*text), "{key}");
    }
    let of_domain = |key: &&String| kinds.iter().any(|(prefix, _)| key.starts_with(&format!("{prefix}-")));
    let extra: Vec<&String> = english.keys().filter(of_domain).filter(|key| !expected.contains_key(*key)).collect();
    assert!(extra.is_empty(), "the domain has no such texts: {extra:?}");
}
