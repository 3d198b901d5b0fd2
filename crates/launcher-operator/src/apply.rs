//! Creates, updates and deletes the resources of a Workshop. It uses server-side apply, which is idempotent.

mod error;
mod object;
mod workload;

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::Ingress;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::DeleteParams;

use crate::apply_cache::Version;
use crate::build::Manifests;
use crate::context::Context;
use crate::settings::Exposure;
pub(crate) use error::ApplyError;
use object::{delete, ensure};

/// Result of [`apply`]. Only [`apply`] creates it, so no status is derived without an apply.
#[derive(Debug)]
pub(crate) struct Applied {
    /// URL for the owner; `None` if the Workshop is not exposed.
    pub(crate) url: Option<String>,
    /// How the Workshop is exposed.
    pub(crate) exposure: Exposure,
    /// The Deployment; `None` until it is in the watch cache.
    pub(crate) deployment: Option<Arc<Deployment>>,
}

/// Applies all resources of a Workshop. If `has_been_ready` is true, the apply keeps the pod template when only the
/// operator or its settings changed, so that the pod does not restart.
pub(crate) async fn apply(
    context: &Context,
    name: &str,
    uid: &str,
    built: Manifests,
    has_been_ready: bool,
) -> Result<Applied, ApplyError> {
    let Manifests { deployment, service, ingress, url } = built;
    let children = &context.children;
    workload::ensure(context, deployment, has_been_ready).await?;
    ensure(context, &service, version_by_change, &children.services).await?;
    match &ingress {
        Some(ingress) => {
            ensure(context, ingress, version_by_change, &children.ingresses).await?;
        }
        None => delete::<Ingress, _>(context, name, uid, &children.ingresses, DeleteParams::background()).await?,
    }
    let deployment = children.deployment(&context.settings.namespace, name);
    Ok(Applied { url, exposure: context.settings.ingress.exposure(), deployment })
}

/// Deletes all resources of a Workshop that are in the watch cache.
pub(crate) async fn remove(context: &Context, name: &str, uid: &str) -> Result<(), ApplyError> {
    let children = &context.children;
    delete::<Ingress, _>(context, name, uid, &children.ingresses, DeleteParams::background()).await?;
    delete::<Service, _>(context, name, uid, &children.services, DeleteParams::background()).await?;
    // Foreground deletion keeps the Deployment until its pods are gone. A Workshop that is deleted meanwhile then
    // exists until its pods are gone, too.
    delete::<Deployment, _>(context, name, uid, &children.deployments, DeleteParams::foreground()).await?;
    context.forget(name);
    Ok(())
}

/// Returns a version that changes with every change of the object. It includes changes of annotations, because an
/// Ingress names the auth middleware in an annotation.
fn version_by_change(metadata: &ObjectMeta) -> Version {
    (metadata.uid.clone(), metadata.resource_version.clone())
}
