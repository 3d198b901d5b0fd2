//! Instances within the scope of a caller. An instance outside the scope is treated as missing.

use launcher_domain::{Act, Activity, Caller, Instance, Scope};

use crate::error::StoreError;
use crate::filter::{push_filter, push_scope};
use crate::page::{InstanceFilter, Page};
use crate::rows::{self, ListedInstance, instance_columns, listed_columns};
use crate::search::{SearchRules, push_search};
use crate::sql::{Sql, query};
use crate::store::Store;

/// Changes a row if it still has the revision that was read (compare-and-swap). Omits columns that only the dispatch
/// loop or a resume writes (`applied_version`, `workshop_uid`), and columns that never change. Erases the secret parameters once the
/// end is decided.
pub(crate) const CHANGE: &str = concat!(
    "UPDATE workshop_instances SET state = $1, reason = $2, log_tail = $3, url = $4, dispatched_at = $5, \
     started_at = $6, expires_at = $7, ended_at = $8, end_reason = $9, spec_version = $10, revision = $11, \
     start_step = $12, start_progress = $13, frame_url = $14, outdated = $15, restarted_at = $16, \
     last_crash = $17, material = $18, suspended_at = $19, snapshot = $20, secrets = CASE WHEN $1 IN \
     ('queued', 'starting', 'running', 'suspending', 'suspended') THEN secrets END \
     WHERE instance_id = $21 AND revision = $22 RETURNING ",
    instance_columns!()
);

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
        let reason = after.reason.as_ref().map(rows::json).transpose()?;
        let last_crash = after.last_crash.as_ref().map(rows::json).transpose()?;
        let material = after.material.as_ref().map(rows::json).transpose()?;
        let snapshot = after.snapshot.as_ref().map(rows::json).transpose()?;
        let row = query(CHANGE)
            .bind(after.state.as_str())
            .bind(reason)
            .bind(after.log_tail.as_deref().map(rows::text))
            .bind(after.url.clone())
            .bind(rows::millis(after.dispatched_at))
            .bind(rows::millis(after.started_at))
            .bind(rows::millis(after.expires_at))
            .bind(rows::millis(after.ended_at))
            .bind(after.end_reason.map(|reason| reason.as_str()))
            .bind(after.spec_version)
            .bind(revision)
            .bind(after.start_step.map(|step| step.as_str()))
            .bind(after.start_progress.map(i64::from))
            .bind(after.frame_url.clone())
            .bind(i64::from(after.outdated))
            .bind(rows::millis(after.restarted_at))
            .bind(last_crash)
            .bind(material)
            .bind(rows::millis(after.suspended_at))
            .bind(snapshot)
            .bind(before.instance_id.to_string())
            .bind(before.revision)
            .fetch_optional(write.connection())
            .await?;
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
