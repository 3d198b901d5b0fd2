//! The expiry of a workshop in an annotation of its pod. The sidecar reads it through a volume, and shows the time left.
//!
//! A new pod has the lifetime in this annotation. The sidecar adds it to the time at which the app is ready, so that it knows
//! the expiry at once: the kubelet needs up to 90 seconds to pass on a change of the annotation.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use launcher_workshop::WorkshopSpec;
use serde_json::json;

use crate::apply::pod_annotation::{PodAnnotationError, patch};
use crate::build::relative_expiry;
use crate::context::Context;
use crate::diagnose::add;
use crate::metadata::EXPIRES_AT;
use crate::validate::has_passed;

/// Time after which the operator replaces the lifetime in the annotation by the expiry. A sidecar that starts again would count
/// the lifetime from its own start. While many workshops start at once, the operator writes nothing.
const SETTLED: Duration = Duration::from_secs(60);

/// Writes the expiry to each pod that has the annotation with another value. Does nothing while the expiry is unknown. The
/// lifetime is replaced after an extension, or when the workshop has been ready for a minute.
///
/// # Errors
/// Returns [`PodAnnotationError`] if the API server refuses the write, or if this operator is no longer the leader.
pub(crate) async fn write(
    context: &Context,
    pods: &[Pod],
    workshop: &WorkshopSpec,
    ready_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), PodAnnotationError> {
    let Some(expiry) = workshop.expiry(ready_at).map(|expiry| expiry.to_string()) else { return Ok(()) };
    let lifetime = relative_expiry(workshop.lifetime_seconds);
    let is_settled = workshop.expires_at.is_some() || has_passed(ready_at.map(|ready| add(ready, SETTLED)), now);
    let is_current = |noted: &str| noted == expiry || (noted == lifetime && !is_settled);
    for pod in pods.iter().filter(|pod| pod.annotations().get(EXPIRES_AT).is_some_and(|noted| !is_current(noted))) {
        patch(context, &pod.name_any(), json!({ "annotations": { (EXPIRES_AT): expiry } })).await?;
    }
    Ok(())
}
