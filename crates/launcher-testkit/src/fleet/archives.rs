//! Archives of the in-memory fleet's volumes: one file each.

use async_trait::async_trait;
use launcher_fleet::{Archives, ByteStream, FleetError, written_by};
use tar::{Builder, Header};

use super::FakeFleet;

impl FakeFleet {
    /// Makes the fleet unable to read volumes, as on Kubernetes.
    pub fn remove_archives(&self) {
        self.lock().lacks_archives = true;
    }
}

#[async_trait]
impl Archives for FakeFleet {
    /// The archive has the file `notes/<volume>.txt` with the text `saved`.
    async fn read(&self, volume: &str) -> Result<ByteStream, FleetError> {
        let name = format!("notes/{volume}.txt");
        Ok(written_by(move |out| {
            let mut header = Header::new_gnu();
            header.set_size(5);
            header.set_mode(0o644);
            let mut tar = Builder::new(out);
            tar.append_data(&mut header, name, &b"saved"[..])?;
            tar.finish()
        }))
    }
}
