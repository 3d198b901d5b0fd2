//! Archives of volumes, which the engine reads.

use async_trait::async_trait;
use launcher_domain::ArchiveToken;
use launcher_workshop::WorkshopSpec;

use super::context::Context;
use super::fleet::ContainerFleet;
use super::names;
use crate::byte_stream::ByteStream;
use crate::machine::validate_volume;
use crate::port::{Archives, FleetError, ReadError};

#[async_trait]
impl Archives for ContainerFleet {
    async fn read(&self, volume: &str) -> Result<ByteStream, ReadError> {
        validate_volume(volume)?;
        let Context { engine, data_dir, settings, .. } = &*self.0.context;
        let name = names::volume(&data_dir.fleet_id, volume);
        let read = engine.read_volume(&name, &data_dir.fleet_id, &settings.sidecar_image).await;
        read.map_err(|error| FleetError::Unavailable(error.to_string()).into())
    }

    fn can_read_app(&self, _: &WorkshopSpec) -> bool {
        false
    }

    async fn read_app(&self, workshop: &str, _: &ArchiveToken) -> Result<ByteStream, ReadError> {
        Err(FleetError::Refused(format!("{workshop}: files of apps cannot be read yet")).into())
    }
}
