//! Creates, updates and deletes the resources of a Workshop. Server-side apply is idempotent. The pod is only created
//! and deleted, never changed.

mod claim;
mod error;
mod object;
mod pod;

use futures_util::future::join3;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::networking::v1::Ingress;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::apply_cache::Version;
use crate::build::Manifests;
use crate::context::Context;
use crate::settings::Exposure;
use crate::workload::{Plan, plan};
pub(crate) use error::ApplyError;
use object::{delete, ensure};

/// Result of [`apply`]. Only [`apply`] creates it, so no status is derived without an apply.
#[derive(Debug)]
pub(crate) struct Applied {
    /// URL for the owner; `None` if the Workshop is not exposed.
    pub(crate) url: Option<String>,
    /// How the Workshop is exposed.
    pub(crate) exposure: Exposure,
    /// Creation of the workload: of its Service, which exists as long as the workload; `None` until the Service is in
    /// the watch cache.
    pub(crate) created: Option<Timestamp>,
}

/// Applies all resources of a Workshop that has these pods in the watch cache. Pods and time must be the ones by which the
/// reconcile decided whether it needs a live read. Returns the result of the Service and the Ingress separately: the pod
/// exists also without them.
///
/// # Errors
/// The pod or its claim was refused.
pub(crate) async fn apply(
    context: &Context,
    name: &str,
    uid: &str,
    built: &Manifests,
    pods: &[Pod],
    now: Timestamp,
) -> Result<(Applied, Result<(), ApplyError>), ApplyError> {
    let Manifests { pod, claim, service, ingress, url } = built;
    let children = &context.children;
    let plan = plan(pods, &pod.metadata, now);
    if let (Plan::Create, Some(claim)) = (plan, claim) {
        claim::ensure(context, name, uid, claim).await?;
    }
    pod::ensure(context, uid, pod, plan).await?;
    let service = ensure(context, service, version_by_change, &children.services).await;
    let ingress = match ingress {
        Some(ingress) => ensure(context, ingress, version_by_change, &children.ingresses).await,
        None => delete::<Ingress, _>(context, name, uid, &children.ingresses).await,
    };
    let created = children.service_created(&context.settings.namespace, name);
    let applied = Applied { url: url.clone(), exposure: context.settings.exposure(), created };
    Ok((applied, service.and(ingress)))
}

/// Deletes all resources of a Workshop that are in the watch cache, at the same time. Does not wait for the garbage
/// collector, which deletes only resources that the cache does not have. If one deletion fails, the others still happen.
pub(crate) async fn remove(context: &Context, name: &str, uid: &str) -> Result<(), ApplyError> {
    let children = &context.children;
    let (ingress, service, pod) = join3(
        delete::<Ingress, _>(context, name, uid, &children.ingresses),
        delete::<Service, _>(context, name, uid, &children.services),
        delete::<Pod, _>(context, name, uid, &children.pods),
    )
    .await;
    ingress.and(service).and(pod)?;
    context.forget(name);
    Ok(())
}

/// Returns a version that changes with every change of the object. It includes changes of annotations, because an
/// Ingress names the auth middleware in an annotation.
fn version_by_change(metadata: &ObjectMeta) -> Version {
    (metadata.uid.clone(), metadata.resource_version.clone())
}
