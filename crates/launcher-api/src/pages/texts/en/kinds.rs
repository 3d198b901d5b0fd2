//! Texts for states, reasons, app types and security profiles.

use launcher_domain::{AppType, EndReason, FailureReason, InstanceState, SecurityProfile, StartStep};

/// Returns the name of a state for the owner.
pub(crate) fn state_name(state: InstanceState) -> &'static str {
    match state {
        InstanceState::Queued => "Queued",
        InstanceState::Starting => "Starting",
        InstanceState::Running => "Ready",
        InstanceState::Terminating => "Ending",
        InstanceState::Terminated => "Ended",
        InstanceState::Failed => "Failed",
    }
}

/// Returns the name of a state, with the queue position or the start step if known.
pub(crate) fn state(state: InstanceState, queue_position: Option<u32>, step: Option<StartStep>) -> String {
    let name = state_name(state);
    match (queue_position, step) {
        (Some(1), _) => format!("{name}: next to start"),
        (Some(position), _) => format!("{name}: position {position}"),
        (None, Some(step)) => format!("{name}: {}", start_step(step)),
        (None, None) => name.to_owned(),
    }
}

/// Returns the step that a starting workshop waits for.
fn start_step(step: StartStep) -> &'static str {
    match step {
        StartStep::WaitingForRoom => "waiting for a node with room",
        StartStep::Preparing => "preparing the workshop",
        StartStep::PullingImage => "downloading the image, which takes longer the first time",
        StartStep::StartingApp => "waiting for the app to answer",
        StartStep::RestartingApp => "the app stopped and restarts",
    }
}

/// Returns the reason of a workshop's end, for its owner.
pub(crate) fn end_reason(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Owner => "Ended by its owner",
        EndReason::Admin => "Ended by an administrator",
        EndReason::Expired => "Its time was up",
        EndReason::Failed => "It failed",
        EndReason::Lost => "It was deleted outside of this service",
    }
}

/// Returns the description of a failure. The English text is the API's, which is stored with the workshop. A
/// translation can choose its text by the failure's code.
pub(crate) fn failure_message(failure: &FailureReason) -> &str {
    &failure.message
}

/// Returns the remedy for a failure.
pub(crate) fn failure_remedy(failure: &FailureReason) -> &str {
    &failure.remedy
}

/// Returns the name of an app type.
pub(crate) fn app_type(app_type: AppType) -> &'static str {
    match app_type {
        AppType::Rstudio => "RStudio",
        AppType::Notebook => "Jupyter notebook",
        AppType::Custom => "Web app",
    }
}

/// Returns the name of a security profile.
pub(crate) fn security_profile(profile: SecurityProfile) -> &'static str {
    match profile {
        SecurityProfile::Restricted => "restricted: not root (recommended)",
        SecurityProfile::Baseline => "baseline: root in the container (standard RStudio images need it)",
    }
}
