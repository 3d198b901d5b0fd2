//! Instances within the scope of a caller. An instance outside the scope is treated as missing.

use std::sync::LazyLock;

use launcher_domain::{Act, Activity, Caller, Instance, Scope};

use crate::error::StoreError;
use crate::filter::{push_filter, push_scope};
use crate::page::{InstanceFilter, Page};
use crate::rows::{self, ListedInstance};
use crate::search::{SearchRules, push_search};
use crate::sql::{Sql, query};
use crate::store::Store;
use crate::table::Record;

/// Changes a row if it still has the revision that was read (compare-and-swap). Erases the secret parameters once the
/// end is decided.
pub(crate) static CHANGE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "UPDATE workshop_instances SET revision = $3, {}, secrets = CASE WHEN $4 IN \
         ('queued', 'starting', 'running', 'suspending', 'suspended') THEN secrets END \
         WHERE instance_id = $1 AND revision = $2 RETURNING {}",
        Instance::TABLE.set(5),
        instance_columns!()
    )
});

impl Store {
    /// Returns the instance with this name if the caller may see it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn instance(&self, caller: &Caller, k8s_name: &str) -> Result<Option<ListedInstance>, StoreError> {
        let row = by_name(caller.scope(), k8s_name).fetch_optional(&self.pool).await?;
        row.as_ref().map(rows::listed).transpose()
    }

    /// Returns a page of the instances that the caller may see, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn instances(
        &self,
        caller: &Caller,
        filter: &InstanceFilter,
        page: &Page,
    ) -> Result<Vec<ListedInstance>, StoreError> {
        let rows = list(caller.scope(), filter, page, self.search_rules()).fetch_all(&self.pool).await?;
        rows::all(&rows, rows::listed)
    }

    /// Replaces `before` by `after`, and writes an activity log entry for a change that is logged. Returns the stored
    /// row with its new revision. If the row has changed since `before` was read, it writes nothing and returns `None`:
    /// the caller must read the row again.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn change_instance(
        &self,
        before: &Instance,
        after: &Instance,
        act: &Act,
    ) -> Result<Option<Instance>, StoreError> {
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        let change = query(&CHANGE)
            .bind(before.instance_id.to_string())
            .bind(before.revision)
            .bind(revision)
            .bind(after.state.as_str());
        let row = after.bind_changed(change)?.fetch_optional(write.connection()).await?;
        let Some(row) = row else { return Ok(None) };
        let changed = rows::instance(&row)?;
        if let Some(activity) = Activity::of_change(before, &changed, act) {
            write.log_activity(revision, &activity).await?;
        }
        write.commit().await?;
        Ok(Some(changed))
    }
}

pub(crate) fn by_name(scope: Scope<'_>, k8s_name: &str) -> Sql {
    let mut sql = Sql::new(concat!("SELECT ", listed_columns!(), " FROM workshop_instances"));
    sql.condition_with("k8s_name = ", k8s_name.to_owned());
    push_scope(&mut sql, scope);
    sql
}

/// Builds the query of a list, newest first.
pub(crate) fn list(scope: Scope<'_>, filter: &InstanceFilter, page: &Page, rules: SearchRules) -> Sql {
    let mut sql = Sql::new(concat!("SELECT ", listed_columns!(), " FROM workshop_instances"));
    push_filter(&mut sql, scope, filter);
    push_search(&mut sql, scope, filter, rules);
    if let Some(after) = page.after {
        sql.condition_with("instance_id < ", after.to_string());
    }
    sql.push(" ORDER BY instance_id DESC LIMIT ");
    sql.bind(i64::from(page.limit));
    sql
}
