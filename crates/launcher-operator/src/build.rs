//! Builds the Kubernetes resources of a validated Workshop. Pure: the same Workshop and settings always give the same
//! resources.

mod archive;
mod container;
pub(crate) mod digest;
mod material;
mod pod;
mod pod_template;
mod routes;
mod sidecar;
mod storage;

pub(crate) use archive::snapshot_port;
pub use archive::{MAX_DOWNLOAD_SECONDS, reader_pod};
pub use digest::{SPEC_DIGEST, TEMPLATE_DIGEST};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Service};
use k8s_openapi::api::networking::v1::Ingress;
pub(crate) use pod::relative_expiry;
pub use pod::{APP_CONTAINER, ISOLATION_CONTAINER, NOT_ISOLATED};
use serde::Serialize;
pub use sidecar::{PROXY_SECRET_KEY, SIDECAR_CONTAINER};

use crate::settings::{Exposure, OperatorSettings};
use crate::validate::Validated;

/// Kinds of the objects of a workload, by their plural names, in the order of their deletion.
pub const KINDS: [&str; 3] = ["ingresses", "services", "pods"];

/// The Kubernetes resources of one Workshop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifests {
    /// The pod with app and sidecar.
    pub pod: Pod,
    /// The claim of the volume with the owner's files; `None` without such a volume. It outlives the Workshop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<PersistentVolumeClaim>,
    /// The Service: forwards port 80 to the sidecar.
    pub service: Service,
    /// The Ingress; `None` if the Workshop is not exposed through an Ingress.
    pub ingress: Option<Ingress>,
    /// URL for the owner; `None` if the Workshop is not exposed.
    pub url: Option<String>,
}

#[must_use]
pub fn build(workshop: &Validated, settings: &OperatorSettings) -> Manifests {
    let exposure = settings.exposure();
    Manifests {
        pod: pod::pod(workshop, settings),
        claim: storage::claim(workshop, settings),
        service: routes::service(workshop),
        ingress: (exposure == Exposure::Ingress).then(|| routes::ingress(workshop, settings)),
        url: (exposure != Exposure::None).then(|| format!("{}/", settings.origin(&workshop.name))),
    }
}
