//! Authorization: the caller of a request, the admin list, the scope that the store adds to its queries, and the
//! decision whether a caller may perform an action.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::email::{EmailAddress, EmailError};

/// An operation that a caller can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// Read, extend or terminate an instance of `owner`.
    Instance { owner: &'a EmailAddress },
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
    /// Create a class.
    CreateClasses,
    /// See the instances of a template by state, extend all of them, and apply the template's maximum lifetime to them.
    ManageWorkshops,
    /// Extend an instance beyond its maximum lifetime.
    ExtendBeyondMaximum,
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
        Action::CreateClasses if caller.creates_classes => Verdict::Granted,
        _ if caller.is_admin() => Verdict::Granted,
        Action::Instance { owner } if caller.scope().includes(owner) => Verdict::Granted,
        Action::Instance { .. } => Verdict::Hidden,
        Action::ListAllInstances
        | Action::ListAllVolumes
        | Action::ListInactiveTemplates
        | Action::LaunchInactive
        | Action::ManageTemplates
        | Action::CreateClasses
        | Action::ManageWorkshops
        | Action::ExtendBeyondMaximum
        | Action::RestartInstances
        | Action::ReadActivities => Verdict::Forbidden,
    }
}

/// The authenticated person who sent a request.
///
/// Only [`AdminList::caller`] creates a `Caller`. Each request therefore checks the current admin list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    email: EmailAddress,
    is_admin: bool,
    creates_classes: bool,
}

impl Caller {
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
        let is_admin = self.0.contains(&email);
        Caller { is_admin, creates_classes: is_admin, email }
    }

    /// Returns one of the admins, always the same: the address that sorts first. `launcher doctor` uses it in its
    /// checks.
    #[must_use]
    pub fn first(&self) -> Option<&EmailAddress> {
        self.0.first()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The people who may create classes, in addition to the admins. They come from a setting.
#[derive(Debug, Clone, Default)]
pub struct ClassCreators {
    people: BTreeSet<EmailAddress>,
    /// Domains of addresses, in lower case.
    domains: BTreeSet<String>,
}

impl ClassCreators {
    /// Parses a comma-separated list of addresses and domains, as in `ada@example.org,@staff.example.org`. Empty entries are
    /// skipped.
    ///
    /// # Errors
    /// The first invalid entry.
    pub fn parse(list: &str) -> Result<Self, AdminListError> {
        let mut creators = Self::default();
        for (index, entry) in list.split(',').map(str::trim).enumerate().filter(|(_, entry)| !entry.is_empty()) {
            let wrong = |source| AdminListError { position: index + 1, entry: entry.to_owned(), source };
            match entry.strip_prefix('@') {
                // A domain is valid if an address with it is valid.
                Some(domain) => {
                    EmailAddress::parse(&format!("x@{domain}")).map_err(wrong)?;
                    creators.domains.insert(domain.to_ascii_lowercase());
                }
                None => drop(creators.people.insert(EmailAddress::parse(entry).map_err(wrong)?)),
            }
        }
        Ok(creators)
    }

    /// Returns the caller with the right to create classes, if this list contains the caller's address or its domain.
    #[must_use]
    pub fn grant(&self, caller: Caller) -> Caller {
        let domain = caller.email.as_str().rsplit_once('@').map_or("", |(_, domain)| domain);
        let is_listed = self.people.contains(&caller.email) || self.domains.contains(domain);
        Caller { creates_classes: caller.creates_classes || is_listed, ..caller }
    }
}

/// The instances that a caller may see. The store filters by it in SQL (`owner_email = …`), so an instance of another
/// owner looks like an instance that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// All instances: for an admin, or for a loop of the service.
    Everyone,
    /// Only the instances of this person.
    Owner(&'a EmailAddress),
    /// Only the instances of the templates of a class; with `owner`, only those of this person.
    Class { class_id: Uuid, owner: Option<&'a EmailAddress> },
}

impl<'a> From<&'a Caller> for Scope<'a> {
    fn from(caller: &'a Caller) -> Self {
        caller.scope()
    }
}

impl Scope<'_> {
    /// True when all instances of this owner are within the scope.
    #[must_use]
    pub fn includes(&self, owner: &EmailAddress) -> bool {
        match self {
            Self::Everyone => true,
            Self::Owner(email) => *email == owner,
            Self::Class { .. } => false,
        }
    }
}
