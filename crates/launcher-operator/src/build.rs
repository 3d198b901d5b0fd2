//! Builds the Kubernetes resources of a validated Workshop. Pure: the same Workshop and settings always give the same
//! resources.

mod archive;
mod container;
pub(crate) mod digest;
mod kinds;
mod material;
mod pod;
mod pod_template;
mod routes;
mod sidecar;
mod storage;

pub(crate) use archive::snapshot_port;
pub use archive::{MAX_DOWNLOAD_SECONDS, reader_pod};
pub use digest::{SPEC_DIGEST, TEMPLATE_DIGEST};
use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
pub use kinds::plurals;
pub(crate) use kinds::{KINDS, Kind};
pub(crate) use pod::relative_expiry;
pub use pod::{APP_CONTAINER, ISOLATION_CONTAINER, NOT_ISOLATED};
use serde::Serialize;
use serde_json::Value;
pub use sidecar::{PROXY_SECRET_KEY, SIDECAR_CONTAINER};

use crate::settings::{Exposure, OperatorSettings};
use crate::validate::Validated;

/// The Kubernetes resources of one Workshop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifests {
    /// The pod with app and sidecar.
    pub pod: Pod,
    /// The claim of the volume with the owner's files; `None` without such a volume. It outlives the Workshop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<PersistentVolumeClaim>,
    /// The other objects, by their kind.
    #[serde(flatten)]
    pub others: BTreeMap<&'static str, Value>,
    /// URL for the owner; `None` if the Workshop is not exposed.
    pub url: Option<String>,
}

#[must_use]
pub fn build(workshop: &Validated, settings: &OperatorSettings) -> Manifests {
    let other = |kind: &Kind| Some((kind.name, (kind.build)(workshop, settings)?));
    Manifests {
        pod: pod::pod(workshop, settings),
        claim: storage::claim(workshop, settings),
        others: KINDS.iter().filter_map(other).collect(),
        url: (settings.exposure() != Exposure::None).then(|| format!("{}/", settings.origin(&workshop.name))),
    }
}
