//! WorkshopDownload resources. The operator turns each into a pod that reads a volume.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::{Api, ResourceExt};
use launcher_domain::clock::SystemEntropy;
use launcher_domain::{ArchiveToken, Entropy};
use launcher_workshop::{WorkshopDownload, WorkshopDownloadSpec};
use sha2::{Digest, Sha256};
use tokio::time::{sleep, timeout};

use super::error::{status_code, to_fleet_error};
use super::fleet::KubernetesFleet;
use crate::port::{FleetError, ReadError};

/// Maximum time until the pod is ready.
const READY: Duration = Duration::from_secs(30);
/// Interval of checks for the pod. The launcher has no permission to watch these resources.
const POLL: Duration = Duration::from_millis(300);
/// Random bytes in the name of a resource.
const NAME: usize = 4;

fn random_hex<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    SystemEntropy.fill(&mut bytes);
    hex(&bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A created resource. Its drop deletes it, and so its pod. If the launcher is killed, the operator deletes it.
pub(super) struct Download {
    api: Api<WorkshopDownload>,
    name: String,
    uid: Option<String>,
}

impl Download {
    /// Creates the resource.
    ///
    /// # Errors
    /// [`FleetError`]; the caller should retry.
    pub(super) async fn create(
        fleet: &KubernetesFleet,
        volume: &str,
        token: &ArchiveToken,
    ) -> Result<Self, FleetError> {
        let api: Api<WorkshopDownload> = Api::namespaced(fleet.client.clone(), &fleet.namespace);
        let spec =
            WorkshopDownloadSpec { volume: volume.to_owned(), token_sha256: hex(&Sha256::digest(token.reveal())) };
        let mut wanted = WorkshopDownload::new(&format!("{volume}-{}", random_hex::<NAME>()), spec);
        wanted.metadata.labels = Some(launcher_workshop::download_labels());
        // The guard exists before the request: the resource may exist although the answer was lost.
        let mut download = Self { api, name: wanted.name_any(), uid: None };
        let created = download.api.create(&PostParams::default(), &wanted).await;
        download.uid = created.map_err(|error| to_fleet_error(&error))?.uid();
        Ok(download)
    }

    /// Waits until the pod is ready. Returns its address.
    ///
    /// # Errors
    /// [`ReadError::NotReady`] after 30 seconds, or if the operator has given up.
    pub(super) async fn until_ready(&self) -> Result<SocketAddr, ReadError> {
        let mut message = "the operator has not answered".to_owned();
        let ready = timeout(READY, self.poll(&mut message)).await;
        ready.unwrap_or(Err(ReadError::NotReady(message)))
    }

    async fn poll(&self, message: &mut String) -> Result<SocketAddr, ReadError> {
        loop {
            let found = match self.api.get_opt(&self.name).await {
                Ok(Some(found)) => found,
                Ok(None) => return Err(ReadError::NotReady(format!("the operator has given up: {message}"))),
                Err(error) => return Err(to_fleet_error(&error).into()),
            };
            let status = found.status.unwrap_or_default();
            if let Some(address) = status.address {
                return Ok(address);
            }
            *message = status.message.unwrap_or_else(|| message.clone());
            sleep(POLL).await;
        }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        let (api, name) = (self.api.clone(), std::mem::take(&mut self.name));
        let exactly = Preconditions { uid: self.uid.take(), resource_version: None };
        tokio::spawn(async move {
            match api.delete(&name, &DeleteParams::background().preconditions(exactly)).await {
                Ok(_) => {}
                // The operator has deleted it.
                Err(error) if status_code(&error) == Some(404) => {}
                Err(error) => {
                    tracing::warn!(download = %name, %error, "deleting a download failed, the operator will delete it");
                }
            }
        });
    }
}
