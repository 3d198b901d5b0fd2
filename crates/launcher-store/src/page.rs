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
    /// Running instances that have an older version of sidecar or settings.
    Outdated,
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
    /// Restricts the list to instances with this text in the owner's address, the template's name or `k8s_name`.
    /// Examines only the newest 20,000 instances that match the rest of the filter.
    pub search: Option<SearchText>,
}

/// Text that is searched as a part of longer texts. ASCII letters match in either case; every other character, also `%`
/// and `_`, matches only itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchText(String);

impl SearchText {
    /// Maximum length in characters.
    pub const MAX_CHARS: usize = 100;

    /// Trims a text. Returns `None` for an empty text. Omits characters after the maximum length.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text: String = text.trim().chars().take(Self::MAX_CHARS).collect();
        (!text.is_empty()).then_some(Self(text))
    }

    /// Returns the trimmed text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the LIKE pattern for texts in lower case, with `!` as its escape character.
    pub(crate) fn pattern(&self) -> String {
        // No row contains NUL, and PostgreSQL rejects it.
        let text = self.0.replace('\0', "\u{fffd}").to_ascii_lowercase();
        let escaped = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
        format!("%{escaped}%")
    }
}

/// Number of instances that match a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceCount {
    /// Matching instances among the newest that were examined.
    pub matches: u64,
    /// False if there are more instances than were examined: `matches` is then a lower bound.
    pub is_complete: bool,
    /// Maximum number of instances that a count examines.
    pub max_examined: u64,
}

/// Filter of the activity log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Restricts the list to actions by this person, and to events of this person's instances.
    pub person: Option<EmailAddress>,
    /// Restricts the list to the instance with this `k8s_name`, or the template with this identifier.
    pub subject: Option<String>,
}
