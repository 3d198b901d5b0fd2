//! Disruptions: the cluster ends a pod, for example because its node is drained or lost.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use launcher_domain::{Crash, FailureCode};

use super::failure::{Failure, sentence};
use super::pod::condition;

/// The end of a pod by the cluster.
pub(super) struct Disruption {
    /// Failure of a Workshop whose files end with the pod. The work is lost, so its owner must learn of it.
    pub(super) failure: Failure,
    /// Time of the disruption, in whole seconds. `None` if the cluster does not report it.
    at: Option<Timestamp>,
    /// True if another pod can continue with files outside the pod. False if the kubelet evicted the pod: it may have used too
    /// much memory or disk itself, and its successor would, too.
    pub(super) has_successor: bool,
}

/// Returns the disruption of a pod.
pub(super) fn find_disruption(pod: &Pod) -> Option<Disruption> {
    let status = pod.status.as_ref()?;
    let reason = status.reason.as_deref().unwrap_or_default();
    let disrupted = condition(pod, "DisruptionTarget").filter(|condition| condition.status == "True");
    let why = disrupted.and_then(|condition| condition.reason.as_deref()).unwrap_or_default();
    let code = match (reason, why) {
        ("NodeLost", _) | (_, "DeletionByTaintManager" | "DeletionByPodGC") => FailureCode::NodeLost,
        ("Evicted", _) | (_, "TerminationByKubelet" | "PreemptionByScheduler" | "EvictionByEvictionAPI") => {
            FailureCode::Evicted
        }
        _ => return None,
    };
    let detail = status.message.as_deref().or_else(|| disrupted.and_then(|condition| condition.message.as_deref()));
    let failure = Failure::new(code, detail.map(|detail| sentence(detail).into()));
    let told = disrupted.and_then(|condition| condition.last_transition_time.as_ref());
    let at = told.or(pod.metadata.deletion_timestamp.as_ref()).map(|time| time.0);
    Some(Disruption { failure, at, has_successor: reason != "Evicted" })
}

/// True if the cluster ends the pod.
pub(crate) fn is_disrupted(pod: &Pod) -> bool {
    find_disruption(pod).is_some()
}

/// True if the cluster ends the pod, and the Workshop gets no other one. `keeps_files` is true if the files of the Workshop
/// are outside the pod.
pub(crate) fn ends_workshop(pod: &Pod, keeps_files: bool) -> bool {
    find_disruption(pod).is_some_and(|disruption| !(keeps_files && disruption.has_successor))
}

/// Returns the disruption of these pods as a crash, after which the app starts again in another pod with the same files.
pub(crate) fn moved(pods: &[Pod]) -> Option<Crash> {
    let mut ending = pods.iter().filter(|pod| is_ending(pod));
    let disruption = ending.find_map(find_disruption).filter(|disruption| disruption.has_successor)?;
    Some(Crash { at: disruption.at?, code: disruption.failure.reason.code, files_lost: false })
}

/// True if the containers of the pod end. The cluster announces a disruption before it ends the pod, and can cancel it.
pub(super) fn is_ending(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let has_ended = matches!(status.and_then(|status| status.phase.as_deref()), Some("Failed" | "Succeeded"));
    has_ended || pod.metadata.deletion_timestamp.is_some()
}
