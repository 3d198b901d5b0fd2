//! Builds the resources of a validated Workshop. Pure: the same Workshop and settings give the same bytes.

mod deployment;
pub(crate) mod digest;
mod ingress;
mod isolation;
mod limits;
mod pod;
mod preset;
mod service;
mod sidecar;

use std::collections::BTreeMap;

pub use isolation::{ISOLATION_CONTAINER, NOT_ISOLATED};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::Ingress;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
pub use pod::APP_CONTAINER;
pub use sidecar::{PROXY_SECRET_KEY, SIDECAR_CONTAINER};

use crate::WORKSHOP_LABEL;
use crate::settings::{Exposure, OperatorSettings};
use crate::validate::Validated;

/// Annotation of a Deployment: digest of the Workshop's fields that decide the pod.
pub const SPEC_DIGEST: &str = "workshoplauncher.dev/spec-digest";

/// The resources of one Workshop.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifests {
    /// The pod with the app and the sidecar.
    pub deployment: Deployment,
    /// Port 80 to the sidecar.
    pub service: Service,
    /// The Ingress, if the Workshop is exposed by one.
    pub ingress: Option<Ingress>,
    /// URL for the owner; none without an exposure.
    pub url: Option<String>,
}

/// Builds the resources of a Workshop.
#[must_use]
pub fn build(workshop: &Validated, settings: &OperatorSettings) -> Manifests {
    let exposure = settings.ingress.exposure();
    Manifests {
        deployment: deployment::deployment(workshop, settings),
        service: service::service(workshop),
        ingress: (exposure == Exposure::Ingress).then(|| ingress::ingress(workshop, settings)),
        url: (exposure != Exposure::None).then(|| format!("{}/", settings.origin(&workshop.name))),
    }
}

/// The metadata of each resource of a Workshop.
fn metadata(workshop: &Validated) -> ObjectMeta {
    ObjectMeta {
        name: Some(workshop.name.clone()),
        namespace: Some(workshop.namespace.clone()),
        labels: Some(labels(workshop)),
        owner_references: Some(vec![workshop.owner_reference.clone()]),
        ..ObjectMeta::default()
    }
}

/// The labels of each resource of a Workshop: the Workshop's labels, and its name for selectors.
fn labels(workshop: &Validated) -> BTreeMap<String, String> {
    let mut labels = launcher_workshop::labels();
    labels.extend(selector(workshop));
    labels
}

fn selector(workshop: &Validated) -> BTreeMap<String, String> {
    [(WORKSHOP_LABEL.to_owned(), workshop.name.clone())].into()
}
