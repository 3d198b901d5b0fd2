//! The simulated cluster: its garbage collector deletes orphaned objects, and its nodes run pods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::FailureCode;
use launcher_operator::build::plurals;
use serde_json::Value;

use crate::objects::{Objects, is_leaving, owner, text};
use crate::pods::Story;
use crate::seeded::SeededRng;
use crate::server::Server;
use crate::trace::Trace;

/// Kinds of objects that Workshops own.
pub(crate) fn kinds_below() -> impl Iterator<Item = &'static str> {
    plurals().chain(["secrets"])
}

/// The cluster's controllers and nodes.
#[derive(Debug)]
pub(crate) struct Cluster {
    seed: u64,
    server: Server,
    trace: Trace,
    rng: SeededRng,
    /// The life of each pod, by its UID.
    stories: BTreeMap<String, Story>,
    /// Removal time of each terminating pod, by its UID.
    gone_at: BTreeMap<String, Duration>,
    made: BTreeMap<String, usize>,
    /// Number of pods created before the deletion or end of their Workshop, by its name and its UID.
    pub(crate) pods: BTreeMap<String, BTreeMap<String, usize>>,
    /// Failure codes that each Workshop may report, given the faults of its pods.
    pub(crate) causes: BTreeMap<String, BTreeSet<&'static str>>,
    /// Workshops that may have more than one pod, because an object was deleted by hand or the pod was evicted or lost.
    pub(crate) disturbed: BTreeSet<String>,
    pub(crate) lazy: bool,
}

impl Cluster {
    pub(crate) fn new(seed: u64, server: &Server, trace: &Trace) -> Self {
        Self {
            seed,
            server: server.clone(),
            trace: trace.clone(),
            rng: SeededRng::about(seed, "machines"),
            stories: BTreeMap::new(),
            gone_at: BTreeMap::new(),
            made: BTreeMap::new(),
            pods: BTreeMap::new(),
            causes: BTreeMap::new(),
            disturbed: BTreeSet::new(),
            lazy: true,
        }
    }

    /// Runs one step of each controller and of the nodes. While the cluster is slow, some of them skip the step. Returns
    /// true if an object changed.
    pub(crate) fn work(&mut self) -> bool {
        let server = self.server.clone();
        let busy = |rng: &mut SeededRng, lazy: bool| !lazy || rng.happens(700);
        let [collects, runs] = [(); 2].map(|()| busy(&mut self.rng, self.lazy));
        server.change(|objects| {
            let before = objects.version;
            if collects {
                self.collect(objects);
            }
            self.note_pods(objects);
            if runs {
                self.run_pods(objects);
            }
            objects.version != before
        })
    }

    /// Garbage collector: removes terminating objects without dependents, and orphaned objects.
    fn collect(&mut self, objects: &mut Objects) {
        let now = self.server.time.now();
        for workshop in objects.of("workshops").iter().filter(|one| is_leaving(one)) {
            let below = below(objects, text(workshop, "/metadata/uid"));
            for (kind, object) in &below {
                delete_object(objects, kind, object, now);
            }
            if below.is_empty() {
                self.trace.say(&format!("the Workshop {} is gone", text(workshop, "/metadata/name")));
                objects.remove("workshops", text(workshop, "/metadata/name"));
            }
        }
        let all: Vec<Arc<Value>> = objects.there.values().flat_map(BTreeMap::values).cloned().collect();
        let there: BTreeSet<&str> = all.iter().map(|object| text(object, "/metadata/uid")).collect();
        for kind in kinds_below() {
            for object in objects.of(kind).iter().filter(|object| !there.contains(owner(object))) {
                delete_object(objects, kind, object, now);
            }
        }
    }

    /// Counts each new pod, and determines its life.
    fn note_pods(&mut self, objects: &Objects) {
        let passed = self.server.time.passed();
        for pod in objects.of("pods") {
            let uid = text(&pod, "/metadata/uid");
            if self.stories.contains_key(uid) {
                continue;
            }
            let name = text(&pod, "/metadata/name").to_owned();
            let made = self.made.entry(name.clone()).or_default();
            *made += 1;
            let story = Story::draw(&mut SeededRng::about(self.seed, &format!("pod {name}-{made}")), passed);
            self.trace.say(&format!("the pod {name} is made, number {made}: {:?}", story.life));
            if is_wanted(objects, &name, owner(&pod)) {
                *self.pods.entry(name).or_default().entry(owner(&pod).to_owned()).or_default() += 1;
            }
            self.stories.insert(uid.to_owned(), story);
        }
    }

    /// Nodes: update the status of pods, and remove terminating ones.
    fn run_pods(&mut self, objects: &mut Objects) {
        let (now, passed) = (self.server.time.now(), self.server.time.passed());
        for pod in objects.of("pods") {
            let uid = text(&pod, "/metadata/uid");
            let Some(story) = self.stories.get_mut(uid) else { continue };
            let (age, cause) = (story.age(passed), story.cause(passed));
            let mut pod = pod.clone();
            // Only this function writes the status, which depends on nothing else.
            if story.shown.replace(age) != Some(age) {
                let mut next = (*pod).clone();
                next["status"] = story.status(passed, &pod["status"], now);
                pod = objects.change("pods", &pod, next);
            }
            if story.is_lost(passed) && !is_leaving(&pod) {
                objects.mark("pods", &pod, now);
            }
            if let Some(cause) = cause {
                self.note(text(&pod, "/metadata/ownerReferences/0/name"), cause);
            }
            if is_leaving(&pod) {
                let slow = self.rng.happens(30);
                let (least, most) = if slow { (20_000, 60_000) } else { (0, 4_000) };
                let stays = self.rng.millis(least, most);
                if *self.gone_at.entry(uid.to_owned()).or_insert(passed + stays) <= passed {
                    objects.remove("pods", text(&pod, "/metadata/name"));
                }
            }
        }
    }

    fn note(&mut self, workshop: &str, cause: FailureCode) {
        if self.causes.get(workshop).is_some_and(|causes| causes.contains(cause.as_str())) {
            return;
        }
        if matches!(cause, FailureCode::Evicted | FailureCode::NodeLost) {
            self.disturbed.insert(workshop.to_owned());
        }
        if self.causes.entry(workshop.to_owned()).or_default().insert(cause.as_str()) {
            self.trace.say(&format!("{workshop} may fail: {}", cause.as_str()));
        }
    }
}

fn below(objects: &Objects, identity: &str) -> Vec<(&'static str, Arc<Value>)> {
    let of = |kind: &'static str| objects.of(kind).into_iter().map(move |object| (kind, object));
    kinds_below().flat_map(of).filter(|(_, object)| owner(object) == identity).collect()
}

/// True when a Workshop exists, is not terminating, and has not ended. An operator with a stale watch cache may create
/// a workload for a deleted Workshop; the garbage collector deletes that workload.
fn is_wanted(objects: &Objects, name: &str, identity: &str) -> bool {
    objects.get("workshops", name).is_some_and(|workshop| {
        let over = matches!(text(workshop, "/status/phase"), "Failed" | "Expired");
        text(workshop, "/metadata/uid") == identity && !is_leaving(workshop) && !over
    })
}

/// Deletes an object: pods terminate gradually, others are removed at once.
fn delete_object(objects: &mut Objects, kind: &str, object: &Arc<Value>, now: jiff::Timestamp) {
    if kind == "pods" {
        objects.mark(kind, object, now);
    } else {
        objects.remove(kind, text(object, "/metadata/name"));
    }
}
