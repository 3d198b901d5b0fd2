//! Crashes of an app whose files outlive them, and which the kubelet starts again in place.
//!
//! Pods have the restart policy `Always`. The kubelet starts an ended container again: at once after the first crash,
//! and after 10 s, 20 s and so on if crashes repeat. The state of the container during this backoff is
//! `CrashLoopBackOff`. Every reconcile in this time sees the same crash. The operator therefore identifies a crash by
//! its number in the pod, which follows from the kubelet's restart count.
//!
//! A crash before the workshop was first ready does not count. When the app is ready for the first time, the operator
//! records the number of these crashes. It does not compare times, because the clock of the node may differ from its own.
//!
//! Kubernetes keeps only the time of the latest crash. The operator stores the times of earlier ones in an annotation
//! of the pod, so they survive a restart of the operator. A replaced pod loses them, like the restart count on which
//! they depend.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use launcher_domain::{Crash, FailureCode};
use launcher_workshop::Workshop;
use launcher_workshop::lifecycle::{AppCrash, was_ready};

use super::container::{app, crash_failure, is_out_of_memory, runs, terminated};
use super::failure::DetailSource;
use super::pod::{find_disruption, has_ended};
use crate::metadata::CrashRecord;

/// The annotation of a pod with a new crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecordedCrash {
    pub(crate) pod: String,
    /// The pod's uid. Its successor has the same name, and none of its crashes.
    pub(crate) uid: Option<String>,
    pub(crate) value: String,
}

/// Returns the latest crash of the app in its pod, and the annotation that the pod does not have yet. Returns `None` if the
/// app does not start again in place: its files would end with the crash, its workshop was never ready, or the pod is ending.
pub(super) fn app_crashes(
    workshop: &Workshop,
    pods: &[Pod],
) -> Option<(Option<AppCrash<DetailSource>>, Option<UnrecordedCrash>)> {
    let pod = find_pod(workshop, pods).filter(|_| was_ready(workshop))?;
    let before = CrashRecord::of(pod);
    let Some(latest) = LatestCrash::of(pod).filter(|crash| crash.is_counted(&before)) else {
        return Some((None, None));
    };
    let after = with(&before, &latest);
    let unrecorded = (after != before).then(|| unrecorded(pod, &after));
    let crash = Crash { at: latest.at, code: latest.code, files_lost: after.files_lost };
    let failure = crash_failure(pod, app(pod)?);
    Some((Some(AppCrash { crash, history: after.crashes, failure }), unrecorded))
}

/// Returns the annotation with the number of crashes before the first readiness, if there were any. It must be written before
/// the status that reports the readiness.
pub(crate) fn crashes_before_readiness(workshop: &Workshop, pods: &[Pod]) -> Option<UnrecordedCrash> {
    let pod = find_pod(workshop, pods).filter(|_| !was_ready(workshop))?;
    let (before, latest) = (CrashRecord::of(pod), LatestCrash::of(pod)?);
    (latest.number > before.number).then(|| unrecorded(pod, &CrashRecord { number: latest.number, ..before }))
}

/// Returns the pod whose app starts again in place.
fn find_pod<'a>(workshop: &Workshop, pods: &'a [Pod]) -> Option<&'a Pod> {
    let has_storage = workshop.spec.storage.is_some();
    pods.iter().find(|pod| restarts_containers(pod) && (has_storage || CrashRecord::exists(pod)))
}

fn unrecorded(pod: &Pod, record: &CrashRecord) -> UnrecordedCrash {
    UnrecordedCrash { pod: pod.name_any(), uid: pod.uid(), value: record.to_text() }
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
        Some(Self {
            // The restart count increases when the kubelet creates the next container, which is after the backoff.
            number: status.restart_count + i32::from(!runs(status)),
            started: ended.started_at.as_ref().map(|time| time.0),
            at: ended.finished_at.as_ref()?.0,
            code: if is_out_of_memory(status) { FailureCode::OutOfMemory } else { FailureCode::Crashed },
        })
    }

    /// True if the crash is in the record, or belongs there. A record without times has only the number of crashes that do
    /// not count.
    fn is_counted(&self, record: &CrashRecord) -> bool {
        self.number > record.number || !record.crashes.is_empty()
    }
}

/// Returns the record with this crash, which it may have already.
///
/// If two crashes happened since the last reconcile, the time of the first one is unknown. The start of the next run
/// replaces it: the kubelet starts the app soon after a crash. Earlier unseen crashes are not counted.
fn with(record: &CrashRecord, crash: &LatestCrash) -> CrashRecord {
    if crash.number <= record.number {
        return record.clone();
    }
    let is_unseen = crash.number > record.number.saturating_add(1);
    let unseen = crash.started.filter(|_| is_unseen);
    let mut after = CrashRecord { number: crash.number, ..record.clone() };
    unseen.into_iter().chain([crash.at]).for_each(|at| after.crashes.record(at));
    after
}
