//! The Workshop resource: `spec` is the desired state, `status` the observed state.
//!
//! The service writes only the spec, and the fleet only the status. On Kubernetes it is a custom resource that an
//! operator reconciles; the local fleet keeps the same object in a file.

mod spec;
mod status;

use std::collections::BTreeMap;

pub use kube::ResourceExt;
pub use spec::{Workshop, WorkshopResources, WorkshopSpec, with_port};
pub use status::{Phase, READY, WorkshopStatus};

use jiff::Timestamp;
use launcher_domain::Instance;

/// The value of the label `app` of every Workshop.
pub const APP_LABEL: &str = "workshop";
/// The value of the label `managed-by` of every Workshop.
pub const MANAGED_BY_LABEL: &str = "workshop-launcher";
/// The annotation with the time of dispatch, to the millisecond: Kubernetes keeps the creation time in whole seconds.
pub const DISPATCHED_AT: &str = "workshoplauncher.dev/dispatched-at";

/// Returns the desired Workshop of an instance: its name, exactly the labels `app` and `managed-by`, the time of
/// dispatch, and its spec. It has no owner label: the sidecar's setting comes from the owner in the spec.
#[must_use]
pub fn desired_workshop(instance: &Instance) -> Workshop {
    let mut workshop = Workshop::new(&instance.k8s_name, WorkshopSpec::of(instance));
    workshop.metadata.labels = Some(labels());
    workshop.metadata.annotations =
        instance.dispatched_at.map(|at| BTreeMap::from([(DISPATCHED_AT.to_owned(), at.to_string())]));
    workshop
}

/// Returns the best estimate of the creation time. Kubernetes gives a whole second, and within it the creation was not
/// before the dispatch.
#[must_use]
pub fn created_at(workshop: &Workshop) -> Option<Timestamp> {
    let second = workshop.metadata.creation_timestamp.as_ref()?.0;
    let dispatched = workshop.annotations().get(DISPATCHED_AT).and_then(|at| at.parse::<Timestamp>().ok());
    // Ignore a dispatch time in another second, for example from a clock ahead of the cluster's.
    Some(dispatched.filter(|at| at.as_second() == second.as_second()).unwrap_or(second))
}

/// Returns the two labels of every Workshop.
#[must_use]
pub fn labels() -> BTreeMap<String, String> {
    [("app", APP_LABEL), ("managed-by", MANAGED_BY_LABEL)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Returns the custom resource definition of Workshop.
#[must_use]
pub fn crd() -> k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition {
    <Workshop as kube::CustomResourceExt>::crd()
}
