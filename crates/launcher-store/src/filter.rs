//! Filters and pages of lists, and their conditions in queries. No index finds a part of a text, so a search examines
//! instances one by one. It examines only the newest instances that match the rest of the filter: otherwise its time
//! would grow with the history.

use launcher_domain::{EmailAddress, InstanceState, Scope};
use uuid::Uuid;

use crate::sql::Sql;
use crate::store::Store;

/// A page of a list, newest first. Most lists identify their rows by UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<Id = Uuid> {
    pub limit: u32,
    /// Cursor: identifier of the last row of the previous page; `None` for the first page. The row may have been
    /// deleted in the meantime.
    pub after: Option<Id>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StateFilter {
    /// All states except terminated. Includes failed instances that were not dismissed.
    #[default]
    Live,
    Ended,
    All,
    Only(InstanceState),
    /// Running instances that have an older version of sidecar or settings.
    Outdated,
}

/// Filter of instances, applied within the caller's scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceFilter {
    pub state: StateFilter,
    /// Restricts the list to this owner's instances.
    pub owner_email: Option<EmailAddress>,
    /// Restricts the list to this template's instances.
    pub template_id: Option<Uuid>,
    /// Restricts the list to instances with this text in the owner's address, the template's name or `k8s_name`.
    /// Examines only the newest 20,000 instances that match the rest of the filter.
    pub search: Option<SearchText>,
}

impl InstanceFilter {
    /// Returns the filter for this template's instances in these states.
    #[must_use]
    pub fn of_template(template_id: Uuid, state: StateFilter) -> Self {
        Self { state, template_id: Some(template_id), ..Self::default() }
    }
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

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Restricts the list to actions by this person, and to events of this person's instances.
    pub person: Option<EmailAddress>,
    /// Restricts the list to the instance with this `k8s_name`, or the template with this identifier.
    pub subject: Option<String>,
}

/// Adds the conditions of the scope and the filter, except for its search. Condition texts must match the index
/// predicates exactly: otherwise SQLite does not use a partial index.
pub(crate) fn push_filter(sql: &mut Sql, scope: Scope<'_>, filter: &InstanceFilter) {
    push_scope(sql, scope);
    if let Some(owner) = &filter.owner_email {
        push_scope(sql, Scope::Owner(owner));
    }
    if let Some(template_id) = filter.template_id {
        sql.condition_with("template_id = ", template_id.to_string());
    }
    match filter.state {
        StateFilter::All => {}
        StateFilter::Live => sql.condition("state <> 'terminated'"),
        StateFilter::Ended => sql.condition_with("state = ", InstanceState::Terminated.as_str()),
        StateFilter::Only(state) => sql.condition_with("state = ", state.as_str()),
        StateFilter::Outdated => {
            sql.condition_with("state = ", InstanceState::Running.as_str());
            sql.condition("outdated = 1");
        }
    }
}

/// Adds the conditions and the order of a page of files, newest first; with `owner`, only of this person. See [`push_page`].
pub(crate) fn push_page_of_owner(
    sql: &mut Sql,
    scope: Scope<'_>,
    owner: Option<&EmailAddress>,
    page: &Page,
    texts: [&'static str; 2],
) {
    push_scope(sql, scope);
    if let Some(owner) = owner {
        push_scope(sql, Scope::Owner(owner));
    }
    push_page(sql, page, texts);
}

/// Adds the condition for the rows after the cursor of a page, the order, and the limit.
pub(crate) fn push_page(sql: &mut Sql, page: &Page, [after_cursor, order]: [&'static str; 2]) {
    if let Some(after) = page.after {
        sql.condition_with(after_cursor, after.to_string());
    }
    sql.push_with(order, i64::from(page.limit));
}

/// Adds the condition of the scope.
pub(crate) fn push_scope(sql: &mut Sql, scope: Scope<'_>) {
    match scope {
        Scope::Everyone => {}
        Scope::Owner(email) => sql.condition_with("owner_email = ", email.as_str().to_owned()),
        Scope::Class { class_id, owner } => {
            let of_class = "template_id IN (SELECT template_id FROM workshop_templates WHERE class_id = ";
            sql.condition_with(of_class, class_id.to_string());
            sql.push(")");
            owner.into_iter().for_each(|owner| push_scope(sql, Scope::Owner(owner)));
        }
    }
}

/// Values that searches and counts need from the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchRules {
    /// The engine's expression for the name of the template in lower case.
    pub(crate) template_name: &'static str,
    /// Maximum number of instances that one query examines.
    pub(crate) max_examined: i64,
}

impl Store {
    pub(crate) fn search_rules(&self) -> SearchRules {
        SearchRules { template_name: self.engine.template_name, max_examined: self.max_examined }
    }
}

/// Adds the condition of the filter's search.
pub(crate) fn push_search(sql: &mut Sql, scope: Scope<'_>, filter: &InstanceFilter, rules: SearchRules) {
    if let Some(search) = &filter.search {
        sql.condition("");
        push_match(sql, scope, filter, search, rules);
    }
}

/// Appends the expression that is true for an instance that contains the text, and that is one of the newest. Both sides
/// of each LIKE are in lower case, because LIKE ignores case only on SQLite.
pub(crate) fn push_match(
    sql: &mut Sql,
    scope: Scope<'_>,
    filter: &InstanceFilter,
    search: &SearchText,
    rules: SearchRules,
) {
    let pattern = search.pattern();
    sql.push("instance_id >= ");
    push_oldest(sql, scope, filter, rules);
    sql.push_with(" AND (k8s_name LIKE ", pattern.clone());
    sql.push_with(" ESCAPE '!' OR owner_email LIKE ", pattern.clone());
    sql.push(" ESCAPE '!' OR ");
    sql.push(rules.template_name);
    sql.push_with(" LIKE ", pattern);
    sql.push(" ESCAPE '!')");
}

/// Appends the identifier of the oldest instance that a search examines; the empty text if it examines all. The
/// subquery does not depend on the examined row, so the database runs it once.
fn push_oldest(sql: &mut Sql, scope: Scope<'_>, filter: &InstanceFilter, rules: SearchRules) {
    sql.push("COALESCE(");
    sql.subquery("SELECT instance_id FROM workshop_instances", |sql| {
        push_filter(sql, scope, filter);
        sql.push_with(" ORDER BY instance_id DESC LIMIT 1 OFFSET ", rules.max_examined - 1);
    });
    sql.push(", '')");
}
