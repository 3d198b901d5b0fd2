//! Writes the status of a Workshop.

use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use launcher_workshop::{Workshop, WorkshopStatus};
use serde_json::json;

use crate::context::Context;
use crate::identifiers::FIELD_MANAGER;
use crate::lease::NotLeading;
use crate::transitions;

/// Error of writing a status.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StatusWriteError {
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    #[error("failed to write the status: {0}")]
    Write(kube::Error),
}

impl StatusWriteError {
    /// True if the Workshop has changed since it was read.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Write(kube::Error::Api(status)) if status.code == 409)
    }
}

/// Writes the status if it differs from the current one. Fails if the Workshop has changed since it was read.
pub(crate) async fn write(
    workshop: &Workshop,
    status: WorkshopStatus,
    context: &Context,
) -> Result<(), StatusWriteError> {
    if workshop.status.as_ref() == Some(&status) {
        return Ok(());
    }
    patch(context, &workshop.name_any(), workshop.resource_version(), &status).await?;
    transitions::notify(context, workshop, &status).await;
    Ok(())
}

/// Writes the status of a Workshop whose spec cannot be parsed. Fails if the Workshop has changed since it was read.
pub(crate) async fn write_unparsed(
    context: &Context,
    workshop: &DynamicObject,
    status: &WorkshopStatus,
) -> Result<(), StatusWriteError> {
    patch(context, &workshop.name_any(), workshop.resource_version(), status).await
}

/// Writes a status as an untyped object, because the Workshop in the response may be unreadable. With a `version`,
/// fails if the Workshop has changed since that resource version.
async fn patch(
    context: &Context,
    name: &str,
    version: Option<String>,
    status: &WorkshopStatus,
) -> Result<(), StatusWriteError> {
    context.fence.check()?;
    let status =
        serde_json::to_value(status).map_err(|error| StatusWriteError::Write(kube::Error::SerdeError(error)))?;
    let resource = ApiResource::erase::<Workshop>(&());
    let mut body = json!({
        "apiVersion": Workshop::api_version(&()),
        "kind": Workshop::kind(&()),
        "metadata": { "name": name },
        "status": status,
    });
    if let Some(version) = version {
        body["metadata"]["resourceVersion"] = version.into();
    }
    let api: Api<DynamicObject> = Api::namespaced_with(context.client.clone(), &context.settings.namespace, &resource);
    let params = PatchParams::apply(FIELD_MANAGER).force();
    match api.patch_status(name, &params, &Patch::Apply(&body)).await {
        Ok(_) => Ok(()),
        // The Workshop was deleted during the reconcile: it needs no status.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(StatusWriteError::Write(error)),
    }
}
