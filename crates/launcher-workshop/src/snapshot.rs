//! Snapshot of a workshop's files, in the spec of a Workshop.
#![expect(unreachable_pub, reason = "KubeSchema derives a copy of each struct inside a function")]

use kube::KubeSchema;
use launcher_domain::Instance;
use launcher_domain::snapshot::SNAPSHOT_GRACE;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Snapshot of the files of the app at the end of the workshop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopSnapshot {
    /// Directory of the app whose files are saved. Without it, the working directory of the image. On a cluster, the
    /// crash-safe directory; the local fleet uses the working directory of the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 255), regex(pattern = "^/[^/:,]"))]
    pub directory: Option<String>,
    /// SHA-256 of the token with which the launcher reads the files, in hexadecimal. The resource never contains the token.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub token_sha256: String,
    /// Time after the expiry at which the fleet ends the workload, if the launcher has not deleted the Workshop, in seconds.
    #[schemars(range(max = 3600))]
    pub grace_seconds: u32,
}

impl WorkshopSnapshot {
    /// Returns the snapshot of an instance; `None` if none is planned.
    pub(crate) fn of(instance: &Instance) -> Option<Self> {
        let snapshot = instance.snapshot.as_ref()?;
        let settings = &instance.settings;
        let directory = settings.storage.as_ref().map(|storage| storage.path.clone());
        Some(Self {
            directory: directory.or_else(|| settings.app_type.home().map(str::to_owned)),
            token_sha256: digest(snapshot.token.reveal()),
            grace_seconds: u32::try_from(SNAPSHOT_GRACE.as_secs()).unwrap_or_default(),
        })
    }
}

fn digest(token: &str) -> String {
    Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect()
}
