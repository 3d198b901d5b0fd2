//! Texts of the frame page and of the notices, one file per language, and the choice of the language.

mod ar;
mod de;
mod en;
mod es;
mod fr;
mod table;
mod zh;

use launcher_domain::accept_language::{MAX_WEIGHT, weight};

pub use table::{NoticeText, Texts};

/// A language of the frame page and of the notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// The language of a client that prefers no other language of this list.
    #[default]
    English,
    German,
    French,
    Spanish,
    Chinese,
    Arabic,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 6] = [Self::English, Self::German, Self::French, Self::Spanish, Self::Chinese, Self::Arabic];

    /// Returns the texts of this language.
    #[must_use]
    pub fn texts(self) -> &'static Texts {
        match self {
            Self::English => &en::TEXTS,
            Self::German => &de::TEXTS,
            Self::French => &fr::TEXTS,
            Self::Spanish => &es::TEXTS,
            Self::Chinese => &zh::TEXTS,
            Self::Arabic => &ar::TEXTS,
        }
    }

    /// Returns the language that the client prefers most, by the value of its `Accept-Language` header. Returns English
    /// if the header names no language of this list.
    #[must_use]
    pub fn preferred(accept_language: &[u8]) -> Self {
        let mut best = (0, Self::default());
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

    /// Returns the language of a tag such as `de` or `zh-Hant-TW`, by its first part.
    fn of_tag(tag: &[u8]) -> Option<Self> {
        let primary = tag.split(|&byte| byte == b'-').next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.texts().code.as_bytes().eq_ignore_ascii_case(primary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_language_are_complete_and_need_no_escape() {
        for language in Language::ALL {
            let texts = language.texts();
            let notices = [
                texts.not_yours,
                texts.not_signed_in,
                texts.unknown,
                texts.starting,
                texts.no_answer,
                texts.failed,
                texts.terminated,
                texts.expired,
            ];
            let bar = [texts.workshop, texts.bar, texts.app, texts.left, texts.ends, texts.warning, texts.over];
            let notes = [texts.crashed, texts.out_of_memory, texts.files_lost];
            let links = [texts.signed_out, texts.extend, texts.extend_hint, texts.home, texts.launcher];
            let parts =
                notices.iter().flat_map(|notice| [notice.title, notice.text]).chain(bar).chain(notes).chain(links);
            for text in parts {
                assert!(!text.is_empty() && !text.contains(['<', '>', '&', '"']), "{}: {text:?}", texts.code);
            }
            assert_eq!(texts.ends.matches("{time}").count(), 1, "{}: {}", texts.code, texts.ends);
            for text in [texts.left, texts.warning] {
                assert_eq!(text.matches("{left}").count(), 1, "{}: {text}", texts.code);
            }
        }
    }

    #[test]
    fn language_with_highest_weight_is_preferred() {
        for (header, expected) in [
            ("", Language::English),
            ("de", Language::German),
            ("DE-at", Language::German),
            ("nl, fr;q=0.5, es;q=0.75", Language::Spanish),
            ("zh-Hant-TW,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("en;q=0.1, ar; q=0.2", Language::Arabic),
            ("de;q=0, fr;q=0.001", Language::French),
            ("fr, de", Language::French),
            ("*", Language::English),
            ("de;q=x", Language::English),
            ("deutsch,;q=1,,", Language::English),
        ] {
            assert_eq!(Language::preferred(header.as_bytes()), expected, "{header}");
        }
    }
}
