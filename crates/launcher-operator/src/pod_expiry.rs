//! Writes the expiry of a workshop to an annotation of its pod. The sidecar reads it through a volume, and shows the time
//! left.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde_json::json;

use crate::context::Context;
use crate::identifiers::EXPIRES_AT;
use crate::pod_annotation::{PodAnnotationError, patch};

/// True if the sidecar of the pod serves the frame page: the pod then has the annotation since its creation.
pub(crate) fn has_frame_page(pod: &Pod) -> bool {
    pod.annotations().contains_key(EXPIRES_AT)
}

/// Writes the expiry to each pod that has the annotation with another value. Does nothing while the expiry is unknown.
///
/// # Errors
/// Returns [`PodAnnotationError`] if the API server refuses the write, or if this operator leads no more.
pub(crate) async fn write(
    context: &Context,
    pods: &[Pod],
    expiry: Option<Timestamp>,
) -> Result<(), PodAnnotationError> {
    let Some(expiry) = expiry.map(|expiry| expiry.to_string()) else { return Ok(()) };
    for pod in pods.iter().filter(|pod| pod.annotations().get(EXPIRES_AT).is_some_and(|noted| *noted != expiry)) {
        patch(context, &pod.name_any(), json!({ "annotations": { (EXPIRES_AT): expiry } })).await?;
    }
    Ok(())
}
