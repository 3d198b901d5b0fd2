//! Diagnosis: derives the state of a workload from its pods. Pure.

mod container;
mod crashes;
mod failure;
mod pod;

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use launcher_domain::StartStep;
use launcher_domain::crash::CrashVerdict;
use launcher_domain::listening::LISTEN_GRACE;

use crate::settings::OperatorSettings;
pub(crate) use container::material_report;
pub(crate) use crashes::{AppCrashes, UnrecordedCrash, app_crashes};
use failure::Deadline;
pub use failure::{DetailSource, Failure};
pub(crate) use failure::{add, sentence};
use pod::{Disruption, find_disruption, is_ending};
pub(crate) use pod::{archive_address, condition, ends_workshop, has_ended, is_disrupted, moved, restore_address};

/// Interval of searches for a warning about a missing Secret, and for the listening sockets of an app. The kubelet may write
/// the warning after the first search.
const SEARCH_INTERVAL: Duration = Duration::from_secs(30);

/// The observed state of one workload.
#[derive(Debug, Clone, Copy)]
pub struct ObservedWorkload<'a> {
    /// The pods of the workload, in any order.
    pub pods: &'a [Pod],
    /// Time at which the wait for readiness began: the creation of the workload, or the last loss of readiness.
    pub waiting_since: Timestamp,
    /// Time at which the operator first saw the current failure of an image pull; `None` if no pull fails now.
    pub pull_fails_since: Option<Timestamp>,
    /// Reaction to the latest crash of an app that may start again in place. `None` if its files end with a crash,
    /// or if its workshop was never ready: it then fails when it exceeds its memory or crashes repeatedly.
    pub crash_verdict: Option<CrashVerdict>,
    /// True if the files of the workshop are outside the pod: another pod can continue with them.
    pub keeps_files: bool,
}

/// The diagnosed state of a workload.
#[derive(Debug, Clone, PartialEq)]
pub enum Diagnosis {
    /// The app answers.
    Ready,
    /// The app is not ready yet.
    Waiting {
        /// The current step of the start.
        step: StartStep,
        /// Time of the next deadline: reconcile again then, even without a change.
        until: Timestamp,
        /// Name of the pod, if it has waited so long for its volumes that the Secret of a volume may be missing.
        stuck_pod: Option<String>,
        /// Name of the pod, if its app has run for [`LISTEN_GRACE`] without an answer: it may listen on another port.
        silent_pod: Option<String>,
    },
    /// The workload cannot continue.
    Failed(Failure),
}

/// True if an image pull of one of these pods is failing. Pods that are being deleted do not count.
pub(crate) fn pull_fails(pods: &[Pod]) -> bool {
    let mut live = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    live.any(|pod| pod::failed_pull(pod).is_some())
}

/// Diagnoses a workload at `now`.
#[must_use]
pub fn diagnose(observed: &ObservedWorkload<'_>, settings: &OperatorSettings, now: Timestamp) -> Diagnosis {
    let disruption = observed.pods.iter().find_map(find_disruption);
    if let Some(Disruption { failure, has_successor, .. }) = &disruption
        && !(observed.keeps_files && *has_successor)
    {
        return Diagnosis::Failed(failure.clone());
    }
    // A terminating or disrupted pod can explain why it was removed, but not the state of its replacement.
    let is_live =
        |pod: &&Pod| pod.metadata.deletion_timestamp.is_none() && !(is_ending(pod) && find_disruption(pod).is_some());
    let live: Vec<&Pod> = observed.pods.iter().filter(is_live).collect();
    if let Some(failure) = live.iter().find_map(|pod| container::find_permanent_failure(pod, observed.crash_verdict)) {
        return Diagnosis::Failed(failure);
    }
    if live.iter().any(|pod| pod::is_ready(pod)) {
        return Diagnosis::Ready;
    }
    let too_late = || disruption.map_or_else(|| pod::start_timeout(&live), |disruption| disruption.failure);
    let start = Deadline::new(observed.waiting_since, settings.start_timeout, too_late);
    let pull_fails_since = observed.pull_fails_since.unwrap_or(now);
    let waits = live.iter().filter_map(|pod| pod::wait_deadline(pod, settings.room_grace, pull_fails_since));
    let deadlines: Vec<Deadline> = waits.chain([start]).collect();
    if let Some(passed) = deadlines.iter().find(|deadline| deadline.at <= now) {
        return Diagnosis::Failed(passed.failure.clone());
    }
    let mounts = settings.proxy_secret_name.as_ref().and_then(|_| pod::unprepared(live.first()?));
    let mounts_until = mounts.map(|since| add(since, settings.room_grace));
    let stuck_pod = mounts_until.filter(|at| *at <= now).and_then(|_| live.first()?.metadata.name.clone());
    let silent_from = live.first().and_then(|pod| pod::app_runs_since(pod)).map(|since| add(since, LISTEN_GRACE));
    let silent_pod = silent_from.filter(|at| *at <= now).and_then(|_| live.first()?.metadata.name.clone());
    let search = |from: Timestamp| if from > now { from } else { add(now, SEARCH_INTERVAL) };
    let searches = mounts_until.into_iter().chain(silent_from).map(search);
    let next = deadlines.iter().map(|deadline| deadline.at).chain(searches).min();
    // Without a pod, the workload is new, or its former pod is still there.
    let step = live.first().map_or(StartStep::Preparing, |pod| pod::step(pod));
    Diagnosis::Waiting { step, until: next.unwrap_or(now), stuck_pod, silent_pod }
}
