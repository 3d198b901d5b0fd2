//! Texts of the frame page and of the notices, one file per language.

mod ar;
mod de;
mod en;
mod es;
mod fr;
mod language;
mod table;
mod zh;

pub use language::Language;
pub use table::{NoticeText, Texts};

impl Language {
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
}
