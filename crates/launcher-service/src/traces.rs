//! Trace of a workshop's start: the steps that the service records.

use jiff::Timestamp;
use launcher_domain::{EndReason, Instance, InstanceState};
use launcher_fleet::FleetError;
use launcher_trace::{StartTrace, Times};
use launcher_workshop::Workshop;
use opentelemetry::KeyValue;

use crate::error::{ErrorChain, LoopError};

/// Records the first attempt to apply a Workshop, and its error if it failed.
pub(crate) fn record_apply(
    instance: &Instance,
    times: Times,
    answer: &Result<Result<Workshop, FleetError>, LoopError>,
) {
    let failure = match answer {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(ErrorChain(error).to_string()),
        Err(error) => Some(ErrorChain(error).to_string()),
    };
    StartTrace::of(&instance.k8s_name).record_step("apply", times, failure.as_deref());
}

/// Records a change of a row in the trace of its start. Completes the trace when the change ends the start.
pub(crate) fn record_change(before: &Instance, after: &Instance, now: Timestamp) {
    let was_starting = matches!(before.state, InstanceState::Queued | InstanceState::Starting);
    let failure = match after.state {
        InstanceState::Running => None,
        InstanceState::Failed => after.reason.as_ref().map(|reason| reason.code.as_str()),
        // A termination by the owner or an admin is not an error of the start.
        InstanceState::Terminating | InstanceState::Terminated => {
            after.end_reason.filter(|reason| !reason.is_requested()).map(EndReason::as_str)
        }
        InstanceState::Queued | InstanceState::Starting | InstanceState::Suspending | InstanceState::Suspended => {
            return;
        }
    };
    // The trace of a launch has one start: a resume is not part of it.
    if !was_starting || after.resumed_at.is_some() {
        return;
    }
    let trace = StartTrace::of(&after.k8s_name);
    trace.record_step("queue", (after.created_at, after.dispatched_at.unwrap_or(now)), None);
    let mut attributes = vec![
        KeyValue::new("workshop.name", after.k8s_name.clone()),
        KeyValue::new("workshop.template", after.settings.name.clone()),
    ];
    attributes.extend(after.end_reason.map(|reason| KeyValue::new("workshop.end_reason", reason.as_str())));
    trace.record_start((after.created_at, now), attributes, failure);
}
