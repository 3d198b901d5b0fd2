//! Writes annotations of pods: the crashes of the app, and the expiry of the workshop. A change of an annotation does not
//! restart the pod.
//!
//! The sidecar reads the expiry through a volume, and shows the time left. A new pod has the lifetime in this annotation. The
//! sidecar adds it to the time at which the app is ready, so that it knows the expiry at once: the kubelet needs up to 90
//! seconds to pass on a change of the annotation.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::Patch;
use launcher_domain::Crash;
use launcher_workshop::WorkshopSpec;
use serde_json::{Value, json};

use crate::build::relative_expiry;
use crate::context::{Context, RequestError};
use crate::diagnose::{UnrecordedCrash, add};
use crate::metadata::{CRASHES, EXPIRES_AT, LAST_CRASH, merge, unless_gone};
use crate::validate::has_passed;

/// Time after which the operator replaces the lifetime in the annotation by the expiry. A sidecar that starts again would count
/// the lifetime from its own start. While many workshops start at once, the operator writes nothing.
const SETTLED: Duration = Duration::from_secs(60);

/// Patches the metadata of a pod. Does nothing if the pod is gone, or if the metadata has the uid of another pod.
async fn patch(context: &Context, pod: &str, metadata: Value) -> Result<(), RequestError> {
    context.fence.check()?;
    let change = Patch::Merge(json!({ "metadata": metadata }));
    // The pod may have been deleted or replaced during the reconcile.
    let patched = context.api::<Pod>().patch_metadata(pod, &merge(), &change).await;
    unless_gone(patched).map_err(RequestError::to(&format!("write an annotation to the pod {pod}")))
}

/// Writes a crash after which the app starts again. `crash` is `None` for crashes that do not count.
pub(crate) async fn write_crash(
    context: &Context,
    UnrecordedCrash { pod, uid, value }: UnrecordedCrash,
    crash: Option<&Crash>,
) -> Result<(), RequestError> {
    let Some(crash) = crash else {
        return patch(context, &pod, json!({ "uid": uid, "annotations": { (CRASHES): value } })).await;
    };
    let reason = crash.code.as_str();
    tracing::warn!(workshop = pod, reason, at = %crash.at, "app crashed, the kubelet starts it again");
    let last = crash.to_text();
    patch(context, &pod, json!({ "uid": uid, "annotations": { (CRASHES): value, (LAST_CRASH): last } })).await
}

/// Writes the expiry to each pod that has the annotation with another value. Does nothing while the expiry is unknown. The
/// lifetime is replaced after an extension, or when the workshop has been ready for a minute.
pub(crate) async fn write_expiry(
    context: &Context,
    pods: &[Pod],
    workshop: &WorkshopSpec,
    ready_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), RequestError> {
    let Some(expiry) = workshop.expiry(ready_at).map(|expiry| expiry.to_string()) else { return Ok(()) };
    let lifetime = relative_expiry(workshop.lifetime_seconds);
    let is_settled = workshop.expires_at.is_some() || has_passed(ready_at.map(|ready| add(ready, SETTLED)), now);
    let is_current = |noted: &str| noted == expiry || (noted == lifetime && !is_settled);
    for pod in pods.iter().filter(|pod| pod.annotations().get(EXPIRES_AT).is_some_and(|noted| !is_current(noted))) {
        patch(context, &pod.name_any(), json!({ "annotations": { (EXPIRES_AT): expiry } })).await?;
    }
    Ok(())
}
