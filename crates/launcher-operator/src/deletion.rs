//! Completes the deletion of a Workshop in the foreground as soon as its resources are gone.
//!
//! The API server keeps a Workshop that is deleted in the foreground until the garbage collector of Kubernetes removes the
//! finalizer `foregroundDeletion`. The garbage collector needs several requests for each resource, and sends only 40 requests
//! per second by default. The operator does not wait for it: a second deletion, in the background, removes the finalizer. If
//! the operator does not run, the garbage collector completes the deletion.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Preconditions};
use kube::{Api, Resource, ResourceExt};
use launcher_workshop::Workshop;

use crate::apply::ApplyError;
use crate::context::Context;
use crate::identifiers::FOREGROUND;
use crate::owner::is_owned_by;

/// Deletes a Workshop in the background if it is being deleted in the foreground and none of its resources is left.
pub(crate) async fn complete(context: &Context, workshop: &Workshop) -> Result<(), ApplyError> {
    if may_complete(context, workshop) && is_pod_gone(context, workshop).await? {
        delete(context, workshop).await?;
    }
    Ok(())
}

/// True if only the garbage collector still has to handle the Workshop, as far as the watch cache tells. The Secret of a
/// Workshop with secret launch parameters is left to the garbage collector: the operator cannot see whether it is gone.
fn may_complete(context: &Context, workshop: &Workshop) -> bool {
    let (name, uid) = (workshop.name_any(), workshop.uid().unwrap_or_default());
    workshop.finalizers().iter().any(|finalizer| finalizer == FOREGROUND)
        && workshop.spec.secret_env.is_empty()
        && !context.children.has_any(&context.settings.namespace, &name, &uid)
}

/// Lists the pod, because the watch cache may lack a new pod. When the Workshop is gone, the launcher reports that its app has
/// ended. Lists by a field selector, because the operator's Role does not allow `get` for pods.
async fn is_pod_gone(context: &Context, workshop: &Workshop) -> Result<bool, ApplyError> {
    let (name, uid) = (workshop.name_any(), workshop.uid().unwrap_or_default());
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let listed = pods.list_metadata(&ListParams::default().fields(&format!("metadata.name={name}"))).await;
    let listed =
        listed.map_err(|source| ApplyError::Read { kind: Pod::kind(&()).into_owned(), name: name.clone(), source })?;
    Ok(!listed.items.iter().any(|pod| is_owned_by(&pod.metadata, &uid)))
}

async fn delete(context: &Context, workshop: &Workshop) -> Result<(), ApplyError> {
    context.fence.check()?;
    let name = workshop.name_any();
    let exactly = Preconditions { uid: workshop.uid(), resource_version: None };
    let workshops: Api<Workshop> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    match workshops.delete(&name, &DeleteParams::background().preconditions(exactly)).await {
        Ok(_) => Ok(()),
        // The garbage collector was faster. With 409, a new Workshop has this name.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        Err(source) => Err(ApplyError::Delete { kind: Workshop::kind(&()).into_owned(), name, source }),
    }
}
