//! The caller of a request, and the admin list.

use std::collections::BTreeSet;

use crate::email::{EmailAddress, EmailError};
use crate::scope::Scope;

/// The authenticated person who sent a request.
///
/// Only [`AdminList::caller`] creates a `Caller`. Each request therefore checks the current admin list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    email: EmailAddress,
    is_admin: bool,
}

impl Caller {
    /// E-mail address of the caller.
    #[must_use]
    pub fn email(&self) -> &EmailAddress {
        &self.email
    }

    /// True when the configuration lists this person as an admin.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.is_admin
    }

    /// Instances that the caller may see: all instances for an admin, else the caller's own.
    #[must_use]
    pub fn scope(&self) -> Scope<'_> {
        if self.is_admin { Scope::Everyone } else { Scope::Owner(&self.email) }
    }
}

/// The admins' e-mail addresses. They come from a setting, not from the database.
#[derive(Debug, Clone, Default)]
pub struct AdminList(BTreeSet<EmailAddress>);

/// An entry of the admin list that is not an e-mail address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {position} ({entry:?}) is not an e-mail address: {source}")]
pub struct AdminListError {
    /// Position in the list, starting at 1.
    pub position: usize,
    /// The entry as written.
    pub entry: String,
    /// The rule that the entry breaks.
    pub source: EmailError,
}

impl AdminList {
    /// Parses a comma-separated list. Empty entries (a trailing comma, an empty setting) are skipped.
    ///
    /// # Errors
    /// The first invalid entry. The parser does not skip it, because a mistyped admin would silently have no rights.
    pub fn parse(list: &str) -> Result<Self, AdminListError> {
        list.split(',')
            .enumerate()
            .filter(|(_, entry)| !entry.trim().is_empty())
            .map(|(index, entry)| {
                EmailAddress::parse(entry).map_err(|source| AdminListError {
                    position: index + 1,
                    entry: entry.trim().to_owned(),
                    source,
                })
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Creates the caller with this address, and marks the caller as an admin if the list contains the address.
    #[must_use]
    pub fn caller(&self, email: EmailAddress) -> Caller {
        Caller { is_admin: self.0.contains(&email), email }
    }

    /// Returns one of the admins, always the same: the address that sorts first. `launcher doctor` uses it in its
    /// checks.
    #[must_use]
    pub fn first(&self) -> Option<&EmailAddress> {
        self.0.first()
    }

    /// Number of admins.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
