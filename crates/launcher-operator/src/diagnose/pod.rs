//! Diagnoses a pod: its conditions, its start step, its disruption by the cluster, and the address of its snapshot container.

use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ContainerStateWaiting, Pod, PodCondition};
use kube::ResourceExt;
use launcher_domain::{Crash, FailureCode, FailureDetail, StartStep};
use launcher_workshop::WorkshopSpec;
use launcher_workshop::lifecycle::Deadline;
use launcher_workshop::pod_template::SNAPSHOT;

use super::container::{
    app, is_loading_material, missing_parameters, runs, statuses, waiting, waits_for_image, waits_for_init,
    waits_for_saved_files,
};
use super::failure::{DetailSource, Failure, add, complete, sentence};
use crate::build::{APP_CONTAINER, snapshot_port};

/// Grace period before a failing image pull becomes a failure, because a registry may be unavailable briefly.
const PULL_GRACE: Duration = Duration::from_secs(15);

/// True if the pod is ready. Its sidecar is ready only while the app answers.
pub(super) fn is_ready(pod: &Pod) -> bool {
    condition(pod, "Ready").is_some_and(|condition| condition.status == "True")
}

/// Returns the deadline of a pod that waits for a node or for the Secret with its launch parameters, or whose image pull
/// fails; otherwise `None`.
pub(super) fn wait_deadline(
    pod: &Pod,
    room_grace: Duration,
    pull_fails_since: Timestamp,
) -> Option<Deadline<DetailSource>> {
    let scheduled = condition(pod, "PodScheduled");
    if let Some(scheduled) = scheduled.filter(|scheduled| is_unschedulable(scheduled)) {
        let detail = scheduled.message.as_deref().map(|message| sentence(message).into());
        let failure = complete(FailureCode::Unschedulable, detail);
        return Some(Deadline { at: add(since(pod, scheduled), room_grace), failure });
    }
    if let Some(message) = missing_parameters(pod) {
        let begin = scheduled.map_or_else(|| created(pod), |scheduled| since(pod, scheduled));
        let failure = complete(FailureCode::StartTimeout, Some(sentence(message).into()));
        return Some(Deadline { at: add(begin, room_grace), failure });
    }
    let detail = failed_pull(pod)?.message.as_deref().map(|message| sentence(message).into());
    Some(Deadline { at: add(pull_fails_since, PULL_GRACE), failure: complete(FailureCode::ImagePullFailed, detail) })
}

/// Returns the waiting state of a container whose image pull has failed. The kubelet retries the pull.
pub(super) fn failed_pull(pod: &Pod) -> Option<&ContainerStateWaiting> {
    statuses(pod)
        .filter_map(waiting)
        .find(|waiting| matches!(waiting.reason.as_deref(), Some("ErrImagePull" | "ImagePullBackOff")))
}

/// Returns the current step of the start, which the owner sees.
pub(super) fn step(pod: &Pod) -> StartStep {
    let holds = |kind| condition(pod, kind).is_some_and(|condition| condition.status == "True");
    let state = app(pod).and_then(|status| Some((status.state.as_ref()?, status.restart_count)));
    match state {
        Some((state, 0)) if state.running.is_some() => StartStep::StartingApp,
        Some((state, restarts)) if restarts > 0 || state.terminated.is_some() => StartStep::RestartingApp,
        _ if is_loading_material(pod) => StartStep::LoadingMaterial,
        _ if waits_for_image(pod) => StartStep::PullingImage,
        // The app waits for an init container. The kubelet pulls the app's image only after that.
        _ if waits_for_init(pod) => StartStep::Preparing,
        // Network and volumes of the pod are ready, so the app waits only for its image.
        Some(_) if holds("PodReadyToStartContainers") => StartStep::PullingImage,
        _ if condition(pod, "PodScheduled").is_some_and(is_unschedulable) => StartStep::WaitingForRoom,
        _ => StartStep::Preparing,
    }
}

/// Returns the time at which the pod was scheduled, if its volumes or its network are not ready yet.
pub(super) fn unprepared(pod: &Pod) -> Option<Timestamp> {
    let scheduled = condition(pod, "PodScheduled").filter(|scheduled| scheduled.status == "True")?;
    let prepared = condition(pod, "PodReadyToStartContainers")?;
    (prepared.status == "False").then(|| since(pod, scheduled))
}

pub(super) fn app_runs_since(pod: &Pod) -> Option<Timestamp> {
    Some(app(pod)?.state.as_ref()?.running.as_ref()?.started_at.as_ref()?.0)
}

fn is_unschedulable(scheduled: &PodCondition) -> bool {
    scheduled.status == "False" && scheduled.reason.as_deref() == Some("Unschedulable")
}

/// Returns the failure of a workload that did not become ready in time. If the app runs, its log may explain the cause;
/// otherwise the pod's events may.
pub(super) fn start_timeout(pods: &[&Pod]) -> Failure {
    let mut failure = complete(FailureCode::StartTimeout, None);
    if let Some(pod) = pods.first() {
        let name = pod.name_any();
        failure.details = Some(if app(pod).is_some_and(runs) {
            failure.reason = failure.reason.with_detail(&FailureDetail::AppDoesNotAnswer);
            DetailSource::Log { pod: name, container: APP_CONTAINER.to_owned(), has_ended: false }
        } else {
            DetailSource::Events { pod: name }
        });
    }
    failure
}

pub(crate) fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.iter().flatten().find(|condition| condition.type_ == kind)
}

fn since(pod: &Pod, condition: &PodCondition) -> Timestamp {
    condition.last_transition_time.as_ref().map_or_else(|| created(pod), |time| time.0)
}

fn created(pod: &Pod) -> Timestamp {
    pod.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0)
}

/// The end of a pod by the cluster, for example because its node is drained or lost.
pub(super) struct Disruption {
    /// Failure of a Workshop whose files end with the pod. The work is lost, so its owner must learn of it.
    pub(super) failure: Failure,
    /// Time of the disruption, in whole seconds. `None` if the cluster does not report it.
    at: Option<Timestamp>,
    /// True if another pod can continue with files outside the pod. False if the kubelet evicted the pod: it may have used too
    /// much memory or disk itself, and its successor would, too.
    pub(super) has_successor: bool,
}

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
    let failure = complete(code, detail.map(|detail| sentence(detail).into()));
    let told = disrupted.and_then(|condition| condition.last_transition_time.as_ref());
    let at = told.or(pod.metadata.deletion_timestamp.as_ref()).map(|time| time.0);
    Some(Disruption { failure, at, has_successor: reason != "Evicted" })
}

pub(crate) fn is_disrupted(pod: &Pod) -> bool {
    find_disruption(pod).is_some()
}

/// True if the cluster ends the pod, and the Workshop gets no other one. `keeps_files` is true if the files of the Workshop
/// are outside the pod.
pub(crate) fn ends_workshop(pod: &Pod, keeps_files: bool) -> bool {
    find_disruption(pod).is_some_and(|disruption| !(keeps_files && disruption.has_successor))
}

/// Returns the disruption of these pods as a crash, after which the app starts again in another pod with the same files.
pub(crate) fn moved<'a>(pods: impl IntoIterator<Item = &'a Pod>) -> Option<Crash> {
    let mut ending = pods.into_iter().filter(|pod| is_ending(pod));
    let disruption = ending.find_map(find_disruption).filter(|disruption| disruption.has_successor)?;
    Some(Crash { at: disruption.at?, code: disruption.failure.reason.code, files_lost: false })
}

/// True if the containers of the pod end. The cluster announces a disruption before it ends the pod, and can cancel it.
pub(super) fn is_ending(pod: &Pod) -> bool {
    has_ended(pod) || pod.metadata.deletion_timestamp.is_some()
}

/// True if no container of the pod runs again.
pub(crate) fn has_ended(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Failed" | "Succeeded"))
}

/// Returns the address at which a pod waits for saved files; `None` if none waits.
pub(crate) fn restore_address(workshop: &WorkshopSpec, pods: &[Pod]) -> Option<SocketAddr> {
    let mut live = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    address(workshop, live.find(|pod| waits_for_saved_files(pod))?)
}

/// Returns the address at which the launcher reads the files of an app; `None` without a ready pod that has the container.
pub(crate) fn archive_address(workshop: &WorkshopSpec, pods: &[Pod]) -> Option<SocketAddr> {
    let mut live = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none() && is_ready(pod));
    address(workshop, live.find(|pod| statuses(pod).any(|status| status.name == SNAPSHOT))?)
}

/// Returns the address of the program in a pod that sends or receives files.
fn address(workshop: &WorkshopSpec, pod: &Pod) -> Option<SocketAddr> {
    let ip = pod.status.as_ref()?.pod_ip.as_deref()?.parse().ok()?;
    Some(SocketAddr::new(ip, snapshot_port(workshop.port)))
}
