//! States, reasons and kinds.

use launcher_domain::{AppType, EndReason, FailureReason, InstanceState, SecurityProfile, StartStep};

/// A state, for the person who waits.
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

/// A state with the place in line, or how far the start is, where there is one.
pub(crate) fn state(state: InstanceState, queue_position: Option<u32>, step: Option<StartStep>) -> String {
    let name = state_name(state);
    match (queue_position, step) {
        (Some(1), _) => format!("{name}: next to start"),
        (Some(position), _) => format!("{name}: place {position}"),
        (None, Some(step)) => format!("{name}: {}", start_step(step)),
        (None, None) => name.to_owned(),
    }
}

/// What a workshop that starts is waiting for.
fn start_step(step: StartStep) -> &'static str {
    match step {
        StartStep::WaitingForRoom => "waiting for a machine with room",
        StartStep::Preparing => "preparing a place for it",
        StartStep::PullingImage => "fetching its software, which takes longer the first time",
        StartStep::StartingApp => "waiting for it to answer",
        StartStep::RestartingApp => "it stopped and is being started again",
    }
}

/// Why a workshop ended, for its owner.
pub(crate) fn end_reason(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Owner => "Ended by its owner",
        EndReason::Admin => "Ended by an administrator",
        EndReason::Expired => "Its time was up",
        EndReason::Failed => "It failed",
        EndReason::Lost => "It was deleted from outside of this service",
    }
}

/// What happened to a workshop that failed. English has the API's own words, which are kept with the workshop; another
/// language says it by the code.
pub(crate) fn failure_message(failure: &FailureReason) -> &str {
    &failure.message
}

/// What to do about it.
pub(crate) fn failure_remedy(failure: &FailureReason) -> &str {
    &failure.remedy
}

/// A kind of app.
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
