//! The port [`Fleet`] of a fleet on the launcher's machine.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use launcher_domain::SecretValues;
use launcher_workshop::Workshop;

use super::backend::Backend;
use super::registry::{Registry, finish};
use crate::port::{Archives, Deletion, Fleet, FleetError, FleetEvent, Images, SourceChecks};

/// A fleet on the launcher's machine. It implements what its registry cannot do.
pub(crate) trait MachineFleet: Archives + 'static {
    type Backend: Backend;

    fn registry(&self) -> &Arc<Registry<Self::Backend>>;

    /// Removes a volume that no workload uses.
    fn remove_volume(&self, name: &str) -> impl Future<Output = Result<(), FleetError>> + Send;

    /// Returns the images on this machine; `None` if the fleet runs no images.
    fn images(&self) -> Option<&dyn Images> {
        None
    }
}

#[async_trait]
impl<F: MachineFleet> Fleet for F {
    async fn apply_with_secrets(&self, workshop: &Workshop, secrets: &SecretValues) -> Result<Workshop, FleetError> {
        let (registry, workshop, secrets) = (Arc::clone(self.registry()), workshop.clone(), secrets.clone());
        finish(async move { registry.apply(workshop, secrets).await }).await
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let (registry, name, uid) = (Arc::clone(self.registry()), name.to_owned(), uid.map(str::to_owned));
        finish(async move { registry.delete(&name, uid.as_deref()).await }).await
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        Ok(self.registry().cache.get(name))
    }

    async fn identity(&self) -> Result<String, FleetError> {
        Ok(self.registry().shared.data_dir.fleet_id.clone())
    }

    async fn delete_volume(&self, name: &str) -> Result<(), FleetError> {
        self.registry().check_unused(name)?;
        self.remove_volume(name).await
    }

    fn archives(&self) -> Option<&dyn Archives> {
        Some(self)
    }

    fn source_checks(&self) -> Option<&dyn SourceChecks> {
        self.registry().shared.source_checks.as_ref().map(|checker| checker as &dyn SourceChecks)
    }

    fn images(&self) -> Option<&dyn Images> {
        MachineFleet::images(self)
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        self.registry().cache.watch()
    }
}
