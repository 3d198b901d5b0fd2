//! Scope of a caller: the store adds it to its SQL queries.

use crate::email::EmailAddress;

/// The instances that a caller may see. The store filters by it in SQL (`owner_email = …`), so an instance of another
/// owner looks like an instance that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// All instances: for an admin, or for a loop of the service.
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
