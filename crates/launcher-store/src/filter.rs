//! Conditions of scopes and filters in queries for instances.

use launcher_domain::{EmailAddress, InstanceState, Scope};

use crate::page::{InstanceFilter, Page, StateFilter};
use crate::sql::Sql;

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

/// Adds the conditions and the order of a page of files, newest first; with `owner`, only of this person. `texts` are the
/// condition for the rows after the cursor, and the order.
pub(crate) fn push_page_of_owner(
    sql: &mut Sql,
    scope: Scope<'_>,
    owner: Option<&EmailAddress>,
    page: &Page,
    [after_cursor, order]: [&'static str; 2],
) {
    push_scope(sql, scope);
    if let Some(owner) = owner {
        push_scope(sql, Scope::Owner(owner));
    }
    if let Some(after) = page.after {
        sql.condition_with(after_cursor, after.to_string());
    }
    sql.push(order);
    sql.bind(i64::from(page.limit));
}

/// Adds the condition of the scope.
pub(crate) fn push_scope(sql: &mut Sql, scope: Scope<'_>) {
    if let Scope::Owner(email) = scope {
        sql.condition_with("owner_email = ", email.as_str().to_owned());
    }
}
