//! The words of the pages: everything that is said from Rust. Headings and labels that stand still are in the
//! templates.

use launcher_domain::lifetime::ExtendError;
use launcher_domain::{AppType, EndReason, InstanceState, SecurityProfile};

/// The name in the header and in titles.
pub(crate) const PRODUCT: &str = "Workshop Launcher";
/// The banner of a service that asks nobody to sign in.
pub(crate) const NO_AUTHENTICATION: &str = "Authentication is off: this is for development only.";
/// Nothing launched yet.
pub(crate) const NO_WORKSHOPS: &str = "You have no workshops. Launch one below: it appears here.";
/// An empty catalog.
pub(crate) const NO_TEMPLATES: &str = "There is nothing to launch yet.";
/// Nothing ended yet.
pub(crate) const NO_HISTORY: &str = "None of your workshops has ended yet.";
/// Nothing matches the filter.
pub(crate) const NO_INSTANCES: &str = "No instance matches.";
/// Stands before the time that is left when it is short.
pub(crate) const ENDS_WARNING: &str = "Save your work!";
/// Asked before an end, in one line.
pub(crate) const CONFIRM_END: &str = "End this workshop? Everything that was not saved elsewhere is lost.";
/// Told on the page that asks before an end.
pub(crate) const END_WARNING: &str =
    "The workshop stops at once. Everything in it that you have not saved elsewhere is lost.";
/// An archived template, as an admin sees it.
pub(crate) const INACTIVE_ADMIN: &str = "This template is archived: only administrators can launch it, to try it.";
/// An archived template, as everybody else sees it.
pub(crate) const INACTIVE_USER: &str = "This workshop is no longer offered. Ask your teacher for the current one.";
/// Above a form that was not accepted.
pub(crate) const FORM_HAS_ERRORS: &str = "Nothing was saved. Please correct:";
/// A filter that is not an address.
pub(crate) const NOT_AN_EMAIL: &str = "This is not an e-mail address; everybody's instances are shown.";

/// An amount of things, in words.
fn counted(count: i64, unit: &str) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

/// A duration in words, to the minute from a minute on: `2 hours 5 minutes`. Below zero is zero.
pub(crate) fn duration(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let parts: Vec<String> = [(days, "day"), (hours, "hour"), (minutes, "minute")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| counted(count, unit))
        .collect();
    if parts.is_empty() { counted(seconds, "second") } else { parts.join(" ") }
}

/// How long a workshop of a template lasts.
pub(crate) fn lasts(lifetime_seconds: u32, max_lifetime_seconds: u32) -> String {
    let lifetime = duration(lifetime_seconds.into());
    if max_lifetime_seconds > lifetime_seconds {
        format!("Lasts {lifetime}, can be extended to {}", duration(max_lifetime_seconds.into()))
    } else {
        format!("Lasts {lifetime}")
    }
}

/// A state, for the person who waits.
pub(crate) fn state(state: InstanceState, queue_position: Option<u32>) -> String {
    match (state, queue_position) {
        (InstanceState::Queued, Some(1)) => "Waiting in line: next to start".to_owned(),
        (InstanceState::Queued, Some(position)) => format!("Waiting in line: place {position}"),
        (InstanceState::Queued, None) => "Waiting in line".to_owned(),
        (InstanceState::Starting, _) => "Starting".to_owned(),
        (InstanceState::Running, _) => "Ready".to_owned(),
        (InstanceState::Terminating, _) => "Ending".to_owned(),
        (InstanceState::Terminated, _) => "Ended".to_owned(),
        (InstanceState::Failed, _) => "Failed".to_owned(),
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

/// Why there is no button to extend a running workshop.
pub(crate) fn extend_denied(error: ExtendError) -> &'static str {
    match error {
        ExtendError::NotRunning => "Only a running workshop can be extended.",
        ExtendError::LifetimeLimitReached => "It cannot be extended any further.",
        ExtendError::ExpiryChanged => "Its end has changed in the meantime.",
    }
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
