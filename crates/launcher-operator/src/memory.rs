//! The memory of the operator: facts about a Workshop that no object in the cluster stores. A new leadership begins without
//! any.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use launcher_domain::sync::lock;
use serde::Serialize;

use crate::diagnose::is_disrupted;
use crate::metadata::workshop_uid;

const FIRST_DELAY: Duration = Duration::from_millis(250);
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// Facts about each Workshop, by uid: a later Workshop with the same name inherits none of them.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<HashMap<String, Facts>>);

/// A condition that the cluster reports without its beginning. The operator remembers when it first saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    PullFails,
    /// The API server refuses an apply.
    Refused,
    VolumeInUse,
    /// The status lacks a step of the start.
    Unreported,
}

#[derive(Debug, Default)]
struct Facts {
    name: String,
    /// Number of its consecutive failed reconciles.
    failures: u32,
    /// Beginnings of the conditions in which it is now, in the order of [`Since`].
    since: [Option<Timestamp>; 4],
    /// Last apply of each of its objects, by kind.
    applied: Vec<(&'static str, LastApply)>,
    /// Last version of its last disrupted pod, also after the pod is gone. The cluster can delete a pod at once: the watch
    /// cache then has no pod. Only this version shows that the cluster deleted it, and not an administrator.
    disrupted: Option<Box<Pod>>,
    /// Volume for which the operator creates its pod. The watch cache does not have the pod yet when the next reconcile runs.
    volume: Option<String>,
}

/// The last apply of an object: a hash of the applied object, and of the object's uid and resource version after it. The operator does not
/// apply an unchanged object again, so a reconcile without changes sends no request to the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LastApply(u64);

impl LastApply {
    /// Describes an apply of `wanted` after which the object had this metadata.
    pub(crate) fn new(wanted: &impl Serialize, after: &ObjectMeta) -> Self {
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(wanted).unwrap_or_default().hash(&mut hasher);
        (&after.uid, &after.resource_version).hash(&mut hasher);
        Self(hasher.finish())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id<'a> {
    pub(crate) name: &'a str,
    pub(crate) uid: &'a str,
}

impl<'a> Id<'a> {
    pub(crate) fn of(workshop: &'a ObjectMeta) -> Self {
        let [name, uid] = [&workshop.name, &workshop.uid].map(|text| text.as_deref().unwrap_or_default());
        Self { name, uid }
    }

    fn facts(self, all: &mut HashMap<String, Facts>) -> &mut Facts {
        all.entry(self.uid.to_owned()).or_insert_with(|| Facts { name: self.name.to_owned(), ..Facts::default() })
    }
}

impl Memory {
    fn change<T>(&self, id: Id<'_>, change: impl FnOnce(&mut Facts) -> T) -> T {
        change(id.facts(&mut lock(&self.0)))
    }

    /// Changes what is known. Does nothing for an unknown Workshop: it may be gone.
    fn change_known(&self, uid: &str, change: impl FnOnce(&mut Facts)) {
        if let Some(facts) = lock(&self.0).get_mut(uid) {
            change(facts);
        }
    }

    /// Forgets a Workshop whose workload is deleted.
    pub(crate) fn forget(&self, uid: &str) {
        lock(&self.0).remove(uid);
    }

    /// Forgets the Workshops of this name, none of which exists.
    pub(crate) fn forget_name(&self, name: &str) {
        lock(&self.0).retain(|_, facts| facts.name != name);
    }

    /// Counts a failed reconcile, and returns the delay before the next one: exponential, for each Workshop.
    pub(crate) fn failed(&self, id: Id<'_>) -> Duration {
        self.change(id, |facts| {
            let delay = FIRST_DELAY.saturating_mul(1 << facts.failures.min(16)).min(LONGEST_DELAY);
            facts.failures = facts.failures.saturating_add(1);
            delay
        })
    }

    /// Resets the backoff after a successful reconcile.
    pub(crate) fn succeeded(&self, uid: &str) {
        self.change_known(uid, |facts| facts.failures = 0);
    }

    /// Records that the Workshop is in a condition, and returns the time at which this was first recorded.
    pub(crate) fn record(&self, id: Id<'_>, condition: Since, now: Timestamp) -> Timestamp {
        self.change(id, |facts| *facts.since[condition as usize].get_or_insert(now))
    }

    /// Records that the Workshop is no longer in these conditions.
    pub(crate) fn clear(&self, uid: &str, conditions: &[Since]) {
        self.change_known(uid, |facts| conditions.iter().for_each(|one| facts.since[*one as usize] = None));
    }

    pub(crate) fn count(&self, condition: Since) -> usize {
        lock(&self.0).values().filter(|facts| facts.since[condition as usize].is_some()).count()
    }

    /// True if this was the last apply of the Workshop's object of a kind.
    pub(crate) fn is_applied(&self, uid: &str, kind: &'static str, applied: LastApply) -> bool {
        lock(&self.0).get(uid).is_some_and(|facts| facts.applied.contains(&(kind, applied)))
    }

    pub(crate) fn record_applied(&self, id: Id<'_>, kind: &'static str, applied: LastApply) {
        self.change(id, |facts| {
            facts.applied.retain(|(of, _)| *of != kind);
            facts.applied.push((kind, applied));
        });
    }

    /// Notes a new version of a pod. A disruption can be cancelled.
    pub(crate) fn observe_pod(&self, pod: &Pod) {
        let (Some(name), Some(uid)) = (&pod.metadata.name, workshop_uid(&pod.metadata)) else { return };
        if is_disrupted(pod) {
            self.change(Id { name, uid }, |facts| facts.disrupted = Some(Box::new(pod.clone())));
        } else {
            let is_other = |known: &mut Box<Pod>| known.metadata.uid != pod.metadata.uid;
            self.change_known(uid, |facts| facts.disrupted = facts.disrupted.take_if(is_other));
        }
    }

    /// Returns the last disrupted pod of a Workshop. The pod counts as being deleted.
    pub(crate) fn disrupted_pod(&self, uid: &str) -> Option<Pod> {
        let mut pod = (**lock(&self.0).get(uid)?.disrupted.as_ref()?).clone();
        let unknown = || Time(pod.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0));
        pod.metadata.deletion_timestamp = Some(pod.metadata.deletion_timestamp.clone().unwrap_or_else(unknown));
        Some(pod)
    }

    /// Reserves a volume until the Workshop has ended. Returns the name of another Workshop for which it is reserved. An earlier
    /// Workshop of the same name reserves nothing: its pod has the name of the new one, so both cannot exist.
    pub(crate) fn reserve(&self, id: Id<'_>, volume: &str) -> Option<String> {
        let mut all = lock(&self.0);
        let mut others = all.values().filter(|facts| facts.name != id.name);
        let user = others.find(|facts| facts.volume.as_deref() == Some(volume)).map(|facts| facts.name.clone());
        if user.is_none() {
            id.facts(&mut all).volume = Some(volume.to_owned());
        }
        user
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Id<'_> = Id { name: "lab", uid: "1" };
    /// A later Workshop of the same name.
    const NEXT: Id<'_> = Id { name: "lab", uid: "2" };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn later_workshop_of_the_same_name_inherits_nothing() {
        let memory = Memory::default();
        let applied = LastApply::new(&"object", &ObjectMeta::default());
        memory.failed(ONE);
        memory.record(ONE, Since::PullFails, at(1));
        memory.record_applied(ONE, "Service", applied);

        assert_eq!(memory.failed(NEXT), FIRST_DELAY);
        assert_eq!(memory.record(NEXT, Since::PullFails, at(9)), at(9));
        assert!(!memory.is_applied("2", "Service", applied));
        memory.forget("1");
        assert_eq!(memory.record(NEXT, Since::PullFails, at(10)), at(9));
        assert!(!memory.is_applied("1", "Service", applied));
        memory.forget_name("lab");
        assert!(lock(&memory.0).is_empty());
    }

    #[test]
    fn workshop_that_is_gone_is_not_remembered_again() {
        let memory = Memory::default();
        memory.failed(ONE);
        memory.forget("1");
        memory.succeeded("1");
        memory.clear("1", &[Since::Refused]);
        assert!(lock(&memory.0).is_empty());
    }

    #[test]
    fn backoff_is_exponential_and_separate_for_each_workshop() {
        let memory = Memory::default();
        let delays: Vec<u128> = (0..9).map(|_| memory.failed(ONE).as_millis()).collect();
        assert_eq!(delays, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
        assert_eq!(memory.failed(NEXT), FIRST_DELAY);
        memory.succeeded("1");
        assert_eq!(memory.failed(ONE), FIRST_DELAY);
        assert!((0..100).map(|_| memory.failed(ONE)).all(|delay| delay <= LONGEST_DELAY));
    }

    #[test]
    fn conditions_are_counted_and_cleared_separately() {
        let memory = Memory::default();
        memory.record(ONE, Since::Unreported, at(1));
        memory.record(NEXT, Since::Unreported, at(2));
        memory.record(ONE, Since::Refused, at(3));
        memory.clear("1", &[Since::Unreported]);
        assert_eq!((memory.count(Since::Unreported), memory.count(Since::Refused)), (1, 1));
        assert_eq!(memory.record(ONE, Since::Refused, at(4)), at(3));
    }

    #[test]
    fn volume_is_reserved_until_its_workshop_has_ended() {
        let memory = Memory::default();
        let other = Id { name: "other", uid: "3" };
        assert_eq!(memory.reserve(ONE, "work-a"), None);
        assert_eq!(memory.reserve(ONE, "work-a"), None, "the pod is created again");
        assert_eq!(memory.reserve(NEXT, "work-a"), None, "the end of the first one was not seen yet");
        assert_eq!(memory.reserve(other, "work-a").as_deref(), Some("lab"));
        assert_eq!(memory.reserve(other, "work-b"), None);
        memory.forget_name("lab");
        assert_eq!(memory.reserve(other, "work-a"), None);
    }
}
