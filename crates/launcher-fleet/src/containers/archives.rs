//! Archives of volumes and of apps, which the engine reads.

use async_trait::async_trait;
use launcher_domain::ArchiveToken;
use launcher_workshop::WorkshopSpec;
use tokio::time::timeout;

use super::context::Context;
use super::engine::EngineError;
use super::fleet::ContainerFleet;
use super::names::{self, Part};
use crate::byte_stream::ByteStream;
use crate::machine::validate_volume;
use crate::port::{Archives, FleetError, MAX_READ_WAIT, ReadError};

#[async_trait]
impl Archives for ContainerFleet {
    async fn read(&self, volume: &str) -> Result<ByteStream, ReadError> {
        validate_volume(volume)?;
        let Context { engine, data_dir, settings, .. } = &*self.0.context;
        let name = names::volume(&data_dir.fleet_id, volume);
        let read = engine.read_volume(&name, &data_dir.fleet_id, &settings.sidecar_image).await;
        read.map_err(|error| FleetError::Unavailable(error.to_string()).into())
    }

    fn can_read_app(&self, spec: &WorkshopSpec) -> bool {
        spec.storage.is_none()
    }

    /// Reads the container of the app. No other program is involved, so no token is needed.
    async fn read_app(&self, workshop: &str, _: &ArchiveToken) -> Result<ByteStream, ReadError> {
        let workload = self.0.readable(workshop)?;
        let snapshot = workload.stored_record().workshop().spec.snapshot;
        let directory = snapshot.and_then(|snapshot| snapshot.directory);
        let (engine, container) = (&self.0.context.engine, workload.container(Part::App));
        let archive = timeout(MAX_READ_WAIT, engine.read_directory(&container, directory.as_deref())).await;
        let archive =
            archive.map_err(|_| FleetError::Unavailable("the container engine does not answer".to_owned()))?;
        archive.map_err(|error| to_fleet_error(&error).into())
    }
}

fn to_fleet_error(error: &EngineError) -> FleetError {
    match error {
        EngineError::BadParameter(problem) => FleetError::Refused(problem.clone()),
        EngineError::NotFound(_) => FleetError::Refused(error.to_string()),
        _ => FleetError::Unavailable(error.to_string()),
    }
}
