//! Texts of the frame page and of the notices, and the choice of their language.
//!
//! The texts are in `sidecar.ftl` of each language (`launcher-api/locales/`). `build.rs` makes the type [`Texts`] from the
//! English messages, and a constant for each language.

use launcher_domain::accept_language::{MAX_WEIGHT, weight};

include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// Title and text of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoticeText {
    /// Title of the page.
    pub title: &'static str,
    /// One or more sentences.
    pub text: &'static str,
}

/// A language of the frame page and of the notices. The default is English.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language(&'static Texts);

impl Default for Language {
    fn default() -> Self {
        Self::ENGLISH
    }
}

impl Language {
    /// The language of a client that prefers no other language of the sidecar.
    pub const ENGLISH: Self = Self(&LANGUAGES[ENGLISH]);

    /// Returns all languages, sorted by code.
    pub fn all() -> impl Iterator<Item = Self> {
        LANGUAGES.iter().map(Self)
    }

    /// Returns the texts of this language.
    #[must_use]
    pub fn texts(self) -> &'static Texts {
        self.0
    }

    /// Returns the language with this code.
    #[must_use]
    pub fn with_code(code: &[u8]) -> Option<Self> {
        Self::all().find(|language| language.texts().code.as_bytes() == code)
    }

    /// Returns the language that the client prefers most, by the value of its `Accept-Language` header. Returns English
    /// if the header names no language of the sidecar.
    #[must_use]
    pub fn preferred(accept_language: &[u8]) -> Self {
        let mut best = (0, Self::ENGLISH);
        for range in accept_language.split(|&byte| byte == b',') {
            let mut parts = range.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
            let Some(language) = parts.next().and_then(Self::of_tag) else { continue };
            let preference = parts.find_map(|part| part.strip_prefix(b"q=")).map_or(MAX_WEIGHT, weight);
            if preference > best.0 {
                best = (preference, language);
            }
        }
        best.1
    }

    /// Returns the language of a tag such as `de` or `zh-Hant-TW`, which is or begins with the code of the language.
    fn of_tag(tag: &[u8]) -> Option<Self> {
        Self::all().find(|language| {
            let code = language.texts().code.as_bytes();
            let (start, rest) = tag.split_at(code.len().min(tag.len()));
            start.eq_ignore_ascii_case(code) && matches!(rest.first(), None | Some(b'-'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_with_highest_weight_is_preferred() {
        for (header, expected) in [
            ("", "en"),
            ("de", "de"),
            ("DE-at", "de"),
            ("tlh, fr;q=0.5, es;q=0.75", "es"),
            ("zh-Hant-TW,zh;q=0.9,en;q=0.8", "zh"),
            ("en;q=0.1, ar; q=0.2", "ar"),
            ("de;q=0, fr;q=0.001", "fr"),
            ("fr, de", "fr"),
            ("*", "en"),
            ("de;q=x", "en"),
            ("deutsch,;q=1,,", "en"),
        ] {
            assert_eq!(Language::preferred(header.as_bytes()).texts().code, expected, "{header}");
        }
    }

    #[test]
    fn texts_contain_their_values() {
        let Texts { left, ends, warning, .. } = Language::ENGLISH.texts();
        assert_eq!([*left, *ends, *warning].map(|text| text.matches(['{', '}']).count()), [2; 3]);
        assert!(left.contains("{left}") && ends.contains("{time}") && warning.contains("{left}"));
        assert_eq!(Language::preferred(b"ar").texts().direction, "rtl");
    }
}
