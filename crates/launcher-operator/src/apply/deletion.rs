//! Completes deletions faster than the garbage collector of Kubernetes, which needs several requests for each resource, and
//! sends only 40 requests per second by default. If the operator does not run, the garbage collector completes the deletions.
//!
//! A Workshop that is deleted in the foreground stays until the garbage collector removes the finalizer
//! `foregroundDeletion`. As soon as its resources are gone, the operator deletes it in the background: this removes the
//! finalizer.
//!
//! A Workshop that is deleted in the background, as `kubectl delete` does, is gone at once. The operator then deletes its
//! orphaned resources.

use k8s_openapi::api::core::v1::Pod;
use kube::{Resource, ResourceExt};
use launcher_workshop::Workshop;
use tokio::time::timeout;

use crate::apply::{self, ApplyError};
use crate::context::{Context, DEADLINE, RequestError};
use crate::metadata::{FOREGROUND, deletion_of, is_owned_by, only, unless_gone};

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
/// ended.
async fn is_pod_gone(context: &Context, workshop: &Workshop) -> Result<bool, ApplyError> {
    let (name, uid) = (workshop.name_any(), workshop.uid().unwrap_or_default());
    let listed =
        context.api::<Pod>().list_metadata(&only(&name)).await.map_err(ApplyError::read(&Pod::kind(&()), &name))?;
    Ok(!listed.items.iter().any(|pod| is_owned_by(&pod.metadata, &uid)))
}

async fn delete(context: &Context, workshop: &Workshop) -> Result<(), ApplyError> {
    context.fence.check()?;
    let name = workshop.name_any();
    // The garbage collector may be faster.
    let deleted = context.api::<Workshop>().delete(&name, &deletion_of(workshop.meta())).await;
    unless_gone(deleted).map_err(ApplyError::delete(&Workshop::kind(&()), &name))
}

/// Deletes the resources of a Workshop that the watch cache has no more. After an error the garbage collector deletes
/// them.
pub(crate) async fn remove_orphans(context: &Context, name: &str) {
    let removed = timeout(DEADLINE, try_remove(context, name)).await;
    if let Err(error) = removed.unwrap_or_else(|_| Err(RequestError::Slow.to_string())) {
        tracing::info!(workshop = %name, %error, "deleting orphaned resources failed, left to the garbage collector");
    }
}

/// Reads the Workshop first: the cache may be stale, and a new Workshop may have this name.
async fn try_remove(context: &Context, name: &str) -> Result<(), String> {
    let Some(uid) = context.children.owner_of_live(&context.settings.namespace, name) else { return Ok(()) };
    let found = context.api::<Workshop>().get_metadata_opt(name).await;
    if found.map_err(|error| format!("failed to read the Workshop: {error}"))?.is_some() {
        return Ok(());
    }
    apply::remove(context, name, &uid).await.map_err(|error| error.to_string())
}
