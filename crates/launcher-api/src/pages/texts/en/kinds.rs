//! States, reasons, app types and security profiles.

use launcher_domain::{AppType, EndReason, FailureReason, InstanceState, SecurityProfile, StartStep};

/// A state, from the owner's point of view.
pub(crate) fn state_name(state: InstanceState) -> &'static str {
    match state {
        InstanceState::Queued => "Waiting in line",
        InstanceState::Starting => "Starting",
        InstanceState::Running => "Ready",
        InstanceState::Terminating => "Ending",
        InstanceState::Terminated => "Ended",
        InstanceState::Failed => "Failed",
    }
}

/// A state with the queue position or the start step, where known.
pub(crate) fn state(state: InstanceState, queue_position: Option<u32>, step: Option<StartStep>) -> String {
    let name = state_name(state);
    match (queue_position, step) {
        (Some(1), _) => format!("{name}: next to start"),
        (Some(position), _) => format!("{name}: place {position}"),
        (None, Some(step)) => format!("{name}: {}", start_step(step)),
        (None, None) => name.to_owned(),
    }
}

/// The step that a starting workshop waits for.
fn start_step(step: StartStep) -> &'static str {
    match step {
        StartStep::WaitingForRoom => "waiting for a machine with room",
        StartStep::Preparing => "preparing a place for it",
        StartStep::PullingImage => "fetching its software, which takes longer the first time",
        StartStep::StartingApp => "waiting for it to answer",
        StartStep::RestartingApp => "it stopped and is being started again",
    }
}

/// Reason of a workshop's end, for its owner.
pub(crate) fn end_reason(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Owner => "Ended by its owner",
        EndReason::Admin => "Ended by an administrator",
        EndReason::Expired => "Its time was up",
        EndReason::Failed => "It failed",
        EndReason::Lost => "It was deleted from outside of this service",
    }
}

/// Description of a failure. English shows the API's text, which is stored with the workshop. Another language maps the
/// failure's code.
pub(crate) fn failure_message(failure: &FailureReason) -> &str {
    &failure.message
}

/// Remedy for a failure.
pub(crate) fn failure_remedy(failure: &FailureReason) -> &str {
    &failure.remedy
}

/// An app type.
pub(crate) fn app_type(app_type: AppType) -> &'static str {
    match app_type {
        AppType::Rstudio => "RStudio",
        AppType::Notebook => "Jupyter notebook",
        AppType::Custom => "Web app",
    }
}

/// A security profile.
pub(crate) fn security_profile(profile: SecurityProfile) -> &'static str {
    match profile {
        SecurityProfile::Restricted => "restricted: not root (recommended)",
        SecurityProfile::Baseline => "baseline: root inside the container, as stock RStudio images need",
    }
}
