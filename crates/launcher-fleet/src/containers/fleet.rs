//! The adapter of [`Fleet`] for a container engine.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use launcher_domain::SecretValues;
use launcher_workshop::Workshop;

use super::context::Context;
use super::names;
use super::workload::Workload;
use crate::machine::{Context as _, Gateway, Registry, finish};
use crate::port::{Archives, Deletion, Fleet, FleetError, FleetEvent, Images};

/// Runs Workshops as containers of one engine. Cheap to clone. A data directory has at most one open fleet.
///
/// The containers keep running while no launcher runs. The next [`ContainerFleet::open`] adopts them.
#[derive(Debug, Clone)]
pub struct ContainerFleet(pub(super) Arc<Registry<Workload>>);

impl ContainerFleet {
    /// Returns the gateway, which serves the workshops' origins.
    #[must_use]
    pub fn gateway(&self) -> Gateway {
        Gateway::new(self.0.clone())
    }

    /// Closes the fleet: stops the supervisors, and refuses further changes. The containers keep running. Streams of
    /// [`Fleet::watch`] end.
    pub async fn close(&self) {
        self.0.stop().await;
    }
}

#[async_trait]
impl Fleet for ContainerFleet {
    async fn apply_with_secrets(&self, workshop: &Workshop, secrets: &SecretValues) -> Result<Workshop, FleetError> {
        let registry = Arc::clone(&self.0);
        let (workshop, secrets) = (workshop.clone(), secrets.clone());
        finish(async move { registry.apply(workshop, secrets).await }).await
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let registry = Arc::clone(&self.0);
        let (name, uid) = (name.to_owned(), uid.map(str::to_owned));
        finish(async move { registry.delete(&name, uid.as_deref()).await }).await
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        Ok(self.0.cache.get(name))
    }

    async fn identity(&self) -> Result<String, FleetError> {
        Ok(self.0.context.data_dir().fleet_id.clone())
    }

    async fn delete_volume(&self, name: &str) -> Result<(), FleetError> {
        self.0.check_unused(name)?;
        let Context { engine, data_dir, .. } = &*self.0.context;
        let removed = engine.remove_volume(&names::volume(&data_dir.fleet_id, name), &data_dir.fleet_id).await;
        removed.map_err(|error| FleetError::Unavailable(error.to_string()))
    }

    fn archives(&self) -> Option<&dyn Archives> {
        Some(self)
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        self.0.cache.watch()
    }

    fn images(&self) -> Option<&dyn Images> {
        Some(self)
    }
}
