//! View models: the frame of a page, instances and catalog entries as text, so that the templates contain no decisions.

mod card;
mod instant;
mod snapshot;
mod workshop;

use std::sync::Arc;

use launcher_domain::Clock;

use crate::pages::language::{Language, Text};
use crate::settings::ApiSettings;

pub(crate) use card::Card;
pub(crate) use instant::Instant;
pub(crate) use snapshot::{SnapshotView, end_saves_files};
pub(crate) use workshop::WorkshopView;

/// A notice above the content, which reports the result of an action.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    /// Kind of the notice, as a CSS class: `bad`, `good` or `wait`.
    pub(crate) kind: &'static str,
    pub(crate) title: Text,
    /// A sentence with the next step of the user.
    pub(crate) text: Text,
}

/// An option of a `<select>`.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// The value that the form sends.
    pub(crate) value: String,
    /// The text that the page shows.
    pub(crate) label: String,
    pub(crate) selected: bool,
}

/// Returns the launcher's current time, for the countdowns of the script.
pub(crate) fn machine_now(clock: &dyn Clock) -> String {
    clock.now().to_string()
}

/// The frame of a page: the signed-in person, the navigation and the banners.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    pub(crate) person: Person,
    pub(crate) settings: Arc<ApiSettings>,
    /// True if the page is for admins, and workshops of several people run as one OS user: the page then shows a
    /// warning.
    pub(crate) warns_of_sharing: bool,
    /// Version of the program, in the footer.
    pub(crate) version: &'static str,
    /// All languages, with the current one marked.
    pub(crate) languages: Vec<LanguageChoice>,
    /// Path of the page that opens after a choice of the language; `None` for this page's own address.
    pub(crate) return_to: Option<String>,
    /// `id` of the form that a choice of the language sends, so that its values stay; `None` for the form in the footer.
    pub(crate) language_form: Option<&'static str>,
    /// Entry of the navigation that leads to this page.
    pub(crate) here: &'static str,
}

/// A language that the reader can choose in the footer.
#[derive(Debug, Clone)]
pub(crate) struct LanguageChoice {
    pub(crate) code: &'static str,
    /// Name of the language in itself.
    pub(crate) name: Text,
    pub(crate) direction: &'static str,
    /// True for the language of this page.
    pub(crate) is_current: bool,
}

impl LanguageChoice {
    /// Returns all languages.
    pub(crate) fn all(current: Language) -> Vec<Self> {
        let choice = |language: Language| Self {
            code: language.code(),
            name: language.text("language-name"),
            direction: language.direction(),
            is_current: language.code() == current.code(),
        };
        Language::all().map(choice).collect()
    }
}

/// The signed-in person.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) email: String,
    /// True to show the badge and the links to the admin pages.
    pub(crate) is_admin: bool,
}

impl Shell {
    /// Sets the page that opens after a choice of the language. A page that answers a form needs it: a browser cannot
    /// open the address of such a page again without sending the form again.
    pub(crate) fn returning_to(self, path: impl Into<String>) -> Self {
        Self { return_to: Some(path.into()), ..self }
    }

    /// Returns true if the reader is an admin.
    pub(crate) fn is_admin(&self) -> bool {
        self.person.is_admin
    }
}
