//! Which rows of a list, and how many of them.

use launcher_domain::{EmailAddress, InstanceState};
use uuid::Uuid;

/// A part of a list, newest first. Rows of most lists are known by a UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<Id = Uuid> {
    /// At most so many rows.
    pub limit: u32,
    /// The identifier of the last row of the page before; `None` for the first page. The row itself need not exist any
    /// more.
    pub after: Option<Id>,
}

/// Which states a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StateFilter {
    /// Everything but terminated: also what failed and was not dismissed yet.
    #[default]
    Live,
    /// Terminated.
    Ended,
    /// Everything.
    All,
    /// One state.
    Only(InstanceState),
}

/// Which instances a list shows, within what its caller may see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceFilter {
    /// By state.
    pub state: StateFilter,
    /// Only this owner's.
    pub owner_email: Option<EmailAddress>,
    /// Only this template's.
    pub template_id: Option<Uuid>,
}

/// Which lines of the activity log a list shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Only what this person did, and what happened to this person's instances.
    pub person: Option<EmailAddress>,
    /// Only of the instance with this `k8s_name`, or the template with this identifier.
    pub subject: Option<String>,
}
