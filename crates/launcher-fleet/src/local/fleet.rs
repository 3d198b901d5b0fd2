//! The adapter of [`Fleet`] for one machine.

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use launcher_domain::SecretValues;
use launcher_workshop::Workshop;
use tokio::task::spawn_blocking;

use super::workload::Workload;
use crate::machine::{Context as _, Gateway, Registry, finish, remove_directory};
use crate::port::{Archives, Deletion, Fleet, FleetError, FleetEvent};

/// Runs Workshops as processes on this machine. Cheap to clone. A data directory has at most one open fleet.
///
/// When the last clone is dropped, the apps keep running, and the next [`LocalFleet::open`] adopts them. To terminate
/// the apps before the program exits, call [`LocalFleet::stop`].
#[derive(Debug, Clone)]
pub struct LocalFleet(pub(super) Arc<Registry<Workload>>);

impl LocalFleet {
    /// Returns the gateway, which serves the workshops' origins.
    #[must_use]
    pub fn gateway(&self) -> Gateway {
        Gateway::new(self.0.clone())
    }

    /// Stops the fleet: terminates the processes of all Workshops concurrently. The Workshops stay stored, and the next
    /// [`LocalFleet::open`] restarts them in the same directories. Streams of [`Fleet::watch`] end, and the fleet
    /// refuses further changes. Returns after the slowest process has exited: at most a little after `stop_grace`.
    pub async fn stop(&self) {
        self.0.stop().await;
    }
}

#[async_trait]
impl Fleet for LocalFleet {
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
        let path = self.0.context.data_dir().layout.volume(name);
        let removal = spawn_blocking(move || remove_directory(&path)).await;
        let removed = removal.unwrap_or_else(|error| Err(io::Error::other(error)));
        removed
            .map_err(|error| FleetError::Unavailable(format!("the directory of the volume cannot be removed: {error}")))
    }

    fn archives(&self) -> Option<&dyn Archives> {
        Some(self)
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        self.0.cache.watch()
    }
}
