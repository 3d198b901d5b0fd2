//! Queries of the observe loop, which copies the status of Workshops into their rows, and of upkeep. They act for the
//! service and see all owners' rows.

use jiff::Timestamp;
use launcher_domain::names::earliest_uuid;
use launcher_domain::{Instance, InstanceState};
use sqlx::Row;

use crate::error::StoreError;
use crate::launch::BY_NAME;
use crate::rows;
use crate::sql::query;
use crate::store::Store;

/// Instances that may have a Workshop. A failed instance is included until the fleet has accepted its deletion.
pub(crate) const WITH_WORKSHOP: &str = instances!(
    " WHERE state IN ('starting', 'running', 'suspending', 'terminating', 'failed') \
     AND (state <> 'failed' OR applied_version < spec_version)"
);
/// Returns a row if any instance ended before a time, so that [`PURGE`] has rows to delete.
pub(crate) const OLD: &str = "SELECT 1 FROM workshop_instances WHERE state = 'terminated' AND ended_at < $1 LIMIT 1";
/// Deletes one batch of instances that ended before a time. Batches are small, so that a launch does not wait long for
/// the write lock.
pub(crate) const PURGE: &str = "DELETE FROM workshop_instances WHERE instance_id IN \
     (SELECT instance_id FROM workshop_instances WHERE state = 'terminated' AND ended_at < $1 ORDER BY ended_at LIMIT 500)";
/// Returns a row if any instance was terminated in the queue before a time.
pub(crate) const OLD_WITHDRAWN: &str = "SELECT 1 FROM workshop_instances \
     WHERE state = 'terminated' AND dispatched_at IS NULL AND ended_at < $1 LIMIT 1";
/// Deletes one batch of instances that were terminated in the queue before a time.
pub(crate) const PURGE_WITHDRAWN: &str = "DELETE FROM workshop_instances WHERE instance_id IN \
     (SELECT instance_id FROM workshop_instances \
     WHERE state = 'terminated' AND dispatched_at IS NULL AND ended_at < $1 ORDER BY ended_at LIMIT 500)";
/// Instances that failed before a time. The time of the failure is not stored. The query uses the expiry instead, or
/// the time of dispatch if the instance was never ready. The launch precedes both, so `instance_id` bounds the scan.
pub(crate) const OLD_FAILURES: &str = instances!(
    " WHERE state = 'failed' AND instance_id < $1 \
     AND COALESCE(expires_at, dispatched_at, created_at) < $2 ORDER BY instance_id LIMIT 500"
);
/// Suspended instances whose volume was last used before a time. The uses of a volume end with the suspension.
pub(crate) const FORGOTTEN: &str = instances!(
    " WHERE state = 'suspended' AND EXISTS (SELECT 1 FROM volumes AS forgotten \
     WHERE forgotten.name = workshop_instances.volume \
     AND forgotten.last_used_at < $1 AND forgotten.kept_until < $2) LIMIT 500"
);
/// Returns a row if any owner's token bucket is full. The `launch_gate` rows of these owners can be deleted, because a
/// missing row also means a full bucket.
pub(crate) const FULL: &str = "SELECT 1 FROM launch_gate WHERE full_at <= $1 LIMIT 1";
pub(crate) const PURGE_GATES: &str = "DELETE FROM launch_gate WHERE full_at <= $1";
pub(crate) const STATES: &str = "SELECT state, count(*) AS held FROM workshop_instances GROUP BY state";

impl Store {
    /// Returns the instance with this name, regardless of its owner.
    pub async fn observe_instance(&self, k8s_name: &str) -> Result<Option<Instance>, StoreError> {
        query(BY_NAME).bind(k8s_name.to_owned()).read_optional(&self.pool).await
    }

    /// Returns the instances that may have a Workshop: starting, running, suspending, terminating, and failed ones whose deletion
    /// has not been applied to the fleet.
    pub async fn observe_with_workshop(&self) -> Result<Vec<Instance>, StoreError> {
        query(WITH_WORKSHOP).read_readable(&self.pool).await
    }

    /// Returns at most 500 undismissed failed instances whose expiry is before this time, in launch order. For an
    /// instance that was never ready, its dispatch must be before this time. Skips unreadable rows.
    pub async fn observe_old_failures(&self, before: Timestamp) -> Result<Vec<Instance>, StoreError> {
        let launched_before = earliest_uuid(before).to_string();
        query(OLD_FAILURES).bind(launched_before).bind(before.as_millisecond()).read_readable(&self.pool).await
    }

    /// Returns at most 500 suspended instances whose volume was last used before this time, and whose announced
    /// deletion time has passed at `now`. Skips unreadable rows.
    pub async fn observe_forgotten(&self, before: Timestamp, now: Timestamp) -> Result<Vec<Instance>, StoreError> {
        query(FORGOTTEN).bind(before.as_millisecond()).bind(now.as_millisecond()).read_readable(&self.pool).await
    }

    /// Removes the terminated instances that ended before this time, with their idempotency keys. Returns how many.
    ///
    /// # Errors
    /// [`StoreError`]; earlier batches stay removed.
    pub async fn purge_ended(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.purge_batches(OLD, PURGE, before).await
    }

    /// Removes the instances that never left the queue and ended before this time, with their idempotency keys. Returns
    /// how many.
    ///
    /// # Errors
    /// [`StoreError`]; earlier batches stay removed.
    pub async fn purge_withdrawn(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.purge_batches(OLD_WITHDRAWN, PURGE_WITHDRAWN, before).await
    }

    /// Removes the `launch_gate` rows of owners whose token bucket was full at this time. Returns how many.
    pub async fn purge_gates(&self, at: Timestamp) -> Result<u64, StoreError> {
        if query(FULL).bind(at.as_millisecond()).fetch_optional(&self.pool).await?.is_none() {
            return Ok(0);
        }
        self.execute(query(PURGE_GATES).bind(at.as_millisecond())).await
    }

    /// Removes old rows in batches, and returns their number. `old` returns a row while there are any.
    pub(crate) async fn purge_batches(
        &self,
        old: &'static str,
        purge: &'static str,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut removed = 0;
        // Check with a read first, because a read does not block writers. Usually no row is old enough to be deleted.
        while query(old).bind(before.as_millisecond()).fetch_optional(&self.pool).await?.is_some() {
            let mut write = self.write().await?;
            // Two purges at the same time could lock the same rows in another order, and PostgreSQL would end one of them.
            write.take_revisions(0).await?;
            removed += query(purge).bind(before.as_millisecond()).execute(write.connection()).await?.rows_affected();
            write.commit().await?;
        }
        Ok(removed)
    }

    /// Counts the instances by state, in lifecycle order. Includes states without instances.
    pub async fn count_states(&self) -> Result<Vec<(InstanceState, u64)>, StoreError> {
        let rows = query(STATES).fetch_all(&self.pool).await?;
        let mut counts: Vec<_> = InstanceState::ALL.into_iter().map(|state| (state, 0)).collect();
        for row in &rows {
            let state: String = row.try_get("state")?;
            if let Some((_, count)) = counts.iter_mut().find(|(known, _)| known.as_str() == state) {
                *count = rows::count(row, "held")?;
            }
        }
        Ok(counts)
    }
}
