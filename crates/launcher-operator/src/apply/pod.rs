//! Creates and deletes the pod of a Workshop. [`crate::workload`] decides what to do.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use super::error::ApplyError;
use super::object::delete_exactly;
use crate::context::Context;
use crate::identifiers::FIELD_MANAGER;
use crate::owner::is_owned_by;
use crate::workload::Plan;

/// Does what the plan says.
pub(super) async fn ensure(context: &Context, uid: &str, wanted: &Pod, plan: Plan<'_>) -> Result<(), ApplyError> {
    match plan {
        Plan::Keep => Ok(()),
        Plan::Create => create(context, uid, wanted).await,
        Plan::Delete(pod) => {
            tracing::info!(
                workshop = %wanted.name_any(),
                "replacing the pod: it has ended, or the Workshop changed or is restarted"
            );
            delete_exactly::<Pod>(context, &pod.metadata).await
        }
    }
}

/// Creates the pod. The pod has the name of its Workshop: if it exists already, unknown to the watch cache, the API
/// server creates no second pod. It answers 409, or 403 if a quota or an admission rule would refuse the second pod.
async fn create(context: &Context, uid: &str, wanted: &Pod) -> Result<(), ApplyError> {
    context.fence.check()?;
    let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    let source = match api(context).create(&params, wanted).await {
        Ok(_) => return Ok(()),
        Err(source) => source,
    };
    let may_exist = matches!(&source, kube::Error::Api(status) if matches!(status.code, 403 | 409));
    if may_exist && adopt(context, uid, &wanted.metadata).await? {
        return Ok(());
    }
    Err(failed(wanted, source))
}

/// Restores the labels of an existing pod of this Workshop. Without them, the pod is missing in the watch cache or in the
/// Service. Returns false if no pod of this Workshop exists.
async fn adopt(context: &Context, uid: &str, wanted: &ObjectMeta) -> Result<bool, ApplyError> {
    let name = wanted.name.as_deref().unwrap_or_default();
    let failed = |source| ApplyError::Apply { kind: Pod::kind(&()).into_owned(), name: name.to_owned(), source };
    // A list with a field selector, because the operator's Role does not allow `get` for pods.
    let listed = api(context).list_metadata(&ListParams::default().fields(&format!("metadata.name={name}"))).await;
    let found = listed.map_err(failed)?.items.into_iter().find(|found| is_owned_by(&found.metadata, uid));
    let Some(found) = found else { return Ok(false) };
    let is_labelled = |(key, value)| found.labels().get(key) == Some(value);
    if !wanted.labels.iter().flatten().all(is_labelled) {
        context.fence.check()?;
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let patch = json!({ "metadata": { "uid": found.metadata.uid, "labels": wanted.labels } });
        api(context).patch_metadata(name, &params, &Patch::Merge(&patch)).await.map_err(failed)?;
    }
    Ok(true)
}

fn api(context: &Context) -> Api<Pod> {
    Api::namespaced(context.client.clone(), &context.settings.namespace)
}

fn failed(pod: &Pod, source: kube::Error) -> ApplyError {
    ApplyError::Apply { kind: Pod::kind(&()).into_owned(), name: pod.name_any(), source }
}
