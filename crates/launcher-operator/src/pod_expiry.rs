//! Writes the expiry of a workshop to an annotation of its pod. The sidecar reads it through a volume, and shows the time
//! left. A change of the annotation does not restart the pod.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::context::Context;
use crate::identifiers::{EXPIRES_AT, FIELD_MANAGER};
use crate::lease::NotLeading;

/// Error of writing the expiry to a pod.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PodExpiryError {
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    #[error("failed to write the expiry to the pod {0}: {1}")]
    Patch(String, kube::Error),
}

/// True if the sidecar of the pod serves the frame page: the pod then has the annotation since its creation.
pub(crate) fn has_frame_page(pod: &Pod) -> bool {
    pod.annotations().contains_key(EXPIRES_AT)
}

/// Writes the expiry to each pod that has the annotation with another value. Does nothing while the expiry is unknown.
///
/// # Errors
/// Returns [`PodExpiryError`] if the API server refuses the write, or if this operator leads no more.
pub(crate) async fn write(context: &Context, pods: &[Pod], expiry: Option<Timestamp>) -> Result<(), PodExpiryError> {
    let Some(expiry) = expiry.map(|expiry| expiry.to_string()) else { return Ok(()) };
    for pod in pods.iter().filter(|pod| pod.annotations().get(EXPIRES_AT).is_some_and(|noted| *noted != expiry)) {
        context.fence.check()?;
        let name = pod.name_any();
        let api: Api<Pod> = Api::namespaced(context.client.clone(), &context.settings.namespace);
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let patch = json!({ "metadata": { "annotations": { (EXPIRES_AT): expiry } } });
        match api.patch_metadata(&name, &params, &Patch::Merge(&patch)).await {
            Ok(_) => {}
            // The pod was deleted during the reconcile: its successor gets the expiry.
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => return Err(PodExpiryError::Patch(name, error)),
        }
    }
    Ok(())
}
