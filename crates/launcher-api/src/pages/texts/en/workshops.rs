//! Texts of the start page, the pages of a workshop and of a template, and the history.

use super::units::duration;
use crate::pages::texts::parts::Around;

/// Heading of the list of workshops that have not ended.
pub(crate) const MY_WORKSHOPS: &str = "My workshops";
/// Text if the caller has no workshops.
pub(crate) const NO_WORKSHOPS: &str = "You have no workshops. Launch one below.";
/// Note below a list that shows only the newest workshops.
pub(crate) const ONLY_THE_NEWEST: &str = "This list shows only your newest workshops.";
/// Link to the list of all workshops of the caller.
pub(crate) const SHOW_ALL_MINE: &str = "Show all my workshops";
/// Line wherever a workshop is shown: what happens to its files, and when.
pub(crate) const FILES_ARE_DELETED: &str =
    "The files in a workshop are deleted when it ends. Download what you want to keep.";
/// Text around the time for which the owner has waited.
pub(crate) const WAITS_FOR: Around = Around { before: "for ", after: "" };
/// Text around the time of the launch, in the list of workshops.
pub(crate) const LAUNCHED: Around = Around { before: "Launched ", after: "" };
/// Text around the time until expiry.
pub(crate) const ENDS_IN: Around = Around { before: "Ends in ", after: "" };
/// Warning before the remaining time of a workshop that expires soon.
pub(crate) const ENDS_WARNING: &str = "Save your work!";

/// Link that opens a workshop.
pub(crate) const OPEN: &str = "Open";

/// Addition to the link [`OPEN`], for screen readers.
pub(crate) fn in_new_tab(name: &str) -> String {
    format!("{name} (in a new tab)")
}

/// Button that extends a workshop, with the new expiry.
pub(crate) const EXTEND_UNTIL: Around = Around { before: "Extend until ", after: "" };
/// Button that ends a workshop.
pub(crate) const END: &str = "End";
/// Question of the browser dialog before a workshop is ended.
pub(crate) const CONFIRM_END: &str = "End this workshop? Files that you have not saved elsewhere are lost.";
/// Button that launches the template of a failed or ended workshop again. Also the link to the template in the history.
pub(crate) const LAUNCH_AGAIN: &str = "Launch again";
/// Button that dismisses a failed workshop.
pub(crate) const DISMISS: &str = "Dismiss";
/// Label that opens the last output of a failed workshop.
pub(crate) const LAST_OUTPUT: &str = "Last lines of the output";

/// Heading of the catalog on the start page.
pub(crate) const CATALOG: &str = "Launch a workshop";
/// The search field's name for screen readers.
pub(crate) const SEARCH_CATALOG: &str = "Search the catalog";
/// Placeholder of the search field.
pub(crate) const SEARCH_HINT: &str = "Search";
/// Button that starts the search.
pub(crate) const SEARCH: &str = "Search";
/// Text if the catalog is empty.
pub(crate) const NO_TEMPLATES: &str = "There are no workshops to launch yet.";
/// Link to the template editor for admins, if the catalog is empty.
pub(crate) const CREATE_FIRST: &str = "Create the first template";
/// Text if no catalog entry matches the search.
pub(crate) const NOTHING_FOUND: &str = "No workshop matches your search.";

/// Link from the search results back to the whole catalog.
pub(crate) fn show_all(offered: usize) -> String {
    format!("Show all {offered}")
}

/// States how many catalog entries match the search.
pub(crate) fn found(found: usize, offered: usize) -> String {
    format!("{found} of {offered} found")
}

/// Button that launches a template.
pub(crate) const LAUNCH: &str = "Launch";
/// Note on a template's card if the reader already has a workshop of this template.
pub(crate) const HAVE_ONE_SHORT: &str = "You have one";
/// Note on a template's page if the reader already has a workshop of this template.
pub(crate) const HAVE_ONE: &str = "You already have this workshop:";
/// Note on a template's page if the reader's newest workshop of this template has failed.
pub(crate) const LAST_ONE_FAILED: &str = "Your last workshop of this template failed.";
/// Link from this note to the page of the failed workshop.
pub(crate) const SHOW_IT: &str = "Show it";
/// Button that launches another workshop of a template.
pub(crate) const LAUNCH_ANOTHER: &str = "Launch another";
/// Link from a template's page to the editor, for admins. Also the heading of the editor.
pub(crate) const EDIT_TEMPLATE: &str = "Edit template";

/// States the lifetime of a template's workshops, and how far they can be extended.
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
/// Label: the name of a workshop in URLs.
pub(crate) const INSTANCE_NAME: &str = "Name";
/// Label: the owner of a workshop.
pub(crate) const OWNER: &str = "Owner";
/// Label: the app type of a workshop.
pub(crate) const APP: &str = "App";
/// Label: the time of a workshop's launch.
pub(crate) const LAUNCHED_AT: &str = "Launched";
/// Label: the time when a workshop became ready.
pub(crate) const READY_SINCE: &str = "Ready since";
/// Label: the latest possible expiry of a workshop.
pub(crate) const LATEST_END: &str = "Can be extended to";
/// Label: the time of a workshop's end.
pub(crate) const ENDED_AT: &str = "Ended";
/// Label: the time from a workshop's launch to its end.
pub(crate) const LASTED: &str = "Lasted";
/// Label: the reason of a workshop's end.
pub(crate) const WHY_ENDED: &str = "Why it ended";

/// Title of the confirmation page before a workshop is ended.
pub(crate) fn end_title(name: &str) -> String {
    format!("End {name}")
}

/// Question on the confirmation page before a workshop is ended.
pub(crate) fn end_question(name: &str) -> String {
    format!("End “{name}”?")
}

/// Warning on the confirmation page before a workshop is ended.
pub(crate) const END_WARNING: &str = "The workshop stops at once. Files that you have not saved elsewhere are lost.";
/// Sentence with the owner, on an admin's confirmation page.
pub(crate) const BELONGS_TO: Around = Around { before: "It belongs to ", after: "." };
/// Button that ends the workshop, on the confirmation page.
pub(crate) const END_WORKSHOP: &str = "End workshop";
/// Link that leaves the confirmation page without ending the workshop.
pub(crate) const KEEP_IT: &str = "Keep it";

/// Name of the history for screen readers.
pub(crate) const ENDED_WORKSHOPS: &str = "Ended workshops";
/// Column head of the history: the name of the workshop.
pub(crate) const WORKSHOP: &str = "Workshop";
/// Text if the history is empty.
pub(crate) const NO_HISTORY: &str = "None of your workshops has ended yet.";
