//! The admins' list of all instances, and the bulk actions.

use launcher_service::SortBy;

use super::super::Around;

/// The table's name for screen readers.
pub(crate) const INSTANCES: &str = "Instances";
/// The head of a column of instances.
pub(crate) const INSTANCE: &str = "Instance";
/// Filter and column head: the template.
pub(crate) const TEMPLATE: &str = "Template";
/// Template filter: all templates.
pub(crate) const EVERY_TEMPLATE: &str = "All";
/// Filter and column head: the state.
pub(crate) const STATE: &str = "State";
/// State filter: all but terminated instances.
pub(crate) const NOT_ENDED: &str = "Not ended";
/// State filter: terminated instances.
pub(crate) const EVERYTHING_ENDED: &str = "Ended";
/// State filter: all states.
pub(crate) const EVERY_STATE: &str = "All";
/// The head of the column of buttons.
pub(crate) const ACTION: &str = "Action";
/// Nothing matches the filter.
pub(crate) const NO_INSTANCES: &str = "No instance matches.";
/// The filter is not an e-mail address.
pub(crate) const NOT_AN_EMAIL: &str = "This is not an e-mail address; everybody's instances are shown.";
/// Link to the next page of a list that is not sorted by time.
pub(crate) const MORE: &str = "More";

/// Head of a sortable column.
pub(crate) fn sorted_by(by: SortBy) -> &'static str {
    match by {
        SortBy::Template => INSTANCE,
        SortBy::Owner => "Owner",
        SortBy::State => STATE,
        SortBy::Launch => "Launched",
        SortBy::End => "Ends",
    }
}

/// Checkbox that selects all rows.
pub(crate) const TICK_ALL: &str = "Tick all";

/// Checkbox that selects one row.
pub(crate) fn tick(k8s_name: &str) -> String {
    format!("Tick {k8s_name}")
}

/// Name of the bulk actions for screen readers.
pub(crate) const BULK_FORM: &str = "With the ticked";
/// Text before the buttons of the bulk actions.
pub(crate) const BULK_FORM_TITLE: &str = "With the ticked:";
/// Extends the selected instances.
pub(crate) const EXTEND: &str = "Extend";
/// Title of the confirmation page for ending several workshops.
pub(crate) const BULK_END_TITLE: &str = "End workshops";

/// Question of the confirmation page.
pub(crate) fn bulk_end_question(count: usize) -> String {
    if count == 1 { "End 1 workshop?".to_owned() } else { format!("End {count} workshops?") }
}

/// Warning of the confirmation page.
pub(crate) const BULK_END_WARNING: &str =
    "What runs there stops at once. Everything that was not saved elsewhere is lost.";
/// Confirms.
pub(crate) const BULK_END_NOW: &str = "End now";
/// Cancels.
pub(crate) const BULK_KEEP: &str = "Keep running";

/// Heading of the results of a bulk end: `Ended 28 of 30`.
pub(crate) fn bulk_ended(done: usize, all: usize) -> String {
    if all == 0 { "Ended".to_owned() } else { format!("Ended {done} of {all}") }
}

/// Heading of the results of a bulk extension.
pub(crate) fn bulk_extended(done: usize, all: usize) -> String {
    if all == 0 { "Extended".to_owned() } else { format!("Extended {done} of {all}") }
}

/// Link back to the list.
pub(crate) const BACK_TO_LIST: &str = "Back to the list";
/// The table's name for screen readers.
pub(crate) const BULK_RESULTS: &str = "What became of each";
/// Head of the results' second column.
pub(crate) const RESULT: &str = "Result";
/// New expiry.
pub(crate) const BULK_UNTIL: Around = Around { before: "It runs until ", after: "" };
/// Stands before the reason of a failure.
pub(crate) const NOT_DONE: &str = "Not done:";
/// A temporary failure of the service.
pub(crate) const TRY_AGAIN: &str = "It could not be done now. Try again in a minute.";
/// No instance was ticked.
pub(crate) const NOTHING_TICKED: &str = "No instance was ticked.";
/// The form has no known action; no page of this service sends it.
pub(crate) const BULK_WHAT: &str = "The form says neither to end nor to extend.";

/// More instances were selected than any list shows.
pub(crate) fn bulk_too_many(most: usize) -> String {
    format!("No more than {most} at a time.")
}
