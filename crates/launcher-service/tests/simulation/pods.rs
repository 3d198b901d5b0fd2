//! The life of a simulated pod: its status at each age, determined by the seed of the run.

use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::FailureCode;
use serde_json::{Value, json};

use crate::seeded::SeededRng;

/// Kind of life of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// The pod becomes ready and stays ready.
    Good,
    /// The pod becomes ready, and its app stops answering once for some time.
    Flapping,
    /// The pod waits for a node, and then becomes ready.
    WaitsForRoom,
    /// The pod never gets a node.
    NoRoom,
    /// The image of the pod does not exist.
    NoImage,
    /// The app crashes repeatedly.
    Crashing,
    /// The app never answers.
    Silent,
    /// The app exceeds its memory limit after it is ready.
    OutOfMemory,
    /// The node evicts the pod.
    Evicted,
    /// The node of the pod is lost.
    MachineLost,
}

/// One pod's life.
#[derive(Debug, Clone)]
pub(crate) struct Story {
    pub(crate) life: Life,
    pub(crate) born: Duration,
    /// Durations of the stages: until the pod is scheduled, runs, is ready, and until the failure of its kind occurs.
    stages: [Duration; 4],
    /// Stages that the status of the pod shows; `None` before its first status.
    pub(crate) shown: Option<Age>,
}

/// Stages that a pod has reached at its current age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Age {
    scheduled: bool,
    running: bool,
    ready: bool,
    struck: bool,
    recovered: bool,
}

impl Story {
    pub(crate) fn draw(rng: &mut SeededRng, born: Duration) -> Self {
        use Life::{
            Crashing, Evicted, Flapping, Good, MachineLost, NoImage, NoRoom, OutOfMemory, Silent, WaitsForRoom,
        };
        let others = [Flapping, WaitsForRoom, NoRoom, NoImage, Crashing, Silent, OutOfMemory, Evicted, MachineLost];
        let life = if rng.happens(550) { Good } else { *rng.pick(&others).unwrap() };
        let room = if life == WaitsForRoom { rng.millis(1_000, 12_000) } else { rng.millis(0, 800) };
        let stages = [room, rng.millis(0, 3_000), rng.millis(0, 6_000), rng.millis(500, 40_000)];
        Self { life, born, stages, shown: None }
    }

    pub(crate) fn age(&self, now: Duration) -> Age {
        let mut left = now.saturating_sub(self.born);
        let passed = self.stages.map(|stage| {
            let over = left >= stage;
            left = if over { left - stage } else { Duration::ZERO };
            over
        });
        let [scheduled, running, ready, struck] =
            [passed[0], passed[0] && passed[1], passed[0] && passed[1] && passed[2], passed.iter().all(|stage| *stage)];
        Age { scheduled, running, ready, struck, recovered: struck && left > Duration::from_secs(5) }
    }

    /// Returns the failure code that the Workshop of this pod may report at this time.
    pub(crate) fn cause(&self, now: Duration) -> Option<FailureCode> {
        let age = self.age(now);
        match self.life {
            Life::NoRoom => Some(FailureCode::Unschedulable),
            Life::WaitsForRoom if !age.scheduled => Some(FailureCode::Unschedulable),
            Life::NoImage if age.scheduled => Some(FailureCode::ImagePullFailed),
            Life::Crashing if age.running => Some(FailureCode::Crashed),
            Life::OutOfMemory if age.struck => Some(FailureCode::OutOfMemory),
            Life::Evicted if age.struck => Some(FailureCode::Evicted),
            Life::MachineLost if age.struck => Some(FailureCode::NodeLost),
            _ => None,
        }
    }

    /// True when the node of the pod is lost: the cluster then deletes the pod.
    pub(crate) fn is_lost(&self, now: Duration) -> bool {
        self.life == Life::MachineLost && self.age(now).struck
    }

    pub(crate) fn status(&self, now: Duration, before: &Value, time: Timestamp) -> Value {
        let age = self.age(now);
        let room = age.scheduled && self.life != Life::NoRoom;
        let running = room && age.running && self.life != Life::NoImage;
        let answers = running && age.ready && !matches!(self.life, Life::Crashing | Life::Silent);
        let down = age.struck && self.life == Life::Flapping && !age.recovered;
        let evicted = age.struck && self.life == Life::Evicted;
        let lost = self.is_lost(now);
        let killed = age.struck && self.life == Life::OutOfMemory;
        let ready = answers && ![down, evicted, lost, killed].contains(&true);
        let why = if matches!(self.life, Life::NoRoom | Life::WaitsForRoom) && !room { "Unschedulable" } else { "" };
        let mut conditions = vec![
            condition(before, "PodScheduled", room, why, time),
            condition(before, "PodReadyToStartContainers", room, "", time),
            condition(before, "Ready", ready, "", time),
        ];
        if lost {
            conditions.push(condition(before, "DisruptionTarget", true, "DeletionByTaintManager", time));
        }
        let mut status = json!({"phase": "Pending", "conditions": conditions});
        if room {
            let (state, last, restarts) = self.container(&age);
            status["phase"] = if running { "Running" } else { "Pending" }.into();
            status["containerStatuses"] = json!([{
                "name": "app", "ready": ready, "restartCount": restarts, "image": "x", "imageID": "",
                "state": state, "lastState": last,
            }]);
        }
        if evicted {
            status["phase"] = "Failed".into();
            status["reason"] = "Evicted".into();
        }
        status
    }

    fn container(&self, age: &Age) -> (Value, Value, u32) {
        let waits = |reason: &str| json!({"waiting": {"reason": reason}});
        let ended = |reason: &str| json!({"terminated": {"exitCode": 1, "reason": reason}});
        match self.life {
            Life::NoImage => (waits("ImagePullBackOff"), json!({}), 0),
            _ if !age.running => (waits("ContainerCreating"), json!({}), 0),
            Life::Crashing => (waits("CrashLoopBackOff"), ended("Error"), 3),
            Life::OutOfMemory if age.struck => (json!({"running": {}}), ended("OOMKilled"), 1),
            _ => (json!({"running": {}}), json!({}), 0),
        }
    }
}

/// Builds a pod condition. Its transition time is kept unless its status changes now.
fn condition(before: &Value, kind: &str, holds: bool, reason: &str, time: Timestamp) -> Value {
    let status = if holds { "True" } else { "False" };
    let known = before["conditions"].as_array().into_iter().flatten();
    let known = known.into_iter().find(|one| one["type"] == kind && one["status"] == status);
    let since = known.map_or_else(|| time.to_string().into(), |one| one["lastTransitionTime"].clone());
    json!({"type": kind, "status": status, "reason": reason, "lastTransitionTime": since})
}
