//! A watch cache: the objects of one kind, as the API server has reported them.

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{DeserializeGuard, NamespaceResourceScope, PartialObjectMeta};
use kube::runtime::reflector::store::WriterDropped;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use launcher_workshop::{APP_LABEL, MANAGED_BY_LABEL, Workshop};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::Sender;

/// Page size of list requests. It bounds the memory for received objects, which are ten times as large as pruned ones.
const PAGE: u32 = 100;

/// A kind of objects in the namespace of the Workshops.
pub(crate) trait Object:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned
{
}

impl<K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned> Object for K {}

/// A Workshop, or the error of parsing it. One unreadable Workshop must not stop the watch of the other Workshops.
pub(crate) type Guarded = DeserializeGuard<Workshop>;

/// The read side of a watch cache of metadata.
pub(crate) trait Cache: Send + Sync {
    fn metadata(&self, namespace: &str, name: &str) -> Option<ObjectMeta>;
    fn ready(&self) -> BoxFuture<'_, Result<(), WriterDropped>>;
}

impl<K> Cache for Store<K>
where
    K: Resource<DynamicType = ()> + reflector::Lookup<DynamicType = ()> + Clone + Send + Sync + 'static,
{
    fn metadata(&self, namespace: &str, name: &str) -> Option<ObjectMeta> {
        self.get(&ObjectRef::new(name).within(namespace)).map(|object| Resource::meta(&*object).clone())
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), WriterDropped>> {
        self.wait_until_ready().boxed()
    }
}

/// Starts the watch of a cache, in a namespace. Its stream fills the cache while it is polled.
pub(crate) type Watch = Box<dyn FnOnce(&Client, &str, &Sender<()>) -> Touched + Send>;
/// The Workshops of changed objects.
type Touched = BoxStream<'static, ObjectRef<Guarded>>;

/// Creates a watch cache of the metadata of one kind.
pub(crate) fn metadata_cache<K: Object + Send + Sync + 'static>() -> (Arc<dyn Cache>, Watch) {
    let (cache, writer) = reflector::store::<PartialObjectMeta<K>>();
    let watch = |client: &Client, namespace: &str, relisted: &Sender<()>| {
        watcher(Api::<PartialObjectMeta<K>>::namespaced(client.clone(), namespace), ours())
            .modify(|object| {
                prune_metadata(&mut object.metadata);
                object.metadata.labels = None;
            })
            .default_backoff()
            .reflect(writer)
            .inspect(report_relists(relisted.clone()))
            .touched_objects()
            .filter_map(|object| ready(object.ok().and_then(|object| workshop_ref(&object))))
            .boxed()
    };
    (Arc::new(cache), Box::new(watch))
}

/// Returns an observer of a watch that sends a message after each list except the first. If the API server no longer has
/// the version at which a watch ended, the watch lists all objects again. The cache has the new list only when it is
/// complete, and no event reports an object that was deleted before the list: after it, any Workshop may need a reconcile.
///
/// One message in the channel is enough for all lists before it is received.
pub(crate) fn report_relists<K>(relisted: Sender<()>) -> impl FnMut(&Result<watcher::Event<K>, watcher::Error>) {
    let mut is_first = true;
    move |event| {
        if matches!(event, Ok(watcher::Event::InitDone)) && !std::mem::take(&mut is_first) {
            // Fails only if the channel already has a message.
            let _ = relisted.try_send(());
        }
    }
}

/// Configuration of every watch. A watch request ends after one minute and is repeated. This limits the lag of the
/// cache if a connection dies unnoticed.
pub(crate) fn watch() -> watcher::Config {
    watcher::Config::default().timeout(60).page_size(PAGE)
}

/// Configuration of a watch for the resources of Workshops, which it selects by their labels.
pub(crate) fn ours() -> watcher::Config {
    watch().labels(&format!("app={APP_LABEL},managed-by={MANAGED_BY_LABEL}"))
}

/// Returns the Workshop of an object, which has the same name.
pub(crate) fn workshop_ref(object: &impl ResourceExt) -> Option<ObjectRef<Guarded>> {
    Some(ObjectRef::new(&object.name_any()).within(&object.namespace()?))
}

pub(crate) fn prune_metadata(metadata: &mut ObjectMeta) {
    metadata.managed_fields = None;
    metadata.annotations = None;
}
