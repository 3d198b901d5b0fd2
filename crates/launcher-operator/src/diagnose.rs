//! Derives the state of a workload from its Deployment and pods. Pure.

mod container;
mod pod;

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::DeploymentStatus;
use k8s_openapi::api::core::v1::Pod;
use launcher_domain::{FailureCode, FailureReason, StartStep};

/// Drops the fields that the diagnosis does not read.
pub use crate::children::prune::pod as prune;
use crate::settings::OperatorSettings;

/// The observed state of one workload.
#[derive(Debug, Clone, Copy)]
pub struct ObservedWorkload<'a> {
    /// The Deployment's status, if it has one yet.
    pub deployment: Option<&'a DeploymentStatus>,
    /// Its pods, in any order.
    pub pods: &'a [Pod],
    /// When the wait for readiness began: the Deployment was created, or the workload stopped being ready.
    pub waiting_since: Timestamp,
    /// When an image pull was first seen to fail, if it fails now.
    pub pull_fails_since: Option<Timestamp>,
}

/// The state of a workload.
#[derive(Debug, Clone, PartialEq)]
pub enum Diagnosis {
    /// The app answers.
    Ready,
    /// The app is not ready yet.
    Waiting {
        /// The current step of the start.
        step: StartStep,
        /// Reconcile again at this time even without a change.
        until: Timestamp,
        /// The pod whose volumes or network are missing for so long that a volume's source may be missing.
        stuck_pod: Option<String>,
    },
    /// The workload cannot continue.
    Failed(Failure),
}

/// Why a workload cannot continue.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The reason, for the owner.
    pub reason: FailureReason,
    /// Where to find details.
    pub evidence: Evidence,
}

/// Where to find details of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// The reason is complete.
    None,
    /// The log of this pod's container.
    Log {
        /// The pod's name.
        pod: String,
        /// The container's name.
        container: String,
    },
    /// The events of this pod.
    Events {
        /// The pod's name.
        pod: String,
    },
}

impl Failure {
    fn new(code: FailureCode, detail: Option<&str>) -> Self {
        Self { reason: FailureReason::new(code, detail), evidence: Evidence::None }
    }
}

/// True if an image of these pods cannot be pulled.
pub(crate) fn pull_fails(pods: &[Pod]) -> bool {
    let mut live = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    live.any(|pod| pod::failed_pull(pod).is_some())
}

/// True if one of these pods is ready and not being deleted.
pub(crate) fn any_ready(pods: &[Pod]) -> bool {
    pods.iter().any(|pod| pod.metadata.deletion_timestamp.is_none() && pod::is_ready(pod))
}

/// Diagnoses a workload at `now`.
#[must_use]
pub fn diagnose(observed: &ObservedWorkload<'_>, settings: &OperatorSettings, now: Timestamp) -> Diagnosis {
    // A terminating pod explains only its own deletion, not the state of its successor.
    let live: Vec<&Pod> = observed.pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).collect();
    if let Some(failure) = observed.pods.iter().find_map(pod::find_disruption) {
        return Diagnosis::Failed(failure);
    }
    if let Some(failure) = live.iter().find_map(|pod| container::find_permanent_failure(pod)) {
        return Diagnosis::Failed(failure);
    }
    if live.iter().any(|pod| pod::is_ready(pod)) {
        return Diagnosis::Ready;
    }
    let start = Deadline::new(observed.waiting_since, settings.start_timeout, || pod::start_timeout(&live));
    let room = observed.deployment.and_then(|status| quota(status, settings.room_grace));
    let pull_fails_since = observed.pull_fails_since.unwrap_or(now);
    let waits = live.iter().filter_map(|pod| pod::wait_deadline(pod, settings.room_grace, pull_fails_since));
    let deadlines: Vec<Deadline> = waits.chain(room).chain([start]).collect();
    if let Some(passed) = deadlines.iter().find(|deadline| deadline.at <= now) {
        return Diagnosis::Failed(passed.failure.clone());
    }
    let mounts = settings.sidecar.proxy_secret.as_ref().and_then(|_| pod::unprepared(live.first()?));
    let mounts_until = mounts.map(|since| add(since, settings.room_grace));
    let stuck_pod = mounts_until.filter(|at| *at <= now).and_then(|_| live.first()?.metadata.name.clone());
    let next = deadlines.iter().map(|deadline| deadline.at).chain(mounts_until.filter(|at| *at > now)).min();
    let step = match live.first() {
        Some(pod) => pod::step(pod),
        // A Deployment creates its pod at once, unless it is refused.
        None if deadlines.len() > 1 => StartStep::WaitingForRoom,
        None => StartStep::Preparing,
    };
    Diagnosis::Waiting { step, until: next.unwrap_or(now), stuck_pod }
}

/// A wait that becomes a failure at a time.
struct Deadline {
    at: Timestamp,
    failure: Failure,
}

impl Deadline {
    fn new(since: Timestamp, grace: Duration, failure: impl FnOnce() -> Failure) -> Self {
        Self { at: add(since, grace), failure: failure() }
    }
}

/// Adds a duration to a time; saturates at the maximum.
pub(crate) fn add(time: Timestamp, duration: Duration) -> Timestamp {
    time.checked_add(duration).unwrap_or(Timestamp::MAX)
}

/// The Deployment cannot create its pod, because of a quota or a rule of the namespace.
fn quota(status: &DeploymentStatus, grace: Duration) -> Option<Deadline> {
    let condition = status.conditions.iter().flatten().find(|condition| {
        condition.type_.as_deref() == Some("ReplicaFailure") && condition.status.as_deref() == Some("True")
    })?;
    let since = condition.last_transition_time.as_ref()?.0;
    let message = condition.message.as_deref().unwrap_or_default();
    let code = if message.contains("exceeded quota") { FailureCode::QuotaExceeded } else { FailureCode::InvalidSpec };
    Some(Deadline::new(since, grace, || Failure::new(code, Some(&sentence(message)))))
}

/// Shortens a message of the cluster to one line for our own message.
pub(crate) fn sentence(message: &str) -> String {
    const MOST: usize = 300;
    let line: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MOST { line } else { line.chars().take(MOST).chain(['…']).collect() }
}
