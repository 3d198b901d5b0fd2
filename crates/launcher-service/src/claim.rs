//! Binding of the rows to one fleet. With another fleet, all rows would look lost; with another database, all
//! Workshops would look orphaned. Both mismatches are detected before any Workshop is deleted.

use futures_util::StreamExt;
use launcher_fleet::{FleetError, FleetEvent};
use launcher_store::StoreError;

use crate::Launcher;

/// Error that shows that the rows and the fleet do not belong together.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// The rows belong to another fleet.
    #[error(
        "the database belongs to another fleet ({bound}, and this one is {found}): its workshops do not run here. Start \
         with the data directory or cluster that it was used with, or give this fleet a database of its own"
    )]
    AnotherFleet {
        /// The fleet that the rows belong to.
        bound: String,
        /// The fleet that was found.
        found: String,
    },
    /// The fleet has Workshops, and the database is new.
    #[error(
        "the database is new, and the fleet already has {workshops} workshops that it would have to end. Check \
         SERVICE_DATABASE_URL and SERVICE_DATA_DIR; to begin anew, give the service a new data directory or namespace as well"
    )]
    NewDatabase {
        /// Number of Workshops.
        workshops: usize,
    },
    /// The fleet cannot be reached.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The database cannot be reached.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Launcher {
    /// Binds the rows to the fleet, or fails if they belong to another. Call it before [`Launcher::run`].
    ///
    /// # Errors
    /// [`ClaimError`]; nothing was changed.
    pub async fn claim_fleet(&self) -> Result<(), ClaimError> {
        let found = self.0.fleet.identity().await?;
        if self.0.store.bound_fleet().await?.is_none() {
            if let Some(FleetEvent::Relisted(workshops)) = self.0.fleet.watch().next().await
                && !workshops.is_empty()
            {
                return Err(ClaimError::NewDatabase { workshops: workshops.len() });
            }
            tracing::info!(fleet = %found, "binding database to fleet");
        }
        let bound = self.0.store.bind_fleet(&found).await?;
        if bound == found { Ok(()) } else { Err(ClaimError::AnotherFleet { bound, found }) }
    }
}
