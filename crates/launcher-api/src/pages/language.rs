//! The language of a page: the reader's choice, and the messages of that language.
//!
//! A language is one folder of `locales/`: Fluent files (`*.ftl`, see <https://projectfluent.org>) and the guides in
//! Markdown. The folder's name is the language's BCP 47 code. English is complete; a message, an attribute
//! or a guide that another language lacks appears in English. English has no file with the texts of the domain, because
//! the domain declares them.

mod choice;
mod locale;

use std::borrow::Cow;

use fluent_bundle::{FluentArgs, FluentValue};
use http::HeaderMap;

pub use locale::domain_messages;
use locale::{LOCALES, Locale};

/// Text of a message. A message without values is borrowed.
pub(crate) type Text = Cow<'static, str>;

pub(crate) type Value<'a> = (&'static str, FluentValue<'a>);

/// A sentence around a value to which a template adds HTML, such as a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) before: String,
    pub(crate) after: String,
}

/// Name of the value in a message that [`Language::around`] splits.
const SPLIT_AT: &str = "value";
/// Stands for the value while a message is formatted. It is a private-use character, so no message contains it.
const MARK: char = '\u{e000}';

/// One of the languages in `locales/`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Language(&'static Locale);

impl Language {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        LOCALES.iter().map(Self)
    }

    /// Returns the language that the reader chose earlier, else the best one for the browser's `Accept-Language`, else
    /// English.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let negotiated = || choice::negotiated(headers, Self::all().map(Self::code));
        Self::chosen(headers).or_else(|| Self::with_code(&negotiated()?)).unwrap_or_else(Self::english)
    }

    pub(crate) fn with_code(code: &str) -> Option<Self> {
        Self::all().find(|language| language.code() == code)
    }

    pub(crate) fn english() -> Self {
        Self(&locale::ENGLISH)
    }

    /// Code of the language (BCP 47), for `<html lang>` and the script's `Intl`.
    pub(crate) fn code(self) -> &'static str {
        &self.0.code
    }

    pub(crate) fn name(self) -> Text {
        self.text("language-name")
    }

    /// Direction of the script, for `<html dir>`: `ltr` or `rtl`.
    pub(crate) fn direction(self) -> &'static str {
        self.0.direction()
    }

    pub(crate) fn text(self, key: &str) -> Text {
        self.format(key, None, None)
    }

    pub(crate) fn attribute(self, key: &str, attribute: &str) -> Text {
        self.format(key, Some(attribute), None)
    }

    /// Returns true if the language or English has this attribute of the message.
    pub(crate) fn has_attribute(self, key: &str, attribute: &str) -> bool {
        self.locales().iter().any(|locale| locale.pattern(key, Some(attribute)).is_some())
    }

    /// Returns true if the language or English has this message.
    pub(crate) fn has(self, key: &str) -> bool {
        self.locales().iter().any(|locale| locale.pattern(key, None).is_some())
    }

    pub(crate) fn with<const N: usize>(self, key: &str, values: [Value<'_>; N]) -> String {
        self.format(key, None, Some(&FluentArgs::from_iter(values))).into_owned()
    }

    /// Returns a message with values whose names are known only at run time.
    pub(crate) fn with_all<'a>(self, key: &str, values: impl Iterator<Item = (&'a str, &'a str)>) -> String {
        let values = values.map(|(name, value)| (name.to_owned(), FluentValue::from(value)));
        self.format(key, None, Some(&FluentArgs::from_iter(values))).into_owned()
    }

    pub(crate) fn with_one<'a>(self, key: &str, name: &'static str, value: impl Into<FluentValue<'a>>) -> String {
        self.with(key, [(name, value.into())])
    }

    /// Returns the text before and after the value of a message.
    pub(crate) fn around(self, key: &str) -> Around {
        let text = self.with_one(key, SPLIT_AT, MARK.to_string());
        let (before, after) = text.split_once(MARK).unwrap_or((&text, ""));
        Around { before: before.to_owned(), after: after.to_owned() }
    }

    pub(crate) fn document(self, name: &str) -> &'static str {
        self.locales().iter().find_map(|locale| locale.document(name)).unwrap_or_default()
    }

    /// Formats a message or its attribute. A test checks that English has all messages.
    fn format(self, key: &str, attribute: Option<&str>, values: Option<&FluentArgs<'_>>) -> Text {
        let text = self.locales().iter().find_map(|locale| locale.format(key, attribute, values));
        text.unwrap_or_else(|| key.to_owned().into())
    }

    /// Returns the locales that may have a text, in the order of preference: English has the texts that this language
    /// lacks.
    fn locales(self) -> [&'static Locale; 2] {
        [self.0, *locale::ENGLISH]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use launcher_domain::{FailureCode, FailureDetail, FailureReason, FieldRule};

    use super::*;

    #[test]
    fn english_texts_of_the_domain_are_those_of_the_api() {
        let (t, failure) = (Language::english(), FailureCode::Evicted);
        assert_eq!(t.named("failure-{}", failure.as_str()), failure.message());
        let reason = FailureReason::new(failure, None);
        assert_eq!(t.failure_remedy(&reason, false), failure.remedy());
        for (prefix, texts) in [("failure-detail", FailureDetail::TEXTS), ("field-rule", FieldRule::TEXTS)] {
            for (code, text, args) in texts {
                let values: Vec<(&str, String)> = args.iter().map(|arg| (*arg, format!("{{{arg}}}"))).collect();
                let values = values.iter().map(|(arg, value)| (*arg, value.as_str()));
                assert_eq!(t.with_all(&format!("{prefix}-{code}"), values), *text);
            }
        }
    }

    #[test]
    fn text_that_a_language_lacks_is_in_english() {
        let source = "error-not-found = Nicht da\nproduct-version = Version { $version } von Workshop Launcher\n";
        let files = BTreeMap::from([("errors.ftl".to_owned(), source.to_owned())]);
        let partial = Language(Box::leak(Box::new(Locale::new("nl".to_owned(), files).unwrap())));
        let english = Language::english();
        assert_eq!(partial.text("error-not-found"), "Nicht da");
        assert_eq!(partial.attribute("error-not-found", "text"), english.attribute("error-not-found", "text"));
        assert!(partial.has_attribute("error-not-found", "text") && !partial.has_attribute("error-not-found", "hint"));
        assert_eq!(partial.with_one("product-version", "version", "2"), "Version 2 von Workshop Launcher");
        assert!(partial.has("skip") && !partial.has("no-such-message"));
        assert_eq!(partial.text("skip"), english.text("skip"));
        assert_eq!(partial.duration(60), english.duration(60));
        assert!(!partial.document("students").is_empty());
        assert_eq!(partial.document("students"), english.document("students"));
    }
}
