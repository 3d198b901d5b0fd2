//! Crashes of an app whose files outlive them, and which the kubelet starts again in place.
//!
//! Pods have the restart policy `Always`. The kubelet starts an ended container again: at once after the first crash,
//! and after 10 s, 20 s and so on if crashes repeat. The state of the container during this backoff is
//! `CrashLoopBackOff`. Every reconcile in this time sees the same crash. The operator therefore identifies a crash by
//! its number in the pod, which follows from the kubelet's restart count.
//!
//! Kubernetes keeps only the time of the latest crash. The operator stores the times of earlier ones in an annotation
//! of the pod, so they survive a restart of the operator. A replaced pod loses them, like the restart count on which
//! they depend.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use launcher_domain::crash::CrashVerdict;
use launcher_domain::{Crash, FailureCode};
use launcher_workshop::Workshop;

use super::container::{app, is_out_of_memory, terminated};
use super::pod::{find_disruption, has_ended};
use crate::metadata::CrashRecord;

/// Crashes of an app that may start again in place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AppCrashes {
    /// Reaction to the latest crash. [`CrashVerdict::StartAgain`] before the first crash.
    pub(crate) verdict: CrashVerdict,
    /// Latest crash, if the app starts again after it.
    pub(crate) last: Option<Crash>,
    /// Annotation that the pod does not have yet.
    pub(crate) unrecorded: Option<UnrecordedCrash>,
}

/// The annotation of a pod with a new crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnrecordedCrash {
    pub(crate) pod: String,
    /// The pod's uid. Its successor has the same name, and none of its crashes.
    pub(crate) uid: Option<String>,
    /// Value of the annotation.
    pub(crate) value: String,
}

/// Returns the crashes of the app in its pod. Returns `None` if the app does not start again in place: its files
/// would end with the crash, its workshop was never ready, or the pod is ending.
pub(crate) fn app_crashes(workshop: &Workshop, pods: &[Pod]) -> Option<AppCrashes> {
    let has_storage = workshop.spec.storage.is_some();
    let ready_at = workshop.status.as_ref()?.ready_at?;
    let pod = pods.iter().find(|pod| restarts_containers(pod) && (has_storage || CrashRecord::exists(pod)))?;
    let before = CrashRecord::of(pod);
    let latest = LatestCrash::of(pod).filter(|crash| crash.is_counted(&before, ready_at));
    let after = latest.as_ref().map_or_else(|| before.clone(), |crash| with(&before, crash, ready_at));
    let verdict = after.verdict();
    let unrecorded =
        (after != before).then(|| UnrecordedCrash { pod: pod.name_any(), uid: pod.uid(), value: after.to_text() });
    let last = latest.filter(|_| verdict == CrashVerdict::StartAgain);
    let last = last.map(|LatestCrash { at, code, .. }| Crash { at, code, files_lost: after.files_lost });
    Some(AppCrashes { verdict, last, unrecorded })
}

/// False if the cluster or an admin ends the pod: its containers then end without a crash.
fn restarts_containers(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_none() && !has_ended(pod) && find_disruption(pod).is_none()
}

/// The latest crash of the app in a pod, as the kubelet reports it.
struct LatestCrash {
    /// Number of the crash in the pod, from 1.
    number: i32,
    /// Start of the run that ended with this crash.
    started: Option<Timestamp>,
    /// Time of the crash, in whole seconds.
    at: Timestamp,
    code: FailureCode,
}

impl LatestCrash {
    /// Returns `None` if the app has not ended, or if the kubelet does not know when it ended.
    fn of(pod: &Pod) -> Option<Self> {
        let status = app(pod)?;
        let ended = terminated(status)?;
        let runs = status.state.as_ref().is_some_and(|state| state.running.is_some());
        Some(Self {
            // The restart count increases when the kubelet creates the next container, which is after the backoff.
            number: status.restart_count + i32::from(!runs),
            started: ended.started_at.as_ref().map(|time| time.0),
            at: ended.finished_at.as_ref()?.0,
            code: if is_out_of_memory(status) { FailureCode::OutOfMemory } else { FailureCode::Crashed },
        })
    }

    /// True if the crash is in the record, or belongs there. A crash before the workshop was first ready does not count.
    fn is_counted(&self, record: &CrashRecord, ready_at: Timestamp) -> bool {
        self.number <= record.number || self.at.as_second() >= ready_at.as_second()
    }
}

/// Returns the record with this crash, which it may have already.
///
/// If two crashes happened since the last reconcile, the time of the first one is unknown. The start of the next run
/// replaces it: the kubelet starts the app soon after a crash. Earlier unseen crashes are not counted.
fn with(record: &CrashRecord, crash: &LatestCrash, ready_at: Timestamp) -> CrashRecord {
    if crash.number <= record.number {
        return record.clone();
    }
    let is_unseen = crash.number > record.number.saturating_add(1);
    let unseen = crash.started.filter(|at| is_unseen && at.as_second() > ready_at.as_second());
    record.with(crash.number, unseen.into_iter().chain([crash.at]))
}
