//! The start page, the pages of a workshop and of a template, and the history.

use super::super::Around;
use super::duration;

/// Heading of the workshops that have not ended.
pub(crate) const MY_WORKSHOPS: &str = "My workshops";
/// The caller has no workshops.
pub(crate) const NO_WORKSHOPS: &str = "You have no workshops. Launch one below: it appears here.";
/// Note below a list that shows only the newest workshops.
pub(crate) const ONLY_THE_NEWEST: &str = "These are the newest; there are more.";
/// Link to the full list.
pub(crate) const SHOW_ALL_MINE: &str = "Show all of mine";
/// Duration of the wait.
pub(crate) const WAITS_FOR: Around = Around { before: "for ", after: "" };
/// Time until expiry.
pub(crate) const ENDS_IN: Around = Around { before: "Ends in ", after: "" };
/// Warning before the remaining time, shortly before expiry.
pub(crate) const ENDS_WARNING: &str = "Save your work!";

/// Opens a workshop.
pub(crate) const OPEN: &str = "Open";

/// Addition to [`OPEN`] for screen readers.
pub(crate) fn in_new_tab(name: &str) -> String {
    format!("{name} (in a new tab)")
}

/// Extends a workshop.
pub(crate) const EXTEND_UNTIL: Around = Around { before: "Extend until ", after: "" };
/// Ends a workshop.
pub(crate) const END: &str = "End";
/// One-line confirmation before a workshop is ended.
pub(crate) const CONFIRM_END: &str = "End this workshop? Everything that was not saved elsewhere is lost.";
/// Launches a failed workshop's template again.
pub(crate) const LAUNCH_AGAIN: &str = "Launch again";
/// Dismisses a failed workshop.
pub(crate) const DISMISS: &str = "Dismiss";
/// Opens the output of a failed workshop.
pub(crate) const LAST_OUTPUT: &str = "Last lines of its output";

/// Heading of the catalog.
pub(crate) const CATALOG: &str = "Launch a workshop";
/// The search field's name for screen readers.
pub(crate) const SEARCH_CATALOG: &str = "Search the catalog";
/// Placeholder of the search field.
pub(crate) const SEARCH_HINT: &str = "Search";
/// Button of the search.
pub(crate) const SEARCH: &str = "Search";
/// The catalog is empty.
pub(crate) const NO_TEMPLATES: &str = "There is nothing to launch yet.";
/// Link for admins, in an empty catalog.
pub(crate) const CREATE_FIRST: &str = "Create the first template";
/// No catalog entry matches the search.
pub(crate) const NOTHING_FOUND: &str = "No workshop of the catalog matches.";

/// Link back to the whole catalog.
pub(crate) fn show_all(offered: usize) -> String {
    format!("Show all {offered}")
}

/// Number of matching entries.
pub(crate) fn found(found: usize, offered: usize) -> String {
    format!("{found} of {offered} found")
}

/// Launches a template.
pub(crate) const LAUNCH: &str = "Launch";
/// On a template's card: the reader has a workshop of it.
pub(crate) const HAVE_ONE_SHORT: &str = "You have one";
/// The same on the template's page.
pub(crate) const HAVE_ONE: &str = "You have this workshop already:";
/// Launches another one.
pub(crate) const LAUNCH_ANOTHER: &str = "Launch another";
/// Link from there to the editor, for admins; also the editor's heading.
pub(crate) const EDIT_TEMPLATE: &str = "Edit template";

/// Lifetime of a template's workshops.
pub(crate) fn lasts(lifetime_seconds: u32, max_lifetime_seconds: u32) -> String {
    let lifetime = duration(lifetime_seconds.into());
    if max_lifetime_seconds > lifetime_seconds {
        format!("Lasts {lifetime}, can be extended to {}", duration(max_lifetime_seconds.into()))
    } else {
        format!("Lasts {lifetime}")
    }
}

/// Link to the start page.
pub(crate) const ALL_WORKSHOPS: &str = "All workshops";
/// Label: a workshop's name in URLs.
pub(crate) const INSTANCE_NAME: &str = "Name";
/// Label: the owner.
pub(crate) const OWNER: &str = "Owner";
/// Label: the app type.
pub(crate) const APP: &str = "App";
/// Label: time of the launch.
pub(crate) const LAUNCHED_AT: &str = "Launched";
/// Label: time when it became ready.
pub(crate) const READY_SINCE: &str = "Ready since";
/// Label: latest possible expiry.
pub(crate) const LATEST_END: &str = "Can be extended to";
/// Label: time of the end.
pub(crate) const ENDED_AT: &str = "Ended";
/// Label: reason of the end.
pub(crate) const WHY_ENDED: &str = "Why it ended";

/// Title of the confirmation page before a workshop is ended.
pub(crate) fn end_title(name: &str) -> String {
    format!("End {name}")
}

/// Question of the confirmation page.
pub(crate) fn end_question(name: &str) -> String {
    format!("End “{name}”?")
}

/// Warning of the confirmation page.
pub(crate) const END_WARNING: &str =
    "The workshop stops at once. Everything in it that you have not saved elsewhere is lost.";
/// Addition for admins: the owner.
pub(crate) const BELONGS_TO: Around = Around { before: "It belongs to ", after: "." };
/// Confirms.
pub(crate) const END_WORKSHOP: &str = "End workshop";
/// Cancels.
pub(crate) const KEEP_IT: &str = "Keep it";

/// The history's name for screen readers.
pub(crate) const ENDED_WORKSHOPS: &str = "Ended workshops";
/// Head of the history's first column.
pub(crate) const WORKSHOP: &str = "Workshop";
/// The history is empty.
pub(crate) const NO_HISTORY: &str = "None of your workshops has ended yet.";
