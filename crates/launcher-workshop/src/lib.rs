//! The Workshop resource: `spec` is the desired state, `status` the observed state.
//!
//! The service writes only the spec, and the fleet writes only the status. On Kubernetes, a Workshop is a custom
//! resource that the operator reconciles. The local fleet and the container fleet store the same resource in a file.

pub mod app;
mod download;
pub mod lifecycle;
mod material;
pub mod pod_template;
mod spec;
mod status;

use std::collections::BTreeMap;

pub use download::{WorkshopDownload, WorkshopDownloadSpec, WorkshopDownloadStatus};
pub use kube::ResourceExt;
pub use material::{WorkshopMaterial, WorkshopMaterialSource};
pub use spec::{
    Workshop, WorkshopResources, WorkshopRestore, WorkshopSnapshot, WorkshopSpec, WorkshopStorage,
    is_parameters_secret, parameter_key, parameters_secret,
};
pub use status::{EXPOSED, Phase, READY, WorkshopStatus};

use jiff::Timestamp;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use launcher_domain::Instance;

/// Value of the label `app` of every Workshop.
pub const APP_LABEL: &str = "workshop";
/// Value of the label `app` of every WorkshopDownload.
pub const DOWNLOAD_LABEL: &str = "workshop-download";
/// Value of the label `managed-by` of every Workshop.
pub const MANAGED_BY_LABEL: &str = "workshop-launcher";
/// Annotation with the time of dispatch in milliseconds, because Kubernetes stores creation times in whole seconds.
pub const DISPATCHED_AT: &str = "workshoplauncher.dev/dispatched-at";

/// Returns the desired Workshop of an instance: name, labels, annotation with the dispatch time, and spec. The only
/// labels are `app` and `managed-by`. Only the spec names the owner.
#[must_use]
pub fn desired_workshop(instance: &Instance) -> Workshop {
    let mut workshop = Workshop::new(&instance.k8s_name, WorkshopSpec::of(instance));
    workshop.metadata.labels = Some(labels());
    workshop.metadata.annotations =
        instance.dispatched_at.map(|at| BTreeMap::from([(DISPATCHED_AT.to_owned(), at.to_string())]));
    workshop
}

/// Returns the best estimate of the Workshop's creation time. Kubernetes stores only whole seconds. If the dispatch was
/// in the same second, this function returns the more precise dispatch time.
#[must_use]
pub fn created_at(workshop: &Workshop) -> Option<Timestamp> {
    let second = workshop.metadata.creation_timestamp.as_ref()?.0;
    let dispatched = workshop.annotations().get(DISPATCHED_AT).and_then(|at| at.parse::<Timestamp>().ok());
    // Ignore a dispatch time in another second: the launcher's clock may differ from the cluster's.
    Some(dispatched.filter(|at| at.as_second() == second.as_second()).unwrap_or(second))
}

/// Returns the two labels of every Workshop.
#[must_use]
pub fn labels() -> BTreeMap<String, String> {
    labels_of(APP_LABEL)
}

/// Returns the two labels of every WorkshopDownload and its pod. The network policies of workshops do not apply to them.
#[must_use]
pub fn download_labels() -> BTreeMap<String, String> {
    labels_of(DOWNLOAD_LABEL)
}

fn labels_of(app: &str) -> BTreeMap<String, String> {
    [("app", app), ("managed-by", MANAGED_BY_LABEL)].map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// True if the launcher or the operator created the object.
#[must_use]
pub fn is_managed(object: &impl ResourceExt) -> bool {
    object.labels().get("managed-by").is_some_and(|by| by == MANAGED_BY_LABEL)
}

#[must_use]
pub fn crd() -> CustomResourceDefinition {
    <Workshop as kube::CustomResourceExt>::crd()
}

/// Returns the custom resource definitions of Workshop and WorkshopDownload as a Kubernetes list, for `kubectl apply`. A
/// list is one JSON document: older versions of kubectl cannot read several.
#[must_use]
pub fn crds() -> serde_json::Value {
    let items = [crd(), <WorkshopDownload as kube::CustomResourceExt>::crd()];
    serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": items })
}
