//! Queries of the dispatch loop, which applies Workshops to the fleet. It acts for the service and sees all owners'
//! rows.

use jiff::Timestamp;
use launcher_domain::{Instance, SecretValues};
use sqlx::Row;
use uuid::Uuid;

use crate::error::StoreError;
use crate::launch::{QUEUED, count};
use crate::rows;
use crate::sql::query;
use crate::store::Store;
use crate::table::FromRow;

/// Instances that wait for the quota of their namespace do not start: others may start meanwhile.
pub(crate) const STARTING: &str = "SELECT count(*) FROM workshop_instances \
     WHERE state = 'starting' AND coalesce(start_step, '') <> 'waiting-for-quota'";
/// Condition of queued instances, except those of namespaces whose quota is full.
macro_rules! startable {
    () => {
        "state = 'queued' AND coalesce(namespace, '') NOT IN (SELECT waiting.namespace FROM workshop_instances AS waiting \
         WHERE waiting.state = 'starting' AND waiting.start_step = 'waiting-for-quota' AND waiting.namespace IS NOT NULL)"
    };
}
pub(crate) use startable;

pub(crate) const NEXT: &str =
    concat!("SELECT instance_id FROM workshop_instances WHERE ", startable!(), " ORDER BY queue_number LIMIT $1");
pub(crate) const PROMOTE: &str = concat!(
    "UPDATE workshop_instances SET state = 'starting', dispatched_at = $1, spec_version = spec_version + 1, \
     revision = $2 WHERE instance_id = $3 AND state = 'queued' RETURNING ",
    instances!(columns)
);
pub(crate) const PENDING: &str =
    instances!(" WHERE applied_version < spec_version AND revision > $1 ORDER BY revision LIMIT $2");
pub(crate) const REAPPLY: &str = "UPDATE workshop_instances \
     SET applied_version = spec_version - 1 WHERE instance_id = $1 AND applied_version = spec_version";
pub(crate) const APPLIED: &str = "UPDATE workshop_instances \
     SET applied_version = $1, workshop_uid = COALESCE(workshop_uid, $2) WHERE instance_id = $3 AND applied_version <= $1";

pub(crate) const SECRETS: &str =
    "SELECT secrets FROM workshop_instances WHERE instance_id = $1 AND secrets IS NOT NULL";

/// One batch of instances whose Workshop must be applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// Ordered by the last change, oldest first.
    pub instances: Vec<Instance>,
    /// Cursor of the next batch; `None` after the last one.
    pub next: Option<i64>,
}

impl Store {
    /// Moves the oldest queued instances to starting until `max_starting` are starting, and returns them. Holds the instances
    /// of a namespace while one of them waits for its quota. The limit holds across concurrent replicas, and no instance is
    /// moved twice.
    pub async fn dispatch_promote_queued(
        &self,
        max_starting: u32,
        now: Timestamp,
    ) -> Result<Vec<Instance>, StoreError> {
        // Check with reads first, because they need no write lock. Usually the queue is empty or the start limit is
        // reached. The counts are repeated below under the lock.
        if count(&self.pool, QUEUED).await? == 0 || count(&self.pool, STARTING).await? >= max_starting {
            return Ok(Vec::new());
        }
        let mut write = self.write().await?;
        write.take_revisions(0).await?;
        let room = max_starting.saturating_sub(count(write.connection(), STARTING).await?);
        let next = query(NEXT).bind(i64::from(room)).fetch_all(write.connection()).await?;
        if next.is_empty() {
            return Ok(Vec::new());
        }
        let taken = i64::try_from(next.len()).unwrap_or(i64::MAX);
        let last = write.take_revisions(taken).await?;
        let mut promoted = Vec::with_capacity(next.len());
        for (row, revision) in next.iter().zip(last - taken + 1..) {
            let instance_id: String = row.try_get("instance_id")?;
            let row = query(PROMOTE)
                .bind(now.as_millisecond())
                .bind(revision)
                .bind(instance_id)
                .fetch_one(write.connection())
                .await?;
            promoted.extend(rows::reported(Instance::read(&row)));
        }
        write.commit().await?;
        Ok(promoted)
    }

    /// Returns at most `limit` instances with `applied_version < spec_version`, whose revision is greater than `after`
    /// (0 for the first batch). Skips unreadable rows.
    pub async fn dispatch_pending(&self, after: i64, limit: u32) -> Result<Pending, StoreError> {
        let rows = query(PENDING).bind(after).bind(i64::from(limit)).fetch_all(&self.pool).await?;
        let last = rows.last().filter(|_| rows.len() >= limit as usize);
        let next = last.map(|row| row.try_get("revision")).transpose()?;
        let instances = rows.iter().filter_map(|row| rows::reported(Instance::read(row))).collect();
        Ok(Pending { instances, next })
    }

    /// Returns the secret parameters of the instance; empty if it has none, or once its end is decided.
    pub async fn dispatch_secrets(&self, instance_id: Uuid) -> Result<SecretValues, StoreError> {
        let row = query(SECRETS).bind(instance_id.to_string()).fetch_optional(&self.pool).await?;
        let Some(row) = row else { return Ok(SecretValues::default()) };
        let corrupt = |_| StoreError::Corrupt { table: "workshop_instances", row: instance_id, column: "secrets" };
        serde_json::from_str(&row.try_get::<String, _>("secrets")?).map_err(corrupt)
    }

    /// Marks the instance for another apply, because its Workshop differs from its spec.
    pub async fn dispatch_reapply(&self, instance_id: Uuid) -> Result<(), StoreError> {
        self.execute(query(REAPPLY).bind(instance_id.to_string())).await.map(drop)
    }

    /// Records that `version` of the instance was applied, unless a newer version is recorded. Records the Workshop's
    /// UID unless one is recorded: a Workshop with another UID was created by a late call and does not belong to the
    /// instance. Takes no revision, because no visible field changes.
    pub async fn dispatch_applied(
        &self,
        instance_id: Uuid,
        version: i64,
        workshop_uid: Option<&str>,
    ) -> Result<(), StoreError> {
        let applied = query(APPLIED).bind(version).bind(workshop_uid.map(str::to_owned)).bind(instance_id.to_string());
        self.execute(applied).await.map(drop)
    }
}
