//! How a write begins: in its turn, with the lock taken at once, and with revisions that commit in their order.

use sqlx::{Any, AnyConnection, Row, Transaction};
use tokio::sync::OwnedSemaphorePermit;

use crate::Store;
use crate::driver::PATIENCE;
use crate::error::StoreError;
use crate::sql::{in_time, query};

/// The counter's row stays locked until the transaction ends, so revisions become visible in their order: a reader that
/// has seen revision n has seen everything before it.
pub(crate) const TAKE_REVISIONS: &str =
    "UPDATE change_counter SET revision = revision + $1 WHERE counter_id = 1 RETURNING revision";

/// A transaction that writes. Dropped without [`Write::commit`], nothing of it happened.
pub(crate) struct Write {
    // Declared first, so that it is rolled back before the next writer's turn.
    transaction: Transaction<'static, Any>,
    _turn: OwnedSemaphorePermit,
}

impl Store {
    /// Waits for its turn and begins.
    pub(crate) async fn write(&self) -> Result<Write, StoreError> {
        let unavailable = |error: Box<dyn std::error::Error + Send + Sync>| StoreError::Unavailable(error);
        let turn = tokio::time::timeout(PATIENCE, self.writers.clone().acquire_owned())
            .await
            .map_err(|elapsed| unavailable(elapsed.into()))?
            .map_err(|closed| unavailable(closed.into()))?;
        let transaction = in_time(self.pool.begin_with(self.engine.begin_write)).await?;
        Ok(Write { transaction, _turn: turn })
    }
}

impl Write {
    /// What statements run on.
    pub(crate) fn on(&mut self) -> &mut AnyConnection {
        &mut self.transaction
    }

    /// Takes the next `count` revisions, and returns the last of them. With 0 it only waits until no other change is
    /// under way, and returns the latest revision.
    pub(crate) async fn take_revisions(&mut self, count: i64) -> Result<i64, StoreError> {
        let row = query(TAKE_REVISIONS).bind(count).fetch_one(self.on()).await?;
        Ok(row.try_get(0)?)
    }

    /// Makes it last.
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        in_time(self.transaction.commit()).await
    }
}
