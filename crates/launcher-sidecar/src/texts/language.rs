//! Choice of the language of a page.

use launcher_domain::accept_language::{MAX_WEIGHT, weight};

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
