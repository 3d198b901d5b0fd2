//! Deletes the resources of Workshops that are gone. A Workshop is gone at once if it is deleted in the background, as
//! `kubectl delete` does. The garbage collector of Kubernetes would delete its resources too, but sends only 40 requests
//! per second by default, and needs several requests for each resource.

use std::time::Duration;

use kube::Api;
use launcher_workshop::Workshop;
use tokio::time::timeout;

use crate::apply::{self, ApplyError};
use crate::context::Context;

/// Timeout of the removal for one Workshop.
const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
enum OrphanError {
    #[error(transparent)]
    Apply(#[from] ApplyError),
    #[error("failed to read the Workshop: {0}")]
    Read(#[from] kube::Error),
    #[error("the API server did not answer within {} seconds", DEADLINE.as_secs())]
    Slow,
}

/// Deletes the resources of a Workshop that the watch cache has no more. After an error the garbage collector deletes
/// them.
pub(crate) async fn remove(context: &Context, name: &str) {
    let outcome = timeout(DEADLINE, try_remove(context, name)).await.unwrap_or(Err(OrphanError::Slow));
    if let Err(error) = outcome {
        tracing::info!(workshop = %name, %error, "deleting orphaned resources failed, left to the garbage collector");
    }
}

/// Reads the Workshop first: the cache may be stale, and a new Workshop may have this name.
async fn try_remove(context: &Context, name: &str) -> Result<(), OrphanError> {
    let namespace = &context.settings.namespace;
    let Some(uid) = context.children.owner_of_live(namespace, name) else { return Ok(()) };
    let workshops: Api<Workshop> = Api::namespaced(context.client.clone(), namespace);
    if workshops.get_metadata_opt(name).await?.is_some() {
        return Ok(());
    }
    Ok(apply::remove(context, name, &uid).await?)
}
