//! The start page, a workshop's page, the page of a template, and the history.

use super::super::Around;
use super::duration;

/// Above the workshops that have not ended.
pub(crate) const MY_WORKSHOPS: &str = "My workshops";
/// Nothing launched yet.
pub(crate) const NO_WORKSHOPS: &str = "You have no workshops. Launch one below: it appears here.";
/// Below so many workshops that the rest is left out.
pub(crate) const ONLY_THE_NEWEST: &str = "These are the newest; there are more.";
/// The way to the rest.
pub(crate) const SHOW_ALL_MINE: &str = "Show all of mine";
/// How long somebody has been waiting.
pub(crate) const WAITS_FOR: Around = Around { before: "for ", after: "" };
/// How long a workshop runs on.
pub(crate) const ENDS_IN: Around = Around { before: "Ends in ", after: "" };
/// Stands before the time that is left when it is short.
pub(crate) const ENDS_WARNING: &str = "Save your work!";

/// Opens a workshop.
pub(crate) const OPEN: &str = "Open";

/// What [`OPEN`] says to screen readers besides.
pub(crate) fn in_new_tab(name: &str) -> String {
    format!("{name} (in a new tab)")
}

/// Extends a workshop.
pub(crate) const EXTEND_UNTIL: Around = Around { before: "Extend until ", after: "" };
/// Ends a workshop.
pub(crate) const END: &str = "End";
/// Asked before an end, in one line.
pub(crate) const CONFIRM_END: &str = "End this workshop? Everything that was not saved elsewhere is lost.";
/// Launches what failed once more.
pub(crate) const LAUNCH_AGAIN: &str = "Launch again";
/// Puts away what failed.
pub(crate) const DISMISS: &str = "Dismiss";
/// Opens what a failed workshop wrote.
pub(crate) const LAST_OUTPUT: &str = "Last lines of its output";

/// Above the catalog.
pub(crate) const CATALOG: &str = "Launch a workshop";
/// The search field's name for screen readers.
pub(crate) const SEARCH_CATALOG: &str = "Search the catalog";
/// Stands in the empty search field.
pub(crate) const SEARCH_HINT: &str = "Search";
/// Searches.
pub(crate) const SEARCH: &str = "Search";
/// An empty catalog.
pub(crate) const NO_TEMPLATES: &str = "There is nothing to launch yet.";
/// What an admin does about it.
pub(crate) const CREATE_FIRST: &str = "Create the first template";
/// No entry of the catalog has the words.
pub(crate) const NOTHING_FOUND: &str = "No workshop of the catalog matches.";

/// Leads back to the whole catalog.
pub(crate) fn show_all(offered: usize) -> String {
    format!("Show all {offered}")
}

/// How many entries have the words.
pub(crate) fn found(found: usize, offered: usize) -> String {
    format!("{found} of {offered} found")
}

/// Launches an entry.
pub(crate) const LAUNCH: &str = "Launch";
/// On the card of a template that the reader has a workshop of.
pub(crate) const HAVE_ONE_SHORT: &str = "You have one";
/// On its page.
pub(crate) const HAVE_ONE: &str = "You have this workshop already:";
/// Launches it all the same.
pub(crate) const LAUNCH_ANOTHER: &str = "Launch another";
/// Leads an admin from there to the editor; and above it.
pub(crate) const EDIT_TEMPLATE: &str = "Edit template";

/// How long a workshop of a template lasts.
pub(crate) fn lasts(lifetime_seconds: u32, max_lifetime_seconds: u32) -> String {
    let lifetime = duration(lifetime_seconds.into());
    if max_lifetime_seconds > lifetime_seconds {
        format!("Lasts {lifetime}, can be extended to {}", duration(max_lifetime_seconds.into()))
    } else {
        format!("Lasts {lifetime}")
    }
}

/// Leads to the start page.
pub(crate) const ALL_WORKSHOPS: &str = "All workshops";
/// A workshop's name in addresses.
pub(crate) const INSTANCE_NAME: &str = "Name";
/// Whose it is.
pub(crate) const OWNER: &str = "Owner";
/// What kind of app it is.
pub(crate) const APP: &str = "App";
/// When it was launched.
pub(crate) const LAUNCHED_AT: &str = "Launched";
/// Since when it can be opened.
pub(crate) const READY_SINCE: &str = "Ready since";
/// The end that no extension passes.
pub(crate) const LATEST_END: &str = "Can be extended to";
/// When it ended.
pub(crate) const ENDED_AT: &str = "Ended";
/// Why it did.
pub(crate) const WHY_ENDED: &str = "Why it ended";

/// The title of the page that asks before an end.
pub(crate) fn end_title(name: &str) -> String {
    format!("End {name}")
}

/// What it asks.
pub(crate) fn end_question(name: &str) -> String {
    format!("End “{name}”?")
}

/// What it tells.
pub(crate) const END_WARNING: &str =
    "The workshop stops at once. Everything in it that you have not saved elsewhere is lost.";
/// Told an admin besides.
pub(crate) const BELONGS_TO: Around = Around { before: "It belongs to ", after: "." };
/// Yes.
pub(crate) const END_WORKSHOP: &str = "End workshop";
/// No.
pub(crate) const KEEP_IT: &str = "Keep it";

/// The history's name for screen readers.
pub(crate) const ENDED_WORKSHOPS: &str = "Ended workshops";
/// The head of its first column.
pub(crate) const WORKSHOP: &str = "Workshop";
/// Nothing ended yet.
pub(crate) const NO_HISTORY: &str = "None of your workshops has ended yet.";
