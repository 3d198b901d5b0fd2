//! Builds the Kubernetes resources of a validated Workshop. Pure: the same Workshop and settings always give the same
//! resources.

mod archive_program;
mod crash_safe;
pub(crate) mod digest;
mod ingress;
mod isolation;
mod limits;
mod literal;
mod material;
mod material_secrets;
mod metadata;
mod pod;
mod pod_template;
mod reader_pod;
mod service;
mod sidecar;
mod snapshot;
mod storage;
mod workshop_pod;

pub use digest::{SPEC_DIGEST, TEMPLATE_DIGEST};
pub use isolation::{ISOLATION_CONTAINER, NOT_ISOLATED};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Service};
use k8s_openapi::api::networking::v1::Ingress;
pub use pod::APP_CONTAINER;
pub use reader_pod::{MAX_SECONDS as MAX_DOWNLOAD_SECONDS, reader_pod};
pub use sidecar::{PROXY_SECRET_KEY, SIDECAR_CONTAINER};
pub(crate) use snapshot::port as snapshot_port;
pub(crate) use workshop_pod::relative_expiry;

use crate::settings::{Exposure, OperatorSettings};
use crate::validate::Validated;

/// The Kubernetes resources of one Workshop.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifests {
    /// The pod with app and sidecar.
    pub pod: Pod,
    /// The claim of the volume with the owner's files; `None` without such a volume. It outlives the Workshop.
    pub claim: Option<PersistentVolumeClaim>,
    /// The Service: forwards port 80 to the sidecar.
    pub service: Service,
    /// The Ingress; `None` if the Workshop is not exposed through an Ingress.
    pub ingress: Option<Ingress>,
    /// URL for the owner; `None` if the Workshop is not exposed.
    pub url: Option<String>,
}

/// Builds the resources of a Workshop.
#[must_use]
pub fn build(workshop: &Validated, settings: &OperatorSettings) -> Manifests {
    let exposure = settings.ingress.exposure();
    Manifests {
        pod: workshop_pod::pod(workshop, settings),
        claim: storage::claim(workshop, settings),
        service: service::service(workshop),
        ingress: (exposure == Exposure::Ingress).then(|| ingress::ingress(workshop, settings)),
        url: (exposure != Exposure::None).then(|| format!("{}/", settings.origin(&workshop.name))),
    }
}
