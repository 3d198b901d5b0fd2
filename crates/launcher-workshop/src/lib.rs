//! The Workshop resource: `spec` is what should run, `status` what does run.
//!
//! The service writes the spec, the fleet writes the status, nobody writes both. On Kubernetes it is a custom resource
//! that an operator reconciles; the local fleet keeps the same object in a file.

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
/// The annotation with the time of dispatch, in milliseconds: Kubernetes keeps whole seconds of the time of creation.
pub const DISPATCHED_AT: &str = "workshoplauncher.dev/dispatched-at";

/// The Workshop that an instance wants: its name, exactly the labels `app` and `managed-by`, when it was dispatched, and
/// its spec. There is no owner label; the owner is in the spec, where the sidecar's setting comes from.
#[must_use]
pub fn wanted(instance: &Instance) -> Workshop {
    let mut workshop = Workshop::new(&instance.k8s_name, WorkshopSpec::of(instance));
    workshop.metadata.labels = Some(labels());
    workshop.metadata.annotations =
        instance.dispatched_at.map(|at| BTreeMap::from([(DISPATCHED_AT.to_owned(), at.to_string())]));
    workshop
}

/// When the Workshop was created, as nearly as one knows: within the second that Kubernetes tells, it was not before its
/// dispatch.
#[must_use]
pub fn created_at(workshop: &Workshop) -> Option<Timestamp> {
    let second = workshop.metadata.creation_timestamp.as_ref()?.0;
    let dispatched = workshop.annotations().get(DISPATCHED_AT).and_then(|at| at.parse::<Timestamp>().ok());
    // A clock that is ahead of the cluster's tells nothing of that second.
    Some(dispatched.filter(|at| at.as_second() == second.as_second()).unwrap_or(second))
}

/// The two labels of every Workshop.
#[must_use]
pub fn labels() -> BTreeMap<String, String> {
    [("app", APP_LABEL), ("managed-by", MANAGED_BY_LABEL)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// The custom resource definition of Workshop.
#[must_use]
pub fn crd() -> k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition {
    <Workshop as kube::CustomResourceExt>::crd()
}
