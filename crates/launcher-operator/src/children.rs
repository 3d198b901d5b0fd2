//! Watch caches of the objects of the workloads. They keep only fields that the operator reads, to save memory.

use std::mem::take;
use std::sync::Arc;

use futures_util::future::ready;
use futures_util::stream::select_all;
use futures_util::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::ApiResource;
use kube::runtime::reflector::store::{Writer, WriterDropped};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, ResourceExt};
use launcher_workshop::pod_template::SNAPSHOT;
use launcher_workshop::{DISPATCHED_AT, Workshop};
use tokio::sync::OnceCell;
use tokio::sync::mpsc::Sender;

use crate::build::{KINDS, Manifests, SPEC_DIGEST, TEMPLATE_DIGEST};
use crate::cache::{Cache, Guarded, Watch, ours, prune_metadata, report_relists, workshop_ref};
use crate::memory::Memory;
use crate::metadata::{CRASHES, EXPIRES_AT, RESTARTED_AT, VOLUME_LABEL, WORKSHOP_LABEL, is_owned_by, workshop_uid};

/// Annotations of a pod that the operator reads.
const READ_ANNOTATIONS: [&str; 5] = [CRASHES, EXPIRES_AT, RESTARTED_AT, SPEC_DIGEST, TEMPLATE_DIGEST];
/// Pod conditions that the diagnosis or the trace of a start reads.
const READ_CONDITIONS: [&str; 4] = ["Ready", "PodReadyToStartContainers", "PodScheduled", "DisruptionTarget"];

/// The read side of the watch caches, for the resources of all Workshops in one namespace.
#[derive(Clone)]
pub(crate) struct Children {
    /// In the order of [`KINDS`].
    others: Arc<[Arc<dyn Cache>]>,
    pods: Store<Pod>,
    ready: Arc<OnceCell<()>>,
}

/// The write side of the watch caches.
pub(crate) struct Watches {
    others: Vec<Watch>,
    pods: Writer<Pod>,
}

impl Children {
    pub(crate) fn new() -> (Self, Watches) {
        let (caches, others): (Vec<_>, _) = KINDS.iter().map(|kind| (kind.cache)()).unzip();
        let (pods, pod_writer) = reflector::store();
        (Self { others: caches.into(), pods, ready: Arc::default() }, Watches { others, pods: pod_writer })
    }

    /// Waits until every initial list is complete. Before that, an object that is missing in the cache may exist.
    ///
    /// Only one caller waits for the stores, and the others wait for that caller: a store wakes only its last waiter.
    pub(crate) async fn ready(&self) -> Result<(), WriterDropped> {
        let all = async || {
            for cache in &*self.others {
                cache.ready().await?;
            }
            self.pods.wait_until_ready().await
        };
        self.ready.get_or_try_init(all).await.copied()
    }

    /// True if the cache has all wanted objects of the Workshop except its pod.
    pub(crate) fn has_others(&self, namespace: &str, workshop: &Workshop, wanted: &Manifests) -> bool {
        let uid = workshop.uid().unwrap_or_default();
        KINDS.iter().zip(self.others(namespace, &workshop.name_any())).all(|(kind, found)| {
            !wanted.others.contains_key(kind.name) || found.is_some_and(|found| is_owned_by(&found, &uid))
        })
    }

    /// True if the cache has a resource of the Workshop with this name and uid.
    pub(crate) fn has_any(&self, namespace: &str, name: &str, uid: &str) -> bool {
        self.all(namespace, name).any(|(_, found)| found.is_some_and(|found| is_owned_by(&found, uid)))
    }

    /// Returns the uid of the Workshop that owns the resources with this name. Returns `None` if the cache has no such
    /// resource, or if all are being deleted.
    pub(crate) fn owner_of_live(&self, namespace: &str, name: &str) -> Option<String> {
        let mut live =
            self.all(namespace, name).filter_map(|(_, found)| found.filter(|it| it.deletion_timestamp.is_none()));
        live.find_map(|found| workshop_uid(&found).map(str::to_owned))
    }

    /// Returns the metadata of the cached objects with this name, in the order of [`KINDS`].
    pub(crate) fn others(&self, namespace: &str, name: &str) -> [Option<ObjectMeta>; KINDS.len()] {
        std::array::from_fn(|kind| self.others[kind].metadata(namespace, name))
    }

    /// Returns the metadata of the cached objects with this name, in the order of their deletion.
    pub(crate) fn all(&self, namespace: &str, name: &str) -> impl Iterator<Item = (ApiResource, Option<ObjectMeta>)> {
        let others = KINDS.iter().map(|kind| (kind.resource)()).zip(self.others(namespace, name));
        others.chain([(ApiResource::erase::<Pod>(&()), self.pods.metadata(namespace, name))])
    }

    /// Returns the name of a Workshop whose pod has this volume, other than the Workshop with this uid. A terminating pod
    /// still has its volume.
    pub(crate) fn other_user(&self, volume: &str, uid: &str) -> Option<String> {
        let has_volume = |pod: &Pod| pod.labels().get(VOLUME_LABEL).is_some_and(|name| name == volume);
        let pods = self.pods.state_filter(|pod| has_volume(pod) && !is_owned_by(&pod.metadata, uid));
        pods.first().map(|pod| pod.name_any())
    }

    /// Returns the pod of the Workshop with this name, or of an earlier Workshop of this name.
    pub(crate) fn pod(&self, namespace: &str, name: &str) -> Option<Pod> {
        self.pods.get(&ObjectRef::new(name).within(namespace)).map(|pod| (*pod).clone())
    }
}

impl Watches {
    /// Starts the watches. Returns the Workshops of changed objects: the controller reconciles a Workshop after each of these
    /// changes. Reports each version of a pod to `memory`, and each repeated list to `relisted`.
    pub(crate) fn streams(
        self,
        client: &Client,
        namespace: &str,
        memory: Arc<Memory>,
        relisted: &Sender<()>,
    ) -> impl Stream<Item = ObjectRef<Guarded>> + Send + 'static {
        let pods = watcher(Api::namespaced(client.clone(), namespace), ours())
            .modify(prune_pod)
            .default_backoff()
            .reflect(self.pods)
            .inspect(report_relists(relisted.clone()))
            .touched_objects()
            .filter_map(move |pod| {
                let pod = pod.ok().inspect(|pod| memory.observe_pod(pod));
                ready(pod.and_then(|pod| workshop_ref(&pod)))
            });
        let others = self.others.into_iter().map(|watch| watch(client, namespace, relisted));
        select_all(others.chain([pods.boxed()]))
    }
}

/// Prunes the metadata of a Workshop. Keeps the annotation with the dispatch time, which the trace of a start reads.
pub(crate) fn prune_workshop(found: &mut ObjectMeta) {
    let dispatched = found.annotations.take().and_then(|mut noted| noted.remove_entry(DISPATCHED_AT));
    prune_metadata(found);
    found.annotations = dispatched.map(|one| [one].into());
}

/// Prunes a pod to its identity, its owner, and the fields that the diagnosis and the trace of a start read.
pub fn prune_pod(pod: &mut Pod) {
    let mut annotations = pod.metadata.annotations.take();
    prune_metadata(&mut pod.metadata);
    if let Some(annotations) = &mut annotations {
        annotations.retain(|name, _| READ_ANNOTATIONS.contains(&name.as_str()));
    }
    pod.metadata.annotations = annotations.filter(|kept| !kept.is_empty());
    if let Some(labels) = &mut pod.metadata.labels {
        labels.retain(|name, _| [WORKSHOP_LABEL, VOLUME_LABEL].contains(&name.as_str()));
    }
    pod.spec = None;
    let Some(status) = pod.status.take() else { return };
    let has_address = status.container_statuses.iter().flatten().any(|status| status.name == SNAPSHOT);
    let mut kept = PodStatus {
        phase: status.phase,
        conditions: status.conditions,
        container_statuses: status.container_statuses,
        init_container_statuses: status.init_container_statuses,
        reason: status.reason,
        message: status.message,
        pod_ip: status.pod_ip.filter(|_| has_address),
        ..PodStatus::default()
    };
    if let Some(conditions) = &mut kept.conditions {
        conditions.retain(|condition| READ_CONDITIONS.contains(&condition.type_.as_str()));
        conditions.shrink_to_fit();
    }
    kept.container_statuses.iter_mut().chain(&mut kept.init_container_statuses).flatten().for_each(prune_container);
    pod.status = Some(kept);
}

fn prune_container(status: &mut ContainerStatus) {
    let (name, state, last_state) = (take(&mut status.name), status.state.take(), status.last_state.take());
    let restart_count = status.restart_count;
    *status = ContainerStatus { name, state, last_state, restart_count, ..ContainerStatus::default() };
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::{Request, Response};
    use kube::client::Body;
    use tokio::sync::mpsc::channel;
    use tokio::time::timeout;
    use tower::{BoxError, service_fn};

    use super::*;

    #[test]
    fn pruned_workshop_keeps_only_the_annotation_with_its_dispatch_time() {
        let note = |name: &str| (name.to_owned(), "value".to_owned());
        let annotations = [note(DISPATCHED_AT), note("kubectl.kubernetes.io/last-applied-configuration")].into();
        let mut found = ObjectMeta {
            name: Some("app".to_owned()),
            annotations: Some(annotations),
            managed_fields: Some(vec![Default::default()]),
            ..ObjectMeta::default()
        };
        prune_workshop(&mut found);
        let kept = ObjectMeta {
            name: Some("app".to_owned()),
            annotations: Some([note(DISPATCHED_AT)].into()),
            ..ObjectMeta::default()
        };
        assert_eq!(found, kept);
    }

    #[tokio::test(start_paused = true)]
    async fn all_reconciles_continue_after_initial_lists_are_complete() {
        let answer = |request: Request<Body>| async move {
            if request.uri().query().is_some_and(|query| query.contains("watch=true")) {
                std::future::pending::<()>().await;
            }
            let list = r#"{"metadata": {"resourceVersion": "1"}, "items": []}"#;
            Ok::<_, BoxError>(Response::new(Body::from(list.as_bytes().to_vec())))
        };
        let client = Client::new(service_fn(answer), "workshops");
        let (children, watches) = Children::new();
        let waiters: Vec<_> = (0..4)
            .map(|_| {
                let children = children.clone();
                tokio::spawn(async move { children.ready().await })
            })
            .collect();
        tokio::task::yield_now().await;
        let (relisted, _) = channel(1);
        let touched = watches.streams(&client, "workshops", Arc::default(), &relisted);
        tokio::spawn(touched.for_each(|_| ready(())));
        for waiter in waiters {
            timeout(Duration::from_secs(5), waiter).await.unwrap().unwrap().unwrap(); // simulated time
        }
    }
}
