//! Archives of volumes and of apps: tar archives of directories, also while an app changes the files.

use async_trait::async_trait;
use launcher_domain::ArchiveToken;
use launcher_sidecar::archive::write_archive;
use launcher_workshop::WorkshopSpec;

use super::fleet::LocalFleet;
use crate::byte_stream::{ByteStream, written_by};
use crate::machine::{Context as _, Supervised as _, validate_volume};
use crate::port::{Archives, ReadError};

#[async_trait]
impl Archives for LocalFleet {
    async fn read(&self, volume: &str) -> Result<ByteStream, ReadError> {
        validate_volume(volume)?;
        let root = self.0.context.data_dir().layout.volume(volume);
        Ok(written_by(move |out| write_archive(&root, out)))
    }

    fn can_read_app(&self, spec: &WorkshopSpec) -> bool {
        spec.storage.is_none()
    }

    /// Reads the working directory of the app. No other program is involved, so no token is needed.
    async fn read_app(&self, workshop: &str, _: &ArchiveToken) -> Result<ByteStream, ReadError> {
        let workload = self.0.readable(workshop)?;
        let root = self.0.context.data_dir().layout.working(workload.name());
        Ok(written_by(move |out| write_archive(&root, out)))
    }
}
