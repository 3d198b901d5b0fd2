//! Creates and updates resources by server-side apply, which is idempotent. Also deletes them.

mod cache;
mod workload;

use std::fmt::Debug;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::Ingress;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::core::NamespaceResourceScope;
use kube::runtime::reflector::{Lookup, ObjectRef, Store};
use kube::{Api, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::FIELD_MANAGER;
use crate::build::Manifests;
use crate::context::Context;
use crate::lease::NotLeading;
use crate::settings::Exposure;
pub(crate) use cache::ApplyCache;
use cache::{Entry, Version};

/// Why an apply or a delete failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    #[error("failed to apply the {kind} {name}: {source}")]
    Apply { kind: String, name: String, source: kube::Error },
    #[error("failed to delete the {kind} {name}: {source}")]
    Delete { kind: String, name: String, source: kube::Error },
}

/// Proof that everything was applied. Only [`apply`] creates it, so no status is derived without an apply.
#[derive(Debug)]
pub(crate) struct Applied {
    /// URL for the owner; none without an exposure.
    pub(crate) url: Option<String>,
    /// How the Workshop is exposed.
    pub(crate) exposure: Exposure,
    /// The Deployment, once it is in the watch cache.
    pub(crate) deployment: Option<Arc<Deployment>>,
}

/// Applies all resources of a Workshop. With `has_been_ready`, its pod is not restarted.
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

/// Deletes all resources of a Workshop that are in the cache.
pub(crate) async fn remove(context: &Context, name: &str, uid: &str) -> Result<(), ApplyError> {
    let children = &context.children;
    delete::<Ingress, _>(context, name, uid, &children.ingresses, DeleteParams::background()).await?;
    delete::<Service, _>(context, name, uid, &children.services, DeleteParams::background()).await?;
    // The Deployment stays until its pods are gone, and so does a Workshop that is deleted meanwhile.
    delete::<Deployment, _>(context, name, uid, &children.deployments, DeleteParams::foreground()).await?;
    context.forget(name);
    Ok(())
}

/// The version for objects whose annotations count: on an Ingress they name the auth middleware.
fn version_by_change(metadata: &ObjectMeta) -> Version {
    (metadata.uid.clone(), metadata.resource_version.clone())
}

/// Applies an object unless the apply cache shows that it is unchanged since the last apply.
async fn ensure<K, S>(
    context: &Context,
    wanted: &K,
    version: fn(&ObjectMeta) -> Version,
    seen: &Store<S>,
) -> Result<(), ApplyError>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + Serialize + DeserializeOwned,
    S: Resource<DynamicType = ()> + Lookup<DynamicType = ()> + Clone + 'static,
{
    let (kind, name) = (K::kind(&()).into_owned(), wanted.name_any());
    let key = (kind.clone(), name.clone());
    let namespace = &context.settings.namespace;
    if let Some(object) = seen.get(&ObjectRef::new(&name).within(namespace)) {
        let entry = Entry::new(wanted, version(Resource::meta(&*object)));
        if context.apply_cache.contains(&key, &entry) {
            return Ok(());
        }
    }
    context.fence.check()?;
    let api: Api<K> = Api::namespaced(context.client.clone(), namespace);
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let applied = api.patch(&name, &params, &Patch::Apply(wanted)).await.map_err(|source| ApplyError::Apply {
        kind,
        name,
        source,
    })?;
    context.apply_cache.record(key, Entry::new(wanted, version(applied.meta())));
    Ok(())
}

/// Deletes the object if this Workshop owns it. Another Workshop's object of the same name stays.
async fn delete<K, S>(
    context: &Context,
    name: &str,
    uid: &str,
    seen: &Store<S>,
    how: DeleteParams,
) -> Result<(), ApplyError>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    S: Resource<DynamicType = ()> + Lookup<DynamicType = ()> + Clone + 'static,
{
    let namespace = &context.settings.namespace;
    let Some(object) = seen.get(&ObjectRef::new(name).within(namespace)) else { return Ok(()) };
    let metadata = Resource::meta(&*object);
    let owned = metadata.owner_references.iter().flatten().any(|owner| owner.uid == uid);
    if !owned || metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    context.fence.check()?;
    let exactly = Preconditions { uid: metadata.uid.clone(), resource_version: None };
    let api: Api<K> = Api::namespaced(context.client.clone(), namespace);
    match api.delete(name, &how.preconditions(exactly)).await {
        Ok(_) => Ok(()),
        // A conflict is an error and not "gone": the next try finds the new object of this name.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(source) => Err(ApplyError::Delete { kind: K::kind(&()).into_owned(), name: name.to_owned(), source }),
    }
}
