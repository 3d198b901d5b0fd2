//! Use case: admins and teachers check course material before a template names it.

use launcher_domain::MaterialFinding;
use launcher_domain::template::MaterialSource;
use launcher_fleet::SourceChecks;

use crate::error::ServiceError;
use crate::launcher::Launcher;
use crate::templates::Catalog;

impl Launcher {
    /// Returns true if the fleet can check course material, and the settings permit checks.
    #[must_use]
    pub fn can_check_sources(&self) -> bool {
        self.source_checks().is_some()
    }

    fn source_checks(&self) -> Option<&dyn SourceChecks> {
        self.0.fleets.main().source_checks().filter(|_| self.0.limits.max_material_checks > 0)
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
        let fleet = self.source_checks().ok_or(ServiceError::FleetWithoutChecks)?;
        let _slot = self.0.checks.try_acquire().map_err(|_| ServiceError::TooManyChecks)?;
        fleet.check(sources).await.map_err(ServiceError::FleetUnavailable)
    }
}
