//! Use case: admins and teachers check course material before a template names it.

use launcher_domain::MaterialFinding;
use launcher_domain::template::MaterialSource;

use crate::error::ServiceError;
use crate::launcher::Launcher;
use crate::templates::Catalog;

/// Maximum checks at the same time: each needs memory and a part of the network.
pub(crate) const MAX_CHECKS: usize = 2;

impl Launcher {
    /// Returns true if the fleet can check course material.
    #[must_use]
    pub fn can_check_sources(&self) -> bool {
        self.0.fleets.main().source_checks().is_some()
    }

    /// Loads public sources without placing them, for managers of the catalog. Returns one finding for each. This call
    /// takes at most 30 seconds.
    ///
    /// # Errors
    /// Forbidden, FleetWithoutChecks, TooManyChecks, FleetUnavailable.
    pub async fn check_sources<'a>(
        &self,
        catalog: impl Into<Catalog<'a>>,
        sources: &[MaterialSource],
    ) -> Result<Vec<MaterialFinding>, ServiceError> {
        catalog.into().require_manager()?;
        let fleet = self.0.fleets.main().source_checks().ok_or(ServiceError::FleetWithoutChecks)?;
        let _slot = self.0.checks.try_acquire().map_err(|_| ServiceError::TooManyChecks)?;
        fleet.check(sources).await.map_err(ServiceError::FleetUnavailable)
    }
}
