//! Compiles the texts of the frame page and of the notices into constants: `sidecar.ftl` of each language, beside the
//! texts of the pages. The sidecar itself contains no parser.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Message, Pattern, PatternElement};
use fluent_syntax::parser::parse;
use unic_langid::{CharacterDirection, LanguageIdentifier};

type Failure = Box<dyn Error>;

/// Values that the pages insert into texts.
const VALUES: [&str; 6] = ["left", "line", "link", "status", "time", "who"];

/// One folder for each language. The name of the folder is the code of the language.
const LOCALES: &str = "../launcher-api/locales";

/// A text of one language.
struct Text {
    /// The text, or the title of a notice.
    value: String,
    /// The text of a notice.
    text: Option<String>,
    /// Description for the documentation of the field.
    comment: String,
}

/// The texts of a language with the names of their fields.
type Texts = Vec<(String, Text)>;

fn main() -> Result<(), Failure> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={LOCALES}");
    let target = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let mut languages = BTreeMap::new();
    for entry in fs::read_dir(LOCALES).map_err(|error| format!("{LOCALES}: {error}"))? {
        let entry = entry?;
        let texts = read(&entry.path())?;
        if !texts.is_empty() {
            languages.insert(entry.file_name().to_string_lossy().into_owned(), texts);
        }
    }
    fs::write(target.join("texts.rs"), source(&languages)?)?;
    Ok(())
}

/// Reads the texts of a language. A language without the file has none.
fn read(folder: &Path) -> Result<Texts, Failure> {
    let file = folder.join("sidecar.ftl");
    if !file.exists() {
        return Ok(Texts::new());
    }
    let source = fs::read_to_string(&file)?;
    let failure = |what: &str| format!("{}: {what}", file.display());
    let resource = parse(source.as_str()).map_err(|(_, errors)| failure(&format!("{errors:?}")))?;
    let mut texts = Texts::new();
    for entry in resource.body {
        if let Entry::Message(message) = entry {
            let text = text(&message).map_err(|error| failure(&format!("{}: {error}", message.id.name)))?;
            texts.push((message.id.name.replace('-', "_"), text));
        }
    }
    Ok(texts)
}

fn text(message: &Message<&str>) -> Result<Text, Failure> {
    let value = message.value.as_ref().ok_or("the message has no value")?;
    let text = message.attributes.iter().find(|attribute| attribute.id.name == "text");
    Ok(Text {
        value: plain(value)?,
        text: text.map(|attribute| plain(&attribute.value)).transpose()?,
        comment: message.comment.as_ref().map(|comment| comment.content.join(" ")).unwrap_or_default(),
    })
}

/// Returns a pattern as text, with its values as `{name}`. The pages insert the texts into HTML unchanged.
fn plain(pattern: &Pattern<&str>) -> Result<String, Failure> {
    let mut text = String::new();
    for element in &pattern.elements {
        match element {
            PatternElement::TextElement { value } => text.push_str(value),
            PatternElement::Placeable {
                expression: Expression::Inline(InlineExpression::VariableReference { id }),
            } if VALUES.contains(&id.name) => write!(text, "{{{}}}", id.name)?,
            PatternElement::Placeable { .. } => {
                return Err(format!("only the values {VALUES:?} are possible here").into());
            }
        }
    }
    if text.contains(['<', '>', '&', '"']) { Err("the text contains <, >, & or \"".into()) } else { Ok(text) }
}

/// Counts a value in a text.
fn count(text: &str, name: &str) -> usize {
    text.matches(&format!("{{{name}}}")).count()
}

/// Returns the type `Texts`, whose fields are the English messages, and the texts of each language. A text that a language
/// lacks is in English.
fn source(languages: &BTreeMap<String, Texts>) -> Result<String, Failure> {
    let english = languages.get("en").filter(|texts| !texts.is_empty()).ok_or("locales/en/sidecar.ftl is missing")?;
    let mut source = String::from(
        "/// All texts of one language. A name in braces, such as `{left}`, stands for a value.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub struct Texts {\n\
         /// Language code, for `<html lang>`.\npub code: &'static str,\n\
         /// Direction of the script: `ltr` or `rtl`.\npub direction: &'static str,\n",
    );
    for (field, Text { text, comment, .. }) in english {
        let kind = if text.is_some() { "NoticeText" } else { "&'static str" };
        writeln!(source, "/// {comment}\npub {field}: {kind},")?;
    }
    let position = languages.keys().position(|code| code == "en").unwrap_or_default();
    writeln!(source, "}}\n/// Position of English in [`LANGUAGES`].\nconst ENGLISH: usize = {position};")?;
    writeln!(source, "/// The texts of all languages.\nstatic LANGUAGES: [Texts; {}] = [", languages.len())?;
    for (code, texts) in languages {
        let id: LanguageIdentifier = code.parse().map_err(|error| format!("{code}: {error}"))?;
        let direction = if id.character_direction() == CharacterDirection::RTL { "rtl" } else { "ltr" };
        writeln!(source, "Texts {{ code: {code:?}, direction: {direction:?},")?;
        for (field, fallback) in english {
            let found = texts.iter().find(|(name, _)| name == field).map(|(_, text)| text);
            let value = &found.unwrap_or(fallback).value;
            if VALUES.iter().any(|name| count(value, name) != count(&fallback.value, name)) {
                return Err(
                    format!("{LOCALES}/{code}/sidecar.ftl: {field} has other values than the English text").into()
                );
            }
            match &fallback.text {
                None => writeln!(source, "{field}: {value:?},")?,
                Some(english) => {
                    let text = found.and_then(|found| found.text.as_ref()).unwrap_or(english);
                    writeln!(source, "{field}: NoticeText {{ title: {value:?}, text: {text:?} }},")?;
                }
            }
        }
        source.push_str("},\n");
    }
    source.push_str("];\n");
    Ok(source)
}
