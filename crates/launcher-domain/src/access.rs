//! Who may do what: a pure function, and the scope that the store puts into its SQL.

use crate::caller::Caller;
use crate::email::EmailAddress;

/// Which instances somebody may see. The store turns it into `owner_email = …`, so that "not yours" and "not there" are
/// the same missing row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Everybody's: an admin, or a loop of the service itself.
    Everyone,
    /// Only this person's.
    Owner(&'a EmailAddress),
}

impl Scope<'_> {
    /// Whether an instance of this owner is within the scope.
    #[must_use]
    pub fn includes(&self, owner: &EmailAddress) -> bool {
        match self {
            Self::Everyone => true,
            Self::Owner(email) => *email == owner,
        }
    }
}

/// Everything that a caller can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// Read, extend or terminate an instance of this owner.
    Instance {
        /// Who launched it.
        owner: &'a EmailAddress,
    },
    /// List everybody's instances, and filter them by owner or template.
    ListAllInstances,
    /// Read a template, active or not.
    ReadTemplate,
    /// See inactive templates in the list.
    ListInactiveTemplates,
    /// Launch an active template.
    LaunchActive,
    /// Launch an inactive template, to try it.
    LaunchInactive,
    /// Create, update or archive a template.
    ManageTemplates,
    /// Read who did what.
    ReadActivities,
}

/// What the caller gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Go ahead.
    Granted,
    /// It does not exist, as far as this caller may know.
    Hidden,
    /// It exists, and is not for this caller.
    Forbidden,
}

/// Decides. SPEC: an admin may operate on any instance and manage templates; everybody else sees and manages only
/// instances they launched, and reads and launches templates.
#[must_use]
pub fn decide(caller: &Caller, action: Action<'_>) -> Verdict {
    match action {
        Action::ReadTemplate | Action::LaunchActive => Verdict::Granted,
        _ if caller.is_admin() => Verdict::Granted,
        Action::Instance { owner } if caller.scope().includes(owner) => Verdict::Granted,
        Action::Instance { .. } => Verdict::Hidden,
        Action::ListAllInstances
        | Action::ListInactiveTemplates
        | Action::LaunchInactive
        | Action::ManageTemplates
        | Action::ReadActivities => Verdict::Forbidden,
    }
}
