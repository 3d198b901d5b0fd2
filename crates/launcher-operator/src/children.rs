//! What is there: everything below the Workshops, as the watches tell it, cut down to what is looked at.

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

use crate::WORKSHOP_LABEL;
use crate::controller::Guarded;

/// How many objects come in one answer of a list: as they come, they are ten times as large as what is kept of them.
const PAGE: u32 = 100;

/// A stream of objects that were touched.
pub(crate) trait Touched<K>: Stream<Item = Result<K, watcher::Error>> + Send + 'static {}
impl<K, S: Stream<Item = Result<K, watcher::Error>> + Send + 'static> Touched<K> for S {}

/// Memories of everything below the Workshops of one namespace.
#[derive(Clone)]
pub(crate) struct Children {
    pub(crate) deployments: Store<Deployment>,
    pub(crate) services: Store<PartialObjectMeta<Service>>,
    pub(crate) ingresses: Store<PartialObjectMeta<Ingress>>,
    pods: Store<Pod>,
    ready: Arc<OnceCell<()>>,
}

/// What fills the memories, when somebody polls it, and says which Workshops are concerned.
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

    /// Waits until everything that was there has been seen once. Before that, nothing there means nothing.
    ///
    /// One waits for all: a store wakes only the last of those that wait for it.
    pub(crate) async fn ready(&self) -> Result<(), WriterDropped> {
        let all = async || {
            self.deployments.wait_until_ready().await?;
            self.services.wait_until_ready().await?;
            self.ingresses.wait_until_ready().await?;
            self.pods.wait_until_ready().await
        };
        self.ready.get_or_try_init(all).await.copied()
    }

    /// Whether everything that a Workshop wants has been made for it.
    pub(crate) fn complete(&self, namespace: &str, workshop: &Workshop, ingress: bool) -> bool {
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

    /// A Workshop's Deployment.
    pub(crate) fn deployment(&self, namespace: &str, name: &str) -> Option<Arc<Deployment>> {
        self.deployments.get(&ObjectRef::new(name).within(namespace))
    }

    /// The pods of a Workshop.
    pub(crate) fn pods(&self, name: &str) -> Vec<Pod> {
        let pods = self.pods.state_filter(|pod| workshop_of(pod) == Some(name));
        pods.into_iter().map(|pod| (*pod).clone()).collect()
    }
}

impl Watches {
    /// The streams, for the controller to poll: the three owned kinds, and for pods the Workshop they belong to.
    pub(crate) fn streams(
        self,
        client: &Client,
        namespace: &str,
    ) -> (
        impl Touched<Deployment>,
        impl Touched<PartialObjectMeta<Service>>,
        impl Touched<PartialObjectMeta<Ingress>>,
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
) -> impl Touched<PartialObjectMeta<K>>
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

/// How each watch is kept: taken up anew every minute, so that a connection that has died unnoticed does not blind us for
/// longer.
pub(crate) fn watch() -> watcher::Config {
    watcher::Config::default().timeout(60).page_size(PAGE)
}

/// What carries our labels.
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
