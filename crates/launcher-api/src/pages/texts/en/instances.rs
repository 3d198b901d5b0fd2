//! The admins' list of everybody's instances, and what is done to many of them.

use launcher_service::SortBy;

use super::super::Around;

/// The table's name for screen readers.
pub(crate) const INSTANCES: &str = "Instances";
/// The head of a column of instances.
pub(crate) const INSTANCE: &str = "Instance";
/// A filter, and the head of a column: what was launched.
pub(crate) const TEMPLATE: &str = "Template";
/// That filter, when it filters nothing.
pub(crate) const EVERY_TEMPLATE: &str = "All";
/// A filter.
pub(crate) const STATE: &str = "State";
/// That filter: everything but what has ended.
pub(crate) const NOT_ENDED: &str = "Not ended";
/// That filter: what has ended or failed.
pub(crate) const EVERYTHING_ENDED: &str = "Ended";
/// That filter, when it filters nothing.
pub(crate) const EVERY_STATE: &str = "All";
/// The head of the column of buttons.
pub(crate) const ACTION: &str = "Action";
/// Nothing matches the filter.
pub(crate) const NO_INSTANCES: &str = "No instance matches.";
/// A filter that is not an address.
pub(crate) const NOT_AN_EMAIL: &str = "This is not an e-mail address; everybody's instances are shown.";
/// Leads on in a list that is not sorted by time.
pub(crate) const MORE: &str = "More";

/// The head of a column that can be sorted by.
pub(crate) fn sorted_by(by: SortBy) -> &'static str {
    match by {
        SortBy::Template => INSTANCE,
        SortBy::Owner => "Owner",
        SortBy::State => STATE,
        SortBy::Launch => "Launched",
        SortBy::End => "Ends",
    }
}

/// The box that ticks all.
pub(crate) const TICK_ALL: &str = "Tick all";

/// The box that ticks one.
pub(crate) fn tick(k8s_name: &str) -> String {
    format!("Tick {k8s_name}")
}

/// What can be done to those that are ticked: its name for screen readers.
pub(crate) const BULK_FORM: &str = "With the ticked";
/// The same before the buttons.
pub(crate) const BULK_FORM_TITLE: &str = "With the ticked:";
/// Extends them.
pub(crate) const EXTEND: &str = "Extend";
/// The title of the page that asks before many ends.
pub(crate) const BULK_END_TITLE: &str = "End workshops";

/// What it asks.
pub(crate) fn bulk_end_question(count: usize) -> String {
    if count == 1 { "End 1 workshop?".to_owned() } else { format!("End {count} workshops?") }
}

/// What it tells.
pub(crate) const BULK_END_WARNING: &str =
    "What runs there stops at once. Everything that was not saved elsewhere is lost.";
/// Yes.
pub(crate) const BULK_END_NOW: &str = "End now";
/// No.
pub(crate) const BULK_KEEP: &str = "Keep running";

/// Above what became of each that was to be ended: `Ended 28 of 30`.
pub(crate) fn bulk_ended(done: usize, all: usize) -> String {
    if all == 0 { "Ended".to_owned() } else { format!("Ended {done} of {all}") }
}

/// Above what became of each that was to be extended.
pub(crate) fn bulk_extended(done: usize, all: usize) -> String {
    if all == 0 { "Extended".to_owned() } else { format!("Extended {done} of {all}") }
}

/// Leads back.
pub(crate) const BACK_TO_LIST: &str = "Back to the list";
/// The table's name for screen readers.
pub(crate) const BULK_RESULTS: &str = "What became of each";
/// The head of its second column.
pub(crate) const RESULT: &str = "Result";
/// A new end.
pub(crate) const BULK_UNTIL: Around = Around { before: "It runs until ", after: "" };
/// Stands before why not.
pub(crate) const NOT_DONE: &str = "Not done:";
/// The service could not do it now.
pub(crate) const TRY_AGAIN: &str = "It could not be done now. Try again in a minute.";
/// No instance was ticked.
pub(crate) const NOTHING_TICKED: &str = "No instance was ticked.";
/// A form that no page of this service sends.
pub(crate) const BULK_WHAT: &str = "The form says neither to end nor to extend.";

/// More were ticked than any list shows.
pub(crate) fn bulk_too_many(most: usize) -> String {
    format!("No more than {most} at a time.")
}
