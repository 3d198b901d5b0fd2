//! Notices about refused actions.

use launcher_domain::lifetime::ExtendError;

use super::units::counted;

/// Title of the notice that the caller has reached the instance limit.
pub(crate) const LIMIT_TITLE: &str = "You have reached your limit.";

/// States the caller's limit and number of workshops, and the remedy: end a workshop, or wait for the terminating ones.
pub(crate) fn limit_reached(limit: u32, held: u32, ending: u32) -> String {
    let has = counted(held.into(), "workshop");
    match ending {
        0 => format!("You have {has}. The limit is {limit}. End one of them, then launch again."),
        1 => format!(
            "You have {has}. The limit is {limit}. One of them is still ending and counts until it has ended. Launch \
             again in a moment."
        ),
        _ => format!(
            "You have {has}. The limit is {limit}. {ending} of them are still ending and count until they have ended. \
             Launch again in a moment."
        ),
    }
}

/// Text of the notice that the caller exceeds the launch rate limit.
pub(crate) fn too_many_launches(seconds: u32) -> String {
    let wait = counted(seconds.into(), "second");
    format!("You launched too many workshops in a short time. Launch again in {wait}.")
}

/// Title of the notice about a refused launch.
pub(crate) const NOT_LAUNCHED: &str = "The workshop was not launched.";
/// Text of the notice if the queue is full.
pub(crate) const AT_CAPACITY: &str = "Too many workshops are waiting to start. Try again in a minute.";
/// Text of the notice if the form's idempotency key was already used for another launch.
pub(crate) const KEY_REUSED: &str = "The page was out of date. It is up to date now. Launch again below.";
/// Title of the notice about a refused extension.
pub(crate) const NOT_EXTENDED: &str = "The workshop was not extended.";
/// Text of the notice if the expiry has changed after the page was loaded, for example by a double click.
pub(crate) const EXPIRY_CHANGED: &str = "The end time changed after you loaded the page. The current end time is \
                                         below. Extend again if you need more time.";

/// Returns the reason why a running workshop has no button "Extend". `NotRunning` means that its expiry has passed.
pub(crate) fn no_extension(error: ExtendError) -> &'static str {
    match error {
        ExtendError::NotRunning => "Its time is up.",
        ExtendError::LifetimeLimitReached | ExtendError::ExpiryChanged => extend_denied(error),
    }
}

/// Returns the reason why a workshop was not extended.
pub(crate) fn extend_denied(error: ExtendError) -> &'static str {
    match error {
        ExtendError::NotRunning => "Only a running workshop can be extended.",
        ExtendError::LifetimeLimitReached => "It has reached its maximum lifetime.",
        ExtendError::ExpiryChanged => "Its end time has changed.",
    }
}

/// Title of the notice if the workshop no longer exists.
pub(crate) const GONE_TITLE: &str = "This workshop does not exist any more.";
/// Text of the notice if the workshop no longer exists.
pub(crate) const GONE: &str = "The list below is up to date.";
/// Notice for an admin on the page of an archived template.
pub(crate) const INACTIVE_ADMIN: &str = "This template is archived. Only administrators can launch it, to test it.";
/// Notice for other users on the page of an archived template.
pub(crate) const INACTIVE_USER: &str = "This workshop is no longer offered. Ask your teacher for the current one.";
/// Title of the notice after a fault of the service. It is unknown if the action took effect.
pub(crate) const FAULT_TITLE: &str = "The service did not answer.";
/// Text of the notice after a fault of the service.
pub(crate) const FAULT: &str = "It is unknown whether the action took effect. Check the list below in a moment. If \
                                nothing changed, try again. Running workshops are not affected.";
