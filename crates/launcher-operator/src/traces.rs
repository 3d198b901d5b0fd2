//! Trace steps of a start that happen in the cluster. The operator derives them from the timestamps of the pod, which
//! have a resolution of one second. The first step begins at the launcher's more precise dispatch time if the Workshop
//! was created in the same second.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::ResourceExt;
use launcher_trace::StartTrace;
use launcher_workshop::lifecycle::was_ready;
use launcher_workshop::pod_template::MATERIAL;
use launcher_workshop::{Phase, Workshop, WorkshopStatus, created_at};

use crate::build::ISOLATION_CONTAINER;
use crate::diagnose::{app, condition, init};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub name: &'static str,
    pub from: Timestamp,
    /// Time at which the step succeeded or failed.
    pub to: Timestamp,
    /// Reason of the failure; `None` if the step succeeded.
    pub failure: Option<String>,
}

/// Adds the steps to the trace of a start, if the start ends with this status.
pub(crate) fn record_steps(workshop: &Workshop, pods: &[Pod], status: &WorkshopStatus, now: Timestamp) {
    let trace = StartTrace::of(&workshop.name_any());
    for step in steps(workshop, pods, status, now) {
        trace.record_step(step.name, (step.from, step.to), step.failure.as_deref());
    }
}

/// Returns the steps of a start if this status ends it: the app is ready for the first time, or failed before it was
/// ready. Otherwise returns no steps.
#[must_use]
pub fn steps(workshop: &Workshop, pods: &[Pod], status: &WorkshopStatus, now: Timestamp) -> Vec<Step> {
    let was = |phase| workshop.status.as_ref().is_some_and(|before| before.phase == phase);
    let is_over = matches!(status.phase, Phase::Running | Phase::Failed);
    let is_end = is_over && !was_ready(workshop) && !was(Phase::Failed);
    let Some(mut from) = created_at(workshop).filter(|_| is_end) else { return Vec::new() };
    let pod = pods.iter().max_by_key(|pod| pod.metadata.creation_timestamp.as_ref().map(|time| time.0));
    let ready = (status.phase == Phase::Running).then_some(now);
    let [waits, loads] = [ISOLATION_CONTAINER, MATERIAL].map(|name| init(pod?, name));
    let mut ends = vec![
        ("schedule", pod.and_then(|pod| since(pod, "PodScheduled"))),
        ("prepare", pod.and_then(|pod| since(pod, "PodReadyToStartContainers"))),
        ("isolate", waits.and_then(succeeded_at)),
        ("load-material", loads.and_then(succeeded_at)),
        ("pull-image", pod.and_then(runs_since)),
        ("start-app", ready),
    ];
    let has_step = |name: &str| match name {
        "isolate" => waits.is_some(),
        "load-material" => loads.is_some(),
        _ => true,
    };
    ends.retain(|(name, _)| has_step(name));
    let mut steps = Vec::new();
    for (index, (name, end)) in ends.iter().enumerate() {
        // A step without an end time becomes part of the next step, because a cluster may omit a timestamp or report it
        // late.
        let is_last = ends[index..].iter().all(|(_, end)| end.is_none());
        let Some(to) = end.map(|end| end.max(from)).or(is_last.then_some(now.max(from))) else { continue };
        let failure = is_last.then(|| status.reason.clone().unwrap_or_default());
        steps.push(Step { name, from, to, failure });
        if is_last {
            break;
        }
        from = to;
    }
    steps
}

fn since(pod: &Pod, kind: &str) -> Option<Timestamp> {
    let found = condition(pod, kind).filter(|found| found.status == "True")?;
    found.last_transition_time.as_ref().map(|time| time.0)
}

fn succeeded_at(container: &ContainerStatus) -> Option<Timestamp> {
    let ended = container.state.as_ref()?.terminated.as_ref().filter(|ended| ended.exit_code == 0)?;
    ended.finished_at.as_ref().map(|time| time.0)
}

fn runs_since(pod: &Pod) -> Option<Timestamp> {
    let state = app(pod)?.state.as_ref()?;
    let running = state.running.as_ref().and_then(|running| running.started_at.as_ref());
    let ended = state.terminated.as_ref().and_then(|ended| ended.started_at.as_ref());
    running.or(ended).map(|time| time.0)
}
