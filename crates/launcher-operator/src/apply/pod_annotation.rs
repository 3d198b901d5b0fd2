//! Writes annotations of pods. A change of an annotation does not restart the pod.

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::context::Context;
use crate::lease::NotLeading;
use crate::metadata::FIELD_MANAGER;

/// Error of writing an annotation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PodAnnotationError {
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    #[error("failed to write an annotation to the pod {0}: {1}")]
    Patch(String, kube::Error),
}

/// Patches the metadata of a pod. Does nothing if the pod is gone, or if the metadata has the uid of another pod.
///
/// # Errors
/// Returns [`PodAnnotationError`] if the API server refuses the write, or if this operator is no longer the leader.
pub(crate) async fn patch(context: &Context, pod: &str, metadata: Value) -> Result<(), PodAnnotationError> {
    context.fence.check()?;
    let api: Api<Pod> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    match api.patch_metadata(pod, &params, &Patch::Merge(&json!({ "metadata": metadata }))).await {
        Ok(_) => Ok(()),
        // The pod was deleted or replaced during the reconcile.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        Err(error) => Err(PodAnnotationError::Patch(pod.to_owned(), error)),
    }
}
