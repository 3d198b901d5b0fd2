//! Pods that the cluster has disrupted, also after they are gone. The cluster can delete a pod at once: the watch cache then
//! has no pod. Only the last observed version of the pod shows that the cluster deleted it, and not an administrator.

use std::collections::HashMap;
use std::sync::Mutex;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use launcher_domain::sync::lock;

use crate::diagnose::is_disrupted;
use crate::owner::is_owned_by;

/// The last version of the last disrupted pod of each Workshop.
#[derive(Debug, Default)]
pub(crate) struct DisruptedPods(Mutex<HashMap<String, Pod>>);

impl DisruptedPods {
    /// Notes a new version of a pod. A disruption can be cancelled.
    pub(crate) fn observe(&self, pod: &Pod) {
        let workshop = pod.name_any();
        let mut pods = lock(&self.0);
        if is_disrupted(pod) {
            pods.insert(workshop, pod.clone());
        } else if pods.get(&workshop).is_some_and(|known| known.metadata.uid == pod.metadata.uid) {
            pods.remove(&workshop);
        }
    }

    /// Returns the last disrupted pod of the Workshop with this name and uid. The pod counts as being deleted.
    pub(crate) fn find(&self, workshop: &str, uid: &str) -> Option<Pod> {
        let mut pod = lock(&self.0).get(workshop).filter(|pod| is_owned_by(&pod.metadata, uid))?.clone();
        let unknown = || Time(pod.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0));
        pod.metadata.deletion_timestamp = Some(pod.metadata.deletion_timestamp.clone().unwrap_or_else(unknown));
        Some(pod)
    }

    /// Forgets the pod of a Workshop whose workload is deleted.
    pub(crate) fn forget(&self, workshop: &str) {
        lock(&self.0).remove(workshop);
    }
}
