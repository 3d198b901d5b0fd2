//! View models: the frame of a page, instances and catalog entries as text, so that the templates contain no decisions.

mod card;
mod snapshot;
mod workshop;

use std::sync::Arc;

use jiff::Timestamp;
use launcher_domain::Caller;
use launcher_domain::template::{Color, Icon};

use crate::assets::icon_path;
use crate::brand::Brand;
use crate::pages::{Language, Text, Visitor};
use crate::permission::{CreateClasses, allows};
use crate::settings::ApiSettings;
use crate::state::AppState;

pub(crate) use card::Card;
pub(crate) use snapshot::{FilesForm, SnapshotView, saved_until};
pub(crate) use workshop::WorkshopView;

/// A notice above the content, which reports the result of an action.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    /// Kind of the notice, as a CSS class: `bad`, `good` or `wait`.
    pub(crate) kind: &'static str,
    pub(crate) title: Text,
    /// A sentence with the next step of the user.
    pub(crate) text: Text,
    /// The reader's workshops that prevent a launch, with their buttons.
    pub(crate) blockers: Option<Blockers>,
}

#[derive(Debug, Clone)]
pub(crate) struct Blockers {
    pub(crate) workshops: Vec<WorkshopView>,
    /// Path of the page that launches.
    pub(crate) back: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) selected: bool,
}

impl Choice {
    pub(crate) fn new(value: impl ToString, label: impl Into<String>, selected: bool) -> Self {
        Self { value: value.to_string(), label: label.into(), selected }
    }
}

/// Returns the HTML attributes that link a field to its hint and its error, if it has them. `id` needs no escaping: ids
/// have only letters, digits, hyphens and underscores.
pub(crate) fn described(id: &str, has_hint: bool, has_error: bool) -> String {
    let ids = match (has_hint, has_error) {
        (true, true) => format!(" aria-describedby=\"{id}-hint {id}-error\""),
        (true, false) => format!(" aria-describedby=\"{id}-hint\""),
        (false, true) => format!(" aria-describedby=\"{id}-error\""),
        (false, false) => String::new(),
    };
    if has_error { ids + " aria-invalid=\"true\"" } else { ids }
}

/// A tile with the icon of an app. Without a chosen colour, equal names have equal colours, so that people recognize their app.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AppTile {
    /// Path of the icon, as in [`icon_path`].
    pub(crate) icon: &'static str,
    /// Colour, for which the style sheet has a class.
    pub(crate) color: Color,
}

impl AppTile {
    pub(crate) fn new(name: &str, icon: Icon, chosen: Option<Color>) -> Self {
        // FNV-1a spreads similar names, such as "Lab 1" and "Lab 2".
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let of_name = Color::ALL[hash as usize % Color::ALL.len()];
        Self { icon: icon_path(icon), color: chosen.unwrap_or(of_name) }
    }
}

/// The frame of a page: the signed-in person, the navigation and the banners.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    pub(crate) caller: Caller,
    pub(crate) settings: Arc<ApiSettings>,
    pub(crate) brand: Arc<Brand>,
    /// True if the page is for admins, and workshops of several people run as one OS user: the page then shows a
    /// warning.
    pub(crate) warns_of_sharing: bool,
    pub(crate) version: &'static str,
    /// Path of the page that opens after a choice of the language; `None` for this page's own address.
    pub(crate) return_to: Option<String>,
    /// `id` of the form that a choice of the language sends, so that its values stay; `None` for the form in the footer.
    pub(crate) language_form: Option<&'static str>,
    /// Entry of the navigation that leads to this page.
    pub(crate) here: &'static str,
}

impl Visitor {
    /// Returns the frame of a page. `here` is its entry in the navigation.
    pub(crate) fn shell(&self, here: &'static str) -> Shell {
        Shell::new(&self.state, &self.caller, here)
    }

    /// Returns the launcher's current time, for the countdowns of the script.
    pub(crate) fn machine_now(&self) -> String {
        self.launcher.clock().now().to_string()
    }
}

impl Shell {
    pub(crate) fn new(state: &AppState, caller: &Caller, here: &'static str) -> Self {
        Self {
            caller: caller.clone(),
            settings: Arc::clone(&state.settings),
            brand: Arc::clone(&state.brand),
            warns_of_sharing: state.process.shares_one_user && caller.is_admin() && here.starts_with("admin"),
            version: env!("CARGO_PKG_VERSION"),
            return_to: None,
            language_form: None,
            here,
        }
    }

    /// Sets the page that opens after a choice of the language. A page that answers a form needs it: a browser cannot
    /// open the address of such a page again without sending the form again.
    pub(crate) fn returning_to(self, path: impl Into<String>) -> Self {
        Self { return_to: Some(path.into()), ..self }
    }

    pub(crate) fn is_admin(&self) -> bool {
        self.caller.is_admin()
    }

    /// Returns true to show the link to the classes to a person who has none yet.
    pub(crate) fn can_create_classes(&self) -> bool {
        allows::<CreateClasses>(&self.caller)
    }

    /// Returns the first letter of the address, as the person's picture.
    pub(crate) fn initial(&self) -> char {
        self.caller.email().as_str().chars().next().unwrap_or(' ')
    }
}

/// Distance from now, in seconds, below which a time is shown without a date.
const NEAR_SECONDS: i64 = 12 * 3600;

/// A point in time, for the HTML element `<time>`.
#[derive(Debug, Clone)]
pub(crate) struct Instant {
    /// The time in RFC 3339, UTC, for the script.
    pub(crate) machine: String,
    /// The time as text for people, in UTC. The script replaces it by local time.
    pub(crate) human: String,
}

impl Instant {
    /// Formats a point in time with its date.
    pub(crate) fn new(t: Language, at: Timestamp) -> Self {
        Self { machine: at.to_string(), human: t.date_and_time(at) }
    }

    /// Formats a point in time as seen at `now`: without a date if it is less than [`NEAR_SECONDS`] away. Later the
    /// page's script replaces the text with the local time. Both have about the same length, so that the layout does
    /// not shift.
    fn seen_at(t: Language, now: Timestamp, at: Timestamp) -> Self {
        if (at.as_second() - now.as_second()).abs() < NEAR_SECONDS {
            Self { human: t.time_of_day(at), ..Self::new(t, at) }
        } else {
            Self::new(t, at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_sheet_has_a_hue_for_each_color() {
        let style = include_str!("../../assets/app.css");
        for color in Color::ALL {
            assert!(style.contains(&format!("\n.hue-{} {{ --hue: ", color.as_str())), "{color:?}");
        }
    }
}
