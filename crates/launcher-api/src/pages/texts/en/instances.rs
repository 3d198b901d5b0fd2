//! Texts of the admins' list of all instances, and of the bulk actions.

use launcher_service::SortBy;

use crate::pages::texts::parts::Around;

/// Name of the table for screen readers.
pub(crate) const INSTANCES: &str = "Instances";
/// Column head: the name of an instance.
pub(crate) const INSTANCE: &str = "Instance";
/// Label of the template filter, and column head.
pub(crate) const TEMPLATE: &str = "Template";
/// Choice of the template filter: all templates.
pub(crate) const EVERY_TEMPLATE: &str = "All";
/// Label of the state filter, and column head.
pub(crate) const STATE: &str = "State";
/// Choice of the state filter: all instances that are not terminated.
pub(crate) const NOT_ENDED: &str = "Not ended";
/// Choice of the state filter: terminated instances.
pub(crate) const EVERYTHING_ENDED: &str = "Ended";
/// Choice of the state filter: all states.
pub(crate) const EVERY_STATE: &str = "All";
/// Column head: the buttons of an instance.
pub(crate) const ACTION: &str = "Action";
/// Text below the filter if no instance matches.
pub(crate) const NO_INSTANCES: &str = "No instance matches the filter.";
/// Error if the value of the filter is not an e-mail address.
pub(crate) const NOT_AN_EMAIL: &str = "This is not an e-mail address. The list shows everyone's instances.";
/// Link to the next page of a list that is not sorted by time.
pub(crate) const MORE: &str = "More";

/// Returns the head of a sortable column.
pub(crate) fn sorted_by(by: SortBy) -> &'static str {
    match by {
        SortBy::Template => INSTANCE,
        SortBy::Owner => "Owner",
        SortBy::State => STATE,
        SortBy::Launch => "Launched",
        SortBy::End => "Ends",
    }
}

/// Label of the checkbox that selects all rows.
pub(crate) const TICK_ALL: &str = "Select all";

/// Label of the checkbox that selects one row.
pub(crate) fn tick(k8s_name: &str) -> String {
    format!("Select {k8s_name}")
}

/// Name of the form with the bulk actions, for screen readers.
pub(crate) const BULK_FORM: &str = "Selected instances";
/// Text before the buttons of the bulk actions.
pub(crate) const BULK_FORM_TITLE: &str = "Selected instances:";
/// Button that extends the selected instances.
pub(crate) const EXTEND: &str = "Extend";
/// Title of the confirmation page for ending several workshops.
pub(crate) const BULK_END_TITLE: &str = "End workshops";

/// Question on the confirmation page for ending several workshops.
pub(crate) fn bulk_end_question(count: usize) -> String {
    if count == 1 { "End 1 workshop?".to_owned() } else { format!("End {count} workshops?") }
}

/// Warning on the confirmation page for ending several workshops.
pub(crate) const BULK_END_WARNING: &str = "The workshops stop at once. Files that were not saved elsewhere are lost.";
/// Button that ends the selected workshops.
pub(crate) const BULK_END_NOW: &str = "End now";
/// Link that leaves the confirmation page without ending the workshops.
pub(crate) const BULK_KEEP: &str = "Keep running";

/// Heading of the results after ending several workshops: `Ended 28 of 30`.
pub(crate) fn bulk_ended(done: usize, all: usize) -> String {
    if all == 0 { "Ended".to_owned() } else { format!("Ended {done} of {all}") }
}

/// Heading of the results after extending several workshops.
pub(crate) fn bulk_extended(done: usize, all: usize) -> String {
    if all == 0 { "Extended".to_owned() } else { format!("Extended {done} of {all}") }
}

/// Link from the results back to the list.
pub(crate) const BACK_TO_LIST: &str = "Back to the list";
/// Name of the table of results, for screen readers.
pub(crate) const BULK_RESULTS: &str = "Results";
/// Column head: the result for each instance.
pub(crate) const RESULT: &str = "Result";
/// Result of an extension: the new expiry.
pub(crate) const BULK_UNTIL: Around = Around { before: "It runs until ", after: "" };
/// Text before the reason why the action failed for an instance.
pub(crate) const NOT_DONE: &str = "Not done:";
/// Reason of a failed action: a temporary failure of the service.
pub(crate) const TRY_AGAIN: &str = "The service cannot answer right now. Try again in a minute.";
/// Error if the form selects no instance.
pub(crate) const NOTHING_TICKED: &str = "No instance was selected.";
/// Error if the form has an unknown action. No page of this service sends such a form.
pub(crate) const BULK_WHAT: &str = "The form has an unknown action.";

/// Error if the form selects more instances than any list shows.
pub(crate) fn bulk_too_many(most: usize) -> String {
    format!("Select at most {most} instances at a time.")
}
