//! Authorization: decides whether a caller may perform an action.

use crate::caller::Caller;
use crate::email::EmailAddress;

/// An operation that a caller can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// Read, extend or terminate an instance of `owner`.
    Instance {
        /// Owner of the instance.
        owner: &'a EmailAddress,
    },
    /// List the instances of all owners, and filter them by owner or template.
    ListAllInstances,
    /// List the volumes of all owners.
    ListAllVolumes,
    /// Read a template, active or not.
    ReadTemplate,
    /// See inactive and unlisted templates in the list.
    ListInactiveTemplates,
    /// Launch an active template.
    LaunchActive,
    /// Launch an inactive template, for example to try it before users see it.
    LaunchInactive,
    /// Create, update or archive a template, and pull its image.
    ManageTemplates,
    /// See the instances of a template by state, and extend all of them.
    ManageClass,
    /// Restart running instances of all owners that have an older version of sidecar or settings.
    RestartInstances,
    /// Read the activity log.
    ReadActivities,
}

/// Decision about an action of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The caller may perform the action.
    Granted,
    /// The caller must not learn whether the object of the action exists: the API answers 404.
    Hidden,
    /// The caller may know that the object exists, but may not perform the action: the API answers 403.
    Forbidden,
}

/// Decides whether a caller may perform an action. An admin may operate on any instance and manage templates. Other
/// users see and manage only the instances that they launched, and read and launch templates.
#[must_use]
pub fn decide(caller: &Caller, action: Action<'_>) -> Verdict {
    match action {
        Action::ReadTemplate | Action::LaunchActive => Verdict::Granted,
        _ if caller.is_admin() => Verdict::Granted,
        Action::Instance { owner } if caller.scope().includes(owner) => Verdict::Granted,
        Action::Instance { .. } => Verdict::Hidden,
        Action::ListAllInstances
        | Action::ListAllVolumes
        | Action::ListInactiveTemplates
        | Action::LaunchInactive
        | Action::ManageTemplates
        | Action::ManageClass
        | Action::RestartInstances
        | Action::ReadActivities => Verdict::Forbidden,
    }
}
