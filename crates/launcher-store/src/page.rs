//! Filters of lists, and the pages in which lists are read.

use launcher_domain::{EmailAddress, InstanceState};
use uuid::Uuid;

/// A page of a list, newest first. Most lists identify their rows by UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<Id = Uuid> {
    /// Maximum rows.
    pub limit: u32,
    /// Cursor: identifier of the last row of the previous page; `None` for the first page. The row may have been
    /// deleted in the meantime.
    pub after: Option<Id>,
}

/// Filter by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StateFilter {
    /// All states except terminated. Includes failed instances that were not dismissed.
    #[default]
    Live,
    /// Terminated instances.
    Ended,
    /// All states.
    All,
    /// One state.
    Only(InstanceState),
}

/// Filter of instances, applied within the caller's scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceFilter {
    /// State filter.
    pub state: StateFilter,
    /// Restricts the list to this owner's instances.
    pub owner_email: Option<EmailAddress>,
    /// Restricts the list to this template's instances.
    pub template_id: Option<Uuid>,
}

/// Filter of the activity log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Restricts the list to actions by this person, and to events of this person's instances.
    pub person: Option<EmailAddress>,
    /// Restricts the list to the instance with this `k8s_name`, or the template with this identifier.
    pub subject: Option<String>,
}
