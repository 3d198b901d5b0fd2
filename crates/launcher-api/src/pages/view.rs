//! View models: instances and catalog entries as text, so that the templates contain no decisions.

mod card;
mod crash;
mod frame;
mod instant;
mod material;
mod parameters;
mod snapshot;
mod workshop;

use launcher_domain::Clock;

pub(crate) use card::Card;
pub(crate) use frame::{LanguageChoice, Person, Shell};
pub(crate) use instant::Instant;
pub(crate) use snapshot::{SnapshotView, end_saves_files};
pub(crate) use workshop::WorkshopView;

use super::language::Text;

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
