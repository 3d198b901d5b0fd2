//! Watch caches of the Deployments, Services, Ingresses and pods of the Workshops. They keep only fields that the
//! operator reads, to save memory.

pub(crate) mod prune;

use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::networking::v1::Ingress;
use kube::core::PartialObjectMeta;
use kube::runtime::reflector::store::{Writer, WriterDropped};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use launcher_workshop::{APP_LABEL, MANAGED_BY_LABEL, Workshop};
use tokio::sync::OnceCell;

use crate::guarded::Guarded;
use crate::identifiers::WORKSHOP_LABEL;

/// Page size of list requests. It bounds the memory for received objects, which are ten times as large as pruned ones.
const PAGE: u32 = 100;

/// A stream of changed objects of one kind.
pub(crate) trait ChangeStream<K>: Stream<Item = Result<K, watcher::Error>> + Send + 'static {}
impl<K, S: Stream<Item = Result<K, watcher::Error>> + Send + 'static> ChangeStream<K> for S {}

/// The read side of the watch caches, for the resources of all Workshops in one namespace.
#[derive(Clone)]
pub(crate) struct Children {
    pub(crate) deployments: Store<Deployment>,
    pub(crate) services: Store<PartialObjectMeta<Service>>,
    pub(crate) ingresses: Store<PartialObjectMeta<Ingress>>,
    pods: Store<Pod>,
    ready: Arc<OnceCell<()>>,
}

/// The write side of the watch caches. Its streams fill the caches while they are polled.
pub(crate) struct Watches {
    deployments: Writer<Deployment>,
    services: Writer<PartialObjectMeta<Service>>,
    ingresses: Writer<PartialObjectMeta<Ingress>>,
    pods: Writer<Pod>,
}

impl Children {
    pub(crate) fn new() -> (Self, Watches) {
        let (deployments, deployment_writer) = reflector::store();
        let (services, service_writer) = reflector::store();
        let (ingresses, ingress_writer) = reflector::store();
        let (pods, pod_writer) = reflector::store();
        let watches = Watches {
            deployments: deployment_writer,
            services: service_writer,
            ingresses: ingress_writer,
            pods: pod_writer,
        };
        (Self { deployments, services, ingresses, pods, ready: Arc::default() }, watches)
    }

    /// Waits until every initial list is complete. Before that, an object that is missing in the cache may exist.
    ///
    /// Only one caller waits for the stores, and the others wait for that caller: a store wakes only its last waiter.
    pub(crate) async fn ready(&self) -> Result<(), WriterDropped> {
        let all = async || {
            self.deployments.wait_until_ready().await?;
            self.services.wait_until_ready().await?;
            self.ingresses.wait_until_ready().await?;
            self.pods.wait_until_ready().await
        };
        self.ready.get_or_try_init(all).await.copied()
    }

    /// True if the cache has every resource of the Workshop. `ingress` is true if the Workshop needs an Ingress.
    pub(crate) fn has_all_resources(&self, namespace: &str, workshop: &Workshop, ingress: bool) -> bool {
        fn is_there<K>(seen: &Store<K>, namespace: &str, workshop: &Workshop) -> bool
        where
            K: Resource<DynamicType = ()> + reflector::Lookup<DynamicType = ()> + Clone + 'static,
        {
            let found = seen.get(&ObjectRef::new(&workshop.name_any()).within(namespace));
            let mut owners =
                found.iter().flat_map(|object| Resource::meta(&**object).owner_references.iter().flatten());
            owners.any(|owner| workshop.metadata.uid.as_ref() == Some(&owner.uid))
        }
        is_there(&self.deployments, namespace, workshop)
            && is_there(&self.services, namespace, workshop)
            && (!ingress || is_there(&self.ingresses, namespace, workshop))
    }

    /// Returns the Deployment of the Workshop from the cache.
    pub(crate) fn deployment(&self, namespace: &str, name: &str) -> Option<Arc<Deployment>> {
        self.deployments.get(&ObjectRef::new(name).within(namespace))
    }

    /// Returns the pods of the Workshop from the cache.
    pub(crate) fn pods(&self, name: &str) -> Vec<Pod> {
        let pods = self.pods.state_filter(|pod| workshop_of(pod) == Some(name));
        pods.into_iter().map(|pod| (*pod).clone()).collect()
    }
}

impl Watches {
    /// Starts the watches. Returns the changed Deployments, Services and Ingresses, and the Workshops of changed pods:
    /// the controller reconciles a Workshop after each of these changes.
    pub(crate) fn streams(
        self,
        client: &Client,
        namespace: &str,
    ) -> (
        impl ChangeStream<Deployment>,
        impl ChangeStream<PartialObjectMeta<Service>>,
        impl ChangeStream<PartialObjectMeta<Ingress>>,
        impl Stream<Item = ObjectRef<Guarded>> + Send + 'static,
    ) {
        let Self { deployments, services, ingresses, pods } = self;
        let deployments = watcher(Api::namespaced(client.clone(), namespace), ours())
            .modify(prune::deployment)
            .default_backoff()
            .reflect(deployments)
            .touched_objects();
        let pods = watcher(Api::namespaced(client.clone(), namespace), ours())
            .modify(prune::pod)
            .default_backoff()
            .reflect(pods)
            .touched_objects()
            .filter_map(|pod| async move { workshop_ref(&pod.ok()?) });
        (deployments, metadata_of(client, namespace, services), metadata_of(client, namespace, ingresses), pods)
    }
}

fn metadata_of<K>(
    client: &Client,
    namespace: &str,
    writer: Writer<PartialObjectMeta<K>>,
) -> impl ChangeStream<PartialObjectMeta<K>>
where
    K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned
        + Send
        + Sync
        + 'static,
{
    watcher(Api::<PartialObjectMeta<K>>::namespaced(client.clone(), namespace), ours())
        .modify(|object| {
            prune::metadata(&mut object.metadata);
            object.metadata.labels = None;
        })
        .default_backoff()
        .reflect(writer)
        .touched_objects()
}

/// Configuration of every watch. A watch request ends after one minute and is repeated. This limits the lag of the
/// cache if a connection dies unnoticed.
pub(crate) fn watch() -> watcher::Config {
    watcher::Config::default().timeout(60).page_size(PAGE)
}

/// Configuration of a watch for the resources of Workshops, which it selects by their labels.
fn ours() -> watcher::Config {
    watch().labels(&format!("app={APP_LABEL},managed-by={MANAGED_BY_LABEL}"))
}

fn workshop_of(pod: &Pod) -> Option<&str> {
    pod.labels().get(WORKSHOP_LABEL).map(String::as_str)
}

fn workshop_ref(pod: &Pod) -> Option<ObjectRef<Guarded>> {
    Some(ObjectRef::new(workshop_of(pod)?).within(&pod.namespace()?))
}

#[cfg(test)]
mod tests;
