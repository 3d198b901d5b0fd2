//! Writes the crashes of an app to an annotation of its pod.

use serde_json::json;

use crate::apply::pod_annotation::{PodAnnotationError, patch};
use crate::context::Context;
use crate::diagnose::{AppCrashes, UnrecordedCrash};
use crate::metadata::{CRASHES, LAST_CRASH};

/// Writes a crash after which the app starts again, unless the pod's annotation already has it.
///
/// # Errors
/// Returns [`PodAnnotationError`] if the API server refuses the write, or if this operator is no longer the leader.
pub(crate) async fn write(context: &Context, crashes: Option<&AppCrashes>) -> Result<(), PodAnnotationError> {
    let Some(AppCrashes { last: Some(crash), unrecorded: Some(unrecorded), verdict: _ }) = crashes else {
        return Ok(());
    };
    let UnrecordedCrash { pod, uid, value } = unrecorded;
    let reason = crash.code.as_str();
    tracing::warn!(workshop = pod, reason, at = %crash.at, "app crashed, the kubelet starts it again");
    let last = crash.to_text();
    patch(context, pod, json!({ "uid": uid, "annotations": { (CRASHES): value, (LAST_CRASH): last } })).await
}
