//! The context: dependencies and in-memory state that all reconciles share.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use kube::core::NamespaceResourceScope;
use kube::runtime::events::Reporter;
use kube::{Api, Client, Resource};
use launcher_domain::Clock;
use launcher_domain::sync::lock;
use serde::Serialize;

use crate::children::{Children, DisruptedPods};
use crate::lease::Fence;
use crate::metrics::Metrics;
use crate::settings::OperatorSettings;

/// Delay after the first failed reconcile.
const FIRST_DELAY: Duration = Duration::from_millis(250);
/// Longest delay after a failed reconcile.
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// Dependencies and in-memory state that all reconciles share. A new leadership begins with a new context.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) settings: Arc<OperatorSettings>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: Metrics,
    pub(crate) reporter: Reporter,
    pub(crate) fence: Fence,
    pub(crate) children: Children,
    pub(crate) apply_cache: ApplyCache,
    pub(crate) backoff: Backoff,
    /// Time at which the operator first saw a failed image pull, for each Workshop.
    pub(crate) pull_failures: FirstSeen,
    /// Time at which the API server first refused an apply, for each Workshop.
    pub(crate) refusals: FirstSeen,
    /// Time at which a Workshop began to wait for its volume, which the pod of another Workshop has.
    pub(crate) volume_waits: FirstSeen,
    /// Time at which the operator first saw a step of the start that the status lacks, for each Workshop.
    pub(crate) unreported_steps: FirstSeen,
    /// Pods that the cluster has disrupted.
    pub(crate) disrupted_pods: Arc<DisruptedPods>,
    /// Workshops with volumes.
    pub(crate) volume_users: VolumeUsers,
}

impl Context {
    /// Returns the API of the objects of one kind, in the namespace of the Workshops.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.settings.namespace)
    }

    /// Removes the in-memory state of a Workshop whose workload is deleted.
    pub(crate) fn forget(&self, name: &str) {
        self.backoff.forget(name);
        self.apply_cache.forget(name);
        self.pull_failures.forget(name);
        self.forget_refusals(name);
        self.unreported_steps.forget(name);
        self.disrupted_pods.forget(name);
        self.volume_users.forget(name);
    }

    /// Ends the grace periods of refused applies.
    pub(crate) fn forget_refusals(&self, name: &str) {
        self.refusals.forget(name);
        self.volume_waits.forget(name);
    }
}

/// The last apply of each object, and the resulting version. The operator does not apply an unchanged object again, so a
/// reconcile without changes sends no request to the API server. The keys are the object's kind and name.
#[derive(Debug, Default)]
pub(crate) struct ApplyCache(Mutex<HashMap<(String, String), Entry>>);

/// One apply: the hash of the applied object, and the object's version after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    hash: u64,
    version: Version,
}

/// UID of an object, and its resource version.
pub(crate) type Version = (Option<String>, Option<String>);

impl Entry {
    /// Creates the entry for an apply of `wanted` after which the object had `version`.
    pub(crate) fn new(wanted: &impl Serialize, version: Version) -> Self {
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(wanted).unwrap_or_default().hash(&mut hasher);
        Self { hash: hasher.finish(), version }
    }
}

impl ApplyCache {
    pub(crate) fn contains(&self, key: &(String, String), entry: &Entry) -> bool {
        lock(&self.0).get(key) == Some(entry)
    }

    pub(crate) fn record(&self, key: (String, String), entry: Entry) {
        lock(&self.0).insert(key, entry);
    }

    /// Removes the entries of a Workshop that is gone.
    pub(crate) fn forget(&self, name: &str) {
        lock(&self.0).retain(|(_, of), _| of != name);
    }
}

/// Exponential backoff of failed reconciles, separately for each Workshop: the number of its consecutive failures, by name.
#[derive(Debug, Default)]
pub(crate) struct Backoff(Mutex<HashMap<String, u32>>);

impl Backoff {
    /// Counts a failed reconcile, and returns the delay before the next one.
    pub(crate) fn failed(&self, name: &str) -> Duration {
        let mut failures = lock(&self.0);
        let count = failures.entry(name.to_owned()).or_default();
        let delay = FIRST_DELAY.saturating_mul(1 << (*count).min(16)).min(LONGEST_DELAY);
        *count = count.saturating_add(1);
        delay
    }

    /// Resets the backoff of a Workshop after a successful reconcile or its deletion.
    pub(crate) fn forget(&self, name: &str) {
        lock(&self.0).remove(name);
    }
}

/// Time at which the operator first saw one condition, for each Workshop that is in this condition now. Used for conditions
/// that the cluster reports without a start time.
#[derive(Debug, Default)]
pub(crate) struct FirstSeen(Mutex<HashMap<String, Timestamp>>);

impl FirstSeen {
    /// Records that the Workshop is in the condition, and returns the time at which this was first recorded.
    pub(crate) fn record(&self, name: &str, now: Timestamp) -> Timestamp {
        *lock(&self.0).entry(name.to_owned()).or_insert(now)
    }

    /// Returns the number of Workshops that are in the condition.
    pub(crate) fn count(&self) -> usize {
        lock(&self.0).len()
    }

    /// Removes a Workshop that is gone or no longer in the condition.
    pub(crate) fn forget(&self, name: &str) {
        lock(&self.0).remove(name);
    }
}

/// Names of the Workshops for which the operator creates a pod with a volume, by the volume, until they end. The watch cache
/// does not have the pod yet when the next reconcile runs.
#[derive(Debug, Default)]
pub(crate) struct VolumeUsers(Mutex<HashMap<String, String>>);

impl VolumeUsers {
    /// Reserves the volume for a Workshop. Returns the name of the Workshop for which it is reserved.
    pub(crate) fn reserve(&self, volume: &str, workshop: &str) -> String {
        lock(&self.0).entry(volume.to_owned()).or_insert_with(|| workshop.to_owned()).clone()
    }

    /// Removes the reservation of a Workshop that has ended.
    pub(crate) fn forget(&self, workshop: &str) {
        lock(&self.0).retain(|_, user| user != workshop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_workshop_has_no_entries_and_others_keep_theirs() {
        let cache = ApplyCache::default();
        let entry = Entry::new(&"object", (Some("uid".to_owned()), Some("1".to_owned())));
        let key = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
        let keys = [key("Ingress", "gone"), key("Service", "gone"), key("Ingress", "other")];
        for key in &keys {
            cache.record(key.clone(), entry.clone());
        }
        cache.forget("gone");
        assert_eq!(keys.map(|key| cache.contains(&key, &entry)), [false, false, true]);
    }

    #[test]
    fn backoff_is_exponential_and_separate_for_each_workshop() {
        let backoff = Backoff::default();
        let delays: Vec<u128> = (0..9).map(|_| backoff.failed("a").as_millis()).collect();
        assert_eq!(delays, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
        assert_eq!(backoff.failed("b"), FIRST_DELAY);
        backoff.forget("a");
        assert_eq!(backoff.failed("a"), FIRST_DELAY);
    }

    #[test]
    fn backoff_never_exceeds_maximum_after_100_failures() {
        let backoff = Backoff::default();
        assert!((0..100).map(|_| backoff.failed("a")).all(|delay| delay <= LONGEST_DELAY));
    }

    #[test]
    fn volume_is_reserved_until_its_workshop_has_ended() {
        let users = VolumeUsers::default();
        assert_eq!(users.reserve("work-a", "one"), "one");
        assert_eq!(users.reserve("work-a", "one"), "one", "the pod is created again");
        assert_eq!(users.reserve("work-a", "other"), "one");
        assert_eq!(users.reserve("work-b", "other"), "other");
        users.forget("one");
        assert_eq!(users.reserve("work-a", "other"), "other");
    }
}
