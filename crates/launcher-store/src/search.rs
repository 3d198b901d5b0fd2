//! The search in lists and counts of instances.
//!
//! No index finds a part of a text, so a search examines instances one by one. It examines only the newest instances
//! that match the rest of the filter: otherwise its time would grow with the history.

use launcher_domain::Scope;

use crate::filter::push_filter;
use crate::page::{InstanceFilter, SearchText};
use crate::sql::Sql;
use crate::store::Store;

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
    sql.push(" AND (k8s_name LIKE ");
    sql.bind(pattern.clone());
    sql.push(" ESCAPE '!' OR owner_email LIKE ");
    sql.bind(pattern.clone());
    sql.push(" ESCAPE '!' OR ");
    sql.push(rules.template_name);
    sql.push(" LIKE ");
    sql.bind(pattern);
    sql.push(" ESCAPE '!')");
}

/// Appends the identifier of the oldest instance that a search examines; the empty text if it examines all. The
/// subquery does not depend on the examined row, so the database runs it once.
fn push_oldest(sql: &mut Sql, scope: Scope<'_>, filter: &InstanceFilter, rules: SearchRules) {
    sql.push("COALESCE(");
    sql.subquery("SELECT instance_id FROM workshop_instances", |sql| {
        push_filter(sql, scope, filter);
        sql.push(" ORDER BY instance_id DESC LIMIT 1 OFFSET ");
        sql.bind(rules.max_examined - 1);
    });
    sql.push(", '')");
}
