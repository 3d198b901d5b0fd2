//! The condition of a search in lists of instances.

use crate::page::InstanceFilter;
use crate::sql::Sql;

/// Adds the condition of the filter's search. `template_name` is the engine's expression for the name of the template in
/// lower case.
pub(crate) fn push_search(sql: &mut Sql, filter: &InstanceFilter, template_name: &'static str) {
    if let Some(search) = &filter.search {
        sql.condition("");
        push_match(sql, &search.pattern(), template_name);
    }
}

/// Appends the expression that is true for an instance that contains the text. Both sides of each LIKE are in lower
/// case, because LIKE ignores case only on SQLite.
pub(crate) fn push_match(sql: &mut Sql, pattern: &str, template_name: &'static str) {
    sql.push("(k8s_name LIKE ");
    sql.bind(pattern.to_owned());
    sql.push(" ESCAPE '!' OR owner_email LIKE ");
    sql.bind(pattern.to_owned());
    sql.push(" ESCAPE '!' OR ");
    sql.push(template_name);
    sql.push(" LIKE ");
    sql.bind(pattern.to_owned());
    sql.push(" ESCAPE '!')");
}
