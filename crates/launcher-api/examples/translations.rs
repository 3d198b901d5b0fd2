//! Reports the messages and guides that languages lack. The pages show them in English.
//!
//! - `cargo run -p launcher-api --example translations` prints a line for each language that lacks a text;
//! - with the option `--complete`, it also fails if a language lacks a text;
//! - with the code of a language, for example `nl`, it prints the English texts that the language lacks, for translators.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use fluent_syntax::ast::{Entry, Message, Resource};
use fluent_syntax::parser::parse;
use fluent_syntax::serializer::serialize;

/// Maximum number of keys in a line of the report.
const NAMED: usize = 5;

/// The files of a language, by their names.
type Files = BTreeMap<String, String>;

fn main() -> Result<(), Box<dyn Error>> {
    let option = std::env::args().nth(1).unwrap_or_default();
    let mut english = read("en")?;
    english.insert("domain.ftl".to_owned(), launcher_api::domain_messages());
    if !matches!(option.as_str(), "" | "--complete") {
        print!("{}", untranslated(&english, &keys(&read(&option)?)));
        return Ok(());
    }
    let wanted = keys(&english);
    let mut complete = true;
    for language in languages()? {
        let translated = keys(&read(&language)?);
        let missing: Vec<&str> = wanted.difference(&translated).map(String::as_str).collect();
        if let Some(first) = missing.get(..missing.len().min(NAMED)).filter(|_| language != "en" && !missing.is_empty())
        {
            complete = false;
            let more = if missing.len() > NAMED { ", …" } else { "" };
            let (count, all, first) = (missing.len(), wanted.len(), first.join(", "));
            println!("{language}: {count} of {all} messages are not translated: {first}{more}");
        }
    }
    if option == "--complete" && !complete {
        return Err("a release needs all messages in all languages".into());
    }
    Ok(())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("locales")
}

fn languages() -> Result<BTreeSet<String>, Box<dyn Error>> {
    fs::read_dir(folder())?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Reads the files of a language. A new language has none.
fn read(language: &str) -> Result<Files, Box<dyn Error>> {
    let folder = folder().join(language);
    if !folder.exists() {
        return Ok(Files::new());
    }
    let file = |entry: fs::DirEntry| -> Result<_, Box<dyn Error>> {
        Ok((entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path())?))
    };
    fs::read_dir(folder)?.map(|entry| file(entry?)).collect()
}

/// Returns the keys of all messages and attributes, each with its file, and the names of the guides.
fn keys(files: &Files) -> BTreeSet<String> {
    let of_file = |(name, text): (&String, &String)| match messages(text) {
        _ if name.ends_with(".md") => vec![name.clone()],
        messages => messages.iter().flat_map(|message| keys_of(name, message)).collect(),
    };
    files.iter().flat_map(of_file).collect()
}

fn messages(text: &str) -> Vec<Message<&str>> {
    let resource = parse(text).unwrap_or_else(|(resource, _)| resource);
    let message = |entry| if let Entry::Message(message) = entry { Some(message) } else { None };
    resource.body.into_iter().filter_map(message).collect()
}

/// Returns the keys of the value and of the attributes.
fn keys_of(file: &str, message: &Message<&str>) -> Vec<String> {
    let id = message.id.name;
    let value = message.value.iter().map(|_| format!("{file}: {id}"));
    value.chain(message.attributes.iter().map(|attribute| format!("{file}: {id}.{}", attribute.id.name))).collect()
}

/// Returns the messages that are not complete in the translation, as Fluent source, and the names of missing guides.
fn untranslated(english: &Files, translated: &BTreeSet<String>) -> String {
    let is_missing = |key: &String| !translated.contains(key);
    let mut source = String::new();
    for (name, text) in english {
        let missing = messages(text).into_iter().filter(|message| keys_of(name, message).iter().any(is_missing));
        let body: Vec<Entry<&str>> = missing.map(Entry::Message).collect();
        if name.ends_with(".md") && is_missing(name) || !body.is_empty() {
            source += &format!("### {name}\n\n{}\n", serialize(&Resource { body }));
        }
    }
    source
}
