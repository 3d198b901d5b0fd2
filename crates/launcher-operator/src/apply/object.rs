//! Applies and deletes one Kubernetes object.

use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::core::NamespaceResourceScope;
use kube::runtime::reflector::{Lookup, ObjectRef, Store};
use kube::{Api, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ApplyError;
use crate::apply_cache::{Entry, Version};
use crate::context::Context;
use crate::identifiers::{FIELD_MANAGER, FOREGROUND};
use crate::owner::is_owned_by;

/// Applies an object. Sends no request if the apply cache shows that the object is unchanged since its last apply.
pub(super) async fn ensure<K, S>(
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

/// Deletes an object if the Workshop with this uid owns it. An object of another Workshop with the same name stays.
pub(super) async fn delete<K, S>(context: &Context, name: &str, uid: &str, seen: &Store<S>) -> Result<(), ApplyError>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    S: Resource<DynamicType = ()> + Lookup<DynamicType = ()> + Clone + 'static,
{
    let namespace = &context.settings.namespace;
    let Some(object) = seen.get(&ObjectRef::new(name).within(namespace)) else { return Ok(()) };
    let metadata = Resource::meta(&*object);
    if is_owned_by(metadata, uid) { delete_exactly::<K>(context, metadata).await } else { Ok(()) }
}

/// Deletes the object with this metadata in the background, unless it is being deleted.
///
/// If the garbage collector was faster, it has deleted the object in the foreground, for example a Service because of its
/// EndpointSlices. It then needs minutes when many Workshops end. This deletion removes such an object at once.
pub(super) async fn delete_exactly<K>(context: &Context, metadata: &ObjectMeta) -> Result<(), ApplyError>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    let waits_for_collector = metadata.finalizers.iter().flatten().any(|finalizer| finalizer == FOREGROUND);
    if metadata.deletion_timestamp.is_some() && !waits_for_collector {
        return Ok(());
    }
    context.fence.check()?;
    let name = metadata.name.as_deref().unwrap_or_default();
    let exactly = Preconditions { uid: metadata.uid.clone(), resource_version: None };
    let api: Api<K> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    match api.delete(name, &DeleteParams::background().preconditions(exactly)).await {
        Ok(_) => Ok(()),
        // Only 404 means that the object is gone. A conflict (409) means that a new object has this name: the retry
        // checks its owner.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(source) => Err(ApplyError::Delete { kind: K::kind(&()).into_owned(), name: name.to_owned(), source }),
    }
}
