//! The person behind a request, and the list that makes some of them admins.

use std::collections::BTreeSet;

use crate::access::Scope;
use crate::email::{EmailAddress, EmailError};

/// The authenticated person behind a request.
///
/// Only [`AdminList::caller`] makes one, so whether somebody is an admin is decided in one place and anew at each
/// request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    email: EmailAddress,
    is_admin: bool,
}

impl Caller {
    /// Who it is.
    #[must_use]
    pub fn email(&self) -> &EmailAddress {
        &self.email
    }

    /// Whether the configuration lists this person as an admin.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.is_admin
    }

    /// Which instances this person may see: their own, or everybody's.
    #[must_use]
    pub fn scope(&self) -> Scope<'_> {
        if self.is_admin { Scope::Everyone } else { Scope::Owner(&self.email) }
    }
}

/// The e-mail addresses of the admins: configuration, not data.
#[derive(Debug, Clone, Default)]
pub struct AdminList(BTreeSet<EmailAddress>);

/// An entry of the admin list that is not an e-mail address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {position} ({entry:?}) is not an e-mail address: {source}")]
pub struct AdminListError {
    /// 1 for the first entry.
    pub position: usize,
    /// The entry as it was written.
    pub entry: String,
    /// The rule it breaks.
    pub source: EmailError,
}

impl AdminList {
    /// Reads a comma-separated list. Empty entries (a trailing comma, an empty setting) are passed over.
    ///
    /// # Errors
    /// The first entry that cannot be read: an admin who was mistyped must not silently be none.
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

    /// The caller with this address.
    #[must_use]
    pub fn caller(&self, email: EmailAddress) -> Caller {
        Caller { is_admin: self.0.contains(&email), email }
    }

    /// One of the admins, always the same.
    #[must_use]
    pub fn first(&self) -> Option<&EmailAddress> {
        self.0.first()
    }

    /// How many admins there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nobody is an admin.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
