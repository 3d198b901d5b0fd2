//! What a pod's own status says.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ContainerStateWaiting, Pod, PodCondition};
use kube::ResourceExt;
use launcher_domain::{FailureCode, StartStep};

use super::container::{app, isolation, statuses};
use super::{Deadline, Evidence, Failure, sentence};

/// How long an image may fail to be pulled: a registry may have a bad moment.
const PULL_GRACE: Duration = Duration::from_secs(15);

/// Whether the sidecar, and with it the app, answers.
pub(super) fn is_ready(pod: &Pod) -> bool {
    condition(pod, "Ready").is_some_and(|condition| condition.status == "True")
}

/// The cluster has taken it off its machine: what it had in memory is gone, so it is not started again behind its owner's
/// back.
pub(super) fn taken_away(pod: &Pod) -> Option<Failure> {
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
    Some(Failure::new(code, detail.map(sentence).as_deref()))
}

/// What it waits for, and until when that is fine.
pub(super) fn waits(pod: &Pod, room_grace: Duration, pull_fails_since: Timestamp) -> Option<Deadline> {
    if let Some(scheduled) = condition(pod, "PodScheduled")
        && is_unschedulable(scheduled)
    {
        let detail = scheduled.message.as_deref().map(sentence);
        let failure = || Failure::new(FailureCode::Unschedulable, detail.as_deref());
        return Some(Deadline::new(since(pod, scheduled), room_grace, failure));
    }
    let detail = failed_pull(pod)?.message.as_deref().map(sentence);
    let failure = || Failure::new(FailureCode::ImagePullFailed, detail.as_deref());
    Some(Deadline::new(pull_fails_since, PULL_GRACE, failure))
}

/// What is said of an image that could not be pulled just now. It is tried again.
pub(super) fn failed_pull(pod: &Pod) -> Option<&ContainerStateWaiting> {
    let mut waiting = statuses(pod).filter_map(|status| status.state.as_ref()?.waiting.as_ref());
    waiting.find(|waiting| matches!(waiting.reason.as_deref(), Some("ErrImagePull" | "ImagePullBackOff")))
}

/// What it waits for, in the words of its owner.
pub(super) fn step(pod: &Pod) -> StartStep {
    let holds = |kind| condition(pod, kind).is_some_and(|condition| condition.status == "True");
    let state = app(pod).and_then(|status| Some((status.state.as_ref()?, status.restart_count)));
    match state {
        Some((state, 0)) if state.running.is_some() => StartStep::StartingApp,
        Some((state, restarts)) if restarts > 0 || state.terminated.is_some() => StartStep::RestartingApp,
        // The init container holds the app back: its image is not pulled yet.
        _ if isolation(pod).is_some() => StartStep::Preparing,
        // The sandbox is there, with its network and volumes: what is left to wait for is the image.
        Some(_) if holds("PodReadyToStartContainers") => StartStep::PullingImage,
        _ if condition(pod, "PodScheduled").is_some_and(is_unschedulable) => StartStep::WaitingForRoom,
        _ => StartStep::Preparing,
    }
}

/// When the pod was scheduled, while its volumes and its network are not there yet.
pub(super) fn unprepared(pod: &Pod) -> Option<Timestamp> {
    let scheduled = condition(pod, "PodScheduled").filter(|scheduled| scheduled.status == "True")?;
    let prepared = condition(pod, "PodReadyToStartContainers")?;
    (prepared.status == "False").then(|| since(pod, scheduled))
}

fn is_unschedulable(scheduled: &PodCondition) -> bool {
    scheduled.status == "False" && scheduled.reason.as_deref() == Some("Unschedulable")
}

/// It never became ready; its app may have said why, and its events may.
pub(super) fn start_timeout(pods: &[&Pod]) -> Failure {
    let mut failure = Failure::new(FailureCode::StartTimeout, None);
    if let Some(pod) = pods.first() {
        let runs = app(pod).and_then(|status| status.state.as_ref()?.running.as_ref()).is_some();
        let name = pod.name_any();
        failure.evidence = if runs {
            failure.reason.message.push_str(" Its program runs, but does not answer on its port.");
            Evidence::Log { pod: name, container: crate::build::APP_CONTAINER.to_owned() }
        } else {
            Evidence::Events { pod: name }
        };
    }
    failure
}

fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.iter().flatten().find(|condition| condition.type_ == kind)
}

fn since(pod: &Pod, condition: &PodCondition) -> Timestamp {
    condition.last_transition_time.as_ref().map_or_else(|| created(pod), |time| time.0)
}

fn created(pod: &Pod) -> Timestamp {
    pod.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0)
}
