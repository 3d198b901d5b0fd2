//! Binding of the rows to one fleet. If the launcher used another fleet, all rows would look lost. If it used another
//! database, all Workshops would look orphaned. Both mismatches are detected before any Workshop is deleted.

use futures_util::StreamExt;
use launcher_fleet::{FleetError, FleetEvent};
use launcher_store::StoreError;

use crate::launcher::Launcher;

/// Error: the rows are not bound to this fleet, or the binding could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    #[error(
        "the database belongs to another fleet ({bound}, and this one is {found}): its workshops do not run here. Start \
         with the data directory or cluster that it was used with, or give this fleet a database of its own"
    )]
    AnotherFleet {
        /// Identity of the fleet that the rows are bound to.
        bound: String,
        /// Identity of the fleet that the launcher is connected to.
        found: String,
    },
    #[error(
        "the database is new, and the fleet already has {workshops} workshops that it would have to end. Check \
         SERVICE_DATABASE_URL and SERVICE_DATA_DIR; to begin anew, give the service a new data directory or namespace as well"
    )]
    NewDatabase { workshops: usize },
    #[error(transparent)]
    Fleet(#[from] FleetError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Launcher {
    /// Binds the rows to the fleet, or fails if they belong to another. Call it before [`Launcher::run`].
    ///
    /// # Errors
    /// [`ClaimError`]. The binding is unchanged.
    pub async fn claim_fleet(&self) -> Result<(), ClaimError> {
        let found = self.0.fleets.main().identity().await?;
        let bound = match self.0.store.bound_fleet().await? {
            // A binding never changes, so a bound database needs no write.
            Some(bound) => bound,
            None => self.bind_fleet(&found).await?,
        };
        if bound == found { Ok(()) } else { Err(ClaimError::AnotherFleet { bound, found }) }
    }

    /// Binds unbound rows to the main fleet. No fleet may have Workshops. Returns the fleet that the rows are bound to.
    async fn bind_fleet(&self, found: &str) -> Result<String, ClaimError> {
        for (_, fleet) in self.0.fleets.all() {
            // A watch would wait for an unreachable fleet.
            fleet.identity().await?;
            if let Some(FleetEvent::Relisted(workshops)) = fleet.watch().next().await
                && !workshops.is_empty()
            {
                return Err(ClaimError::NewDatabase { workshops: workshops.len() });
            }
        }
        tracing::info!(fleet = %found, "binding database to fleet");
        Ok(self.0.store.bind_fleet(found).await?)
    }
}
