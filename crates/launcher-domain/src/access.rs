//! Authorization: a pure function, and the scope that the store adds to its SQL.

use crate::caller::Caller;
use crate::email::EmailAddress;

/// The instances that a caller may see. The store turns it into `owner_email = …`, so that "not yours" and "does not
/// exist" are the same missing row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// All instances: for an admin, or a loop of the service itself.
    Everyone,
    /// Only the instances of this person.
    Owner(&'a EmailAddress),
}

impl Scope<'_> {
    /// True when an instance of this owner is within the scope.
    #[must_use]
    pub fn includes(&self, owner: &EmailAddress) -> bool {
        match self {
            Self::Everyone => true,
            Self::Owner(email) => *email == owner,
        }
    }
}

/// An operation that a caller can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// Read, extend or terminate an instance of this owner.
    Instance {
        /// Owner of the instance.
        owner: &'a EmailAddress,
    },
    /// List the instances of all owners, and filter them by owner or template.
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
    /// Read the activity log.
    ReadActivities,
}

/// Result of the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Allowed.
    Granted,
    /// It does not exist, or the caller may not know that it does.
    Hidden,
    /// It exists, but this caller may not use it.
    Forbidden,
}

/// Decides on an action. SPEC: an admin may operate on any instance and manage templates. All others see and manage
/// only instances they launched, and read and launch templates.
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
