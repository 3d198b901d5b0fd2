//! The languages of `locales/`. The program contains their files in compressed form, which `build.rs` makes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use fluent_syntax::ast::Pattern;
use launcher_domain::input::{AmountError, CommandLineError, DurationError};
use launcher_domain::template::FieldRule;
use launcher_domain::{FailureCode, FailureDetail, FailureRemedy, JoinRefusal};
use unic_langid::{CharacterDirection, LanguageIdentifier};

/// The files of a language, by their names.
type Files = BTreeMap<String, String>;

/// Code, English text and argument names of texts of the domain.
type CodedTexts = &'static [(&'static str, &'static str, &'static [&'static str])];

/// The files of all languages, by the codes of the languages: JSON, compressed with gzip.
const FILES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/locales.json.gz"));

/// All languages, sorted by code. Empty if the files cannot be read, which a test excludes.
pub(super) static LOCALES: LazyLock<Vec<Locale>> = LazyLock::new(|| {
    let mut locales: BTreeMap<String, Files> = serde_json::from_reader(GzDecoder::new(FILES)).unwrap_or_default();
    if let Some(english) = locales.get_mut("en") {
        english.insert("domain.ftl".to_owned(), domain_messages());
    }
    locales.into_iter().filter_map(|(code, files)| Locale::new(code, files)).collect()
});

/// The default language. It has no messages if its files are missing, which a test excludes.
pub(super) static ENGLISH: LazyLock<&'static Locale> = LazyLock::new(|| {
    static NO_MESSAGES: LazyLock<Locale> = LazyLock::new(|| Locale {
        code: "en".to_owned(),
        id: LanguageIdentifier::default(),
        bundle: FluentBundle::new_concurrent(Vec::new()),
        documents: BTreeMap::new(),
    });
    LOCALES.iter().find(|locale| locale.code == "en").unwrap_or_else(|| &NO_MESSAGES)
});

/// Returns the English texts of the domain as Fluent messages. Translations are in `domain.ftl` of the other languages.
#[must_use]
pub fn domain_messages() -> String {
    let failures = FailureCode::ALL.into_iter().flat_map(|code| {
        let name = code.as_str();
        [(format!("failure-{name}"), code.message()), (format!("failure-remedy-{name}"), code.remedy())]
    });
    let coded = [
        ("failure-detail", FailureDetail::TEXTS),
        ("failure-advice", FailureRemedy::TEXTS),
        ("field-rule", FieldRule::TEXTS),
        ("join-refusal", JoinRefusal::TEXTS),
        ("input", DurationError::TEXTS),
        ("input", AmountError::TEXTS),
        ("input", CommandLineError::TEXTS),
    ];
    let of_kind = |(prefix, texts): (&'static str, CodedTexts)| {
        texts.iter().map(move |(code, text, _)| (format!("{prefix}-{code}"), *text))
    };
    let messages = failures.chain(coded.into_iter().flat_map(of_kind));
    messages.map(|(key, text)| format!("{key} = {}\n", text.replace('{', "{ $").replace('}', " }"))).collect()
}

/// A language with its messages and documents.
pub(super) struct Locale {
    /// Code of the language (BCP 47).
    pub(super) code: String,
    pub(super) id: LanguageIdentifier,
    bundle: FluentBundle<FluentResource>,
    /// The documents in Markdown, by the names of their files.
    documents: Files,
}

impl Locale {
    /// Reads the files of a language; `None` if `code` is not a language code. A message that cannot be parsed is missing,
    /// which a test excludes.
    pub(super) fn new(code: String, files: Files) -> Option<Self> {
        let id: LanguageIdentifier = code.parse().ok()?;
        let mut bundle = FluentBundle::new_concurrent(vec![id.clone()]);
        // Insert invisible direction marks around values only in right-to-left languages. Other languages do not need
        // them, and a reader would copy them with the text.
        bundle.set_use_isolating(id.character_direction() == CharacterDirection::RTL);
        let (messages, documents): (Files, Files) = files.into_iter().partition(|(name, _)| name.ends_with(".ftl"));
        for source in messages.into_values() {
            let resource = FluentResource::try_new(source).unwrap_or_else(|(resource, _)| resource);
            // The only error is a message that exists already: the first one stays, which a test excludes.
            let _ = bundle.add_resource(resource);
        }
        Some(Self { code, id, bundle, documents })
    }

    pub(super) fn direction(&self) -> &'static str {
        if self.id.character_direction() == CharacterDirection::RTL { "rtl" } else { "ltr" }
    }

    pub(super) fn pattern(&self, key: &str, attribute: Option<&str>) -> Option<&Pattern<&str>> {
        let message = self.bundle.get_message(key)?;
        match attribute {
            None => message.value(),
            Some(name) => message.get_attribute(name).map(|attribute| attribute.value()),
        }
    }

    /// Formats a message or its attribute; `None` if it is missing.
    pub(super) fn format(
        &'static self,
        key: &str,
        attribute: Option<&str>,
        values: Option<&FluentArgs<'_>>,
    ) -> Option<Cow<'static, str>> {
        let pattern = self.pattern(key, attribute)?;
        let mut errors = Vec::new();
        let text = match values {
            None => self.bundle.format_pattern(pattern, None, &mut errors),
            Some(_) => self.bundle.format_pattern(pattern, values, &mut errors).into_owned().into(),
        };
        Some(text)
    }

    pub(super) fn document(&self, name: &str) -> Option<&str> {
        self.documents.get(&format!("{name}.md")).map(String::as_str)
    }
}

impl fmt::Debug for Locale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Locale").field(&self.code).finish()
    }
}
