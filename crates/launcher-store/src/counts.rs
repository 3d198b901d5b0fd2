//! Numbers of instances: of a list, and of one template by state.

use launcher_domain::{Caller, InstanceState, Scope};
use sqlx::Row;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::error::StoreError;
use crate::filter::{push_filter, push_scope};
use crate::page::{InstanceCount, InstanceFilter};
use crate::search::{SearchRules, push_match};
use crate::sql::Sql;
use crate::store::Store;

impl Store {
    /// Counts the instances that the caller may see and that match the filter. Examines only the newest 20,000 that
    /// match the filter without its search.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn count_instances(&self, caller: &Caller, filter: &InstanceFilter) -> Result<InstanceCount, StoreError> {
        let rules = self.search_rules();
        let row = count(caller.scope(), filter, rules).fetch_optional(&self.pool).await?;
        let max_examined = u64::try_from(rules.max_examined).unwrap_or(0);
        let Some(row) = row else { return Ok(InstanceCount { matches: 0, is_complete: true, max_examined }) };
        let (matches, examined): (i64, i64) = (row.try_get("matches")?, row.try_get("examined")?);
        let is_complete = examined <= rules.max_examined;
        Ok(InstanceCount { matches: u64::try_from(matches).unwrap_or(0), is_complete, max_examined })
    }

    /// Counts the instances of a template that have not ended and that the caller may see, by state. Omits states
    /// without instances.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn count_template_states(
        &self,
        caller: &Caller,
        template_id: Uuid,
    ) -> Result<Vec<(InstanceState, u64)>, StoreError> {
        let rows = states(caller.scope(), template_id).fetch_all(&self.pool).await?;
        let unreadable = || StoreError::Corrupt { table: "workshop_instances", row: Uuid::nil(), column: "state" };
        let read = |row: &AnyRow| {
            let state = InstanceState::parse(row.try_get("state")?).ok_or_else(unreadable)?;
            let instances: i64 = row.try_get("instances")?;
            Ok((state, u64::try_from(instances).unwrap_or(0)))
        };
        rows.iter().map(read).collect()
    }
}

/// Builds the query of [`Store::count_template_states`]. It lists each state: if it only excluded `terminated`, SQLite would scan
/// all rows.
pub(crate) fn states(scope: Scope<'_>, template_id: Uuid) -> Sql {
    let mut sql = Sql::new("SELECT state, count(*) AS instances FROM workshop_instances");
    sql.condition_with("template_id = ", template_id.to_string());
    sql.condition("state IN ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating', 'failed')");
    push_scope(&mut sql, scope);
    sql.push(" GROUP BY state");
    sql
}

/// Builds the query of [`Store::count_instances`]. It reads one instance more than the maximum, to learn if there are
/// more. A search does not examine this instance.
pub(crate) fn count(scope: Scope<'_>, filter: &InstanceFilter, rules: SearchRules) -> Sql {
    let mut sql =
        Sql::new("SELECT count(CASE WHEN found = 1 THEN 1 END) AS matches, count(*) AS examined FROM (SELECT ");
    match &filter.search {
        None => sql.push("1"),
        Some(search) => {
            sql.push("CASE WHEN ");
            push_match(&mut sql, scope, filter, search, rules);
            sql.push(" THEN 1 ELSE 0 END");
        }
    }
    sql.push(" AS found FROM workshop_instances");
    push_filter(&mut sql, scope, filter);
    sql.push(" ORDER BY instance_id DESC LIMIT ");
    sql.bind(rules.max_examined + 1);
    sql.push(") AS newest");
    sql
}
