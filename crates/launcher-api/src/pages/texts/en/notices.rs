//! Notices about refused actions.

use launcher_domain::lifetime::ExtendError;

use super::counted;

/// The caller's instance limit is reached.
pub(crate) const LIMIT_TITLE: &str = "You have reached your limit.";

/// The caller's number of workshops and limit, and the remedy: to wait, if some are terminating.
pub(crate) fn limit_reached(limit: u32, held: u32, ending: u32) -> String {
    let has = counted(held.into(), "workshop");
    match ending {
        0 => format!("You have {has} and may have {limit}. End one of them, then launch again."),
        1 => format!(
            "You have {has} and may have {limit}. One of them is still ending and counts until it is gone. Launch again in a \
             moment."
        ),
        _ => format!(
            "You have {has} and may have {limit}. {ending} of them are still ending and count until they are gone. Launch \
             again in a moment."
        ),
    }
}

/// The caller's launch rate limit is exceeded.
pub(crate) fn too_many_launches(seconds: u32) -> String {
    let wait = counted(seconds.into(), "second");
    format!("You have launched many workshops in a short time. Launch again in {wait}.")
}

/// A launch that was refused.
pub(crate) const NOT_LAUNCHED: &str = "The workshop was not launched.";
/// A full queue.
pub(crate) const AT_CAPACITY: &str = "Too many workshops are waiting to start right now. Try again in a minute.";
/// The form's idempotency key was used for another launch.
pub(crate) const KEY_REUSED: &str = "This page was out of date. Launch again from below.";
/// An extension that was refused.
pub(crate) const NOT_EXTENDED: &str = "The workshop was not extended.";
/// The expiry has changed since the page was loaded, for example by a double click.
pub(crate) const EXPIRY_CHANGED: &str =
    "Its end has changed since you loaded the page. You see its current end below; extend it again if you need more.";

/// Reason why a running workshop has no "Extend" button. `NotRunning` means that its expiry has passed.
pub(crate) fn no_extension(error: ExtendError) -> &'static str {
    match error {
        ExtendError::NotRunning => "Its time is up.",
        ExtendError::LifetimeLimitReached | ExtendError::ExpiryChanged => extend_denied(error),
    }
}

/// Reason why a workshop was not extended.
pub(crate) fn extend_denied(error: ExtendError) -> &'static str {
    match error {
        ExtendError::NotRunning => "Only a running workshop can be extended.",
        ExtendError::LifetimeLimitReached => "It cannot be extended any further.",
        ExtendError::ExpiryChanged => "Its end has changed in the meantime.",
    }
}

/// The workshop is no longer in the list.
pub(crate) const GONE_TITLE: &str = "This workshop does not exist any more.";
/// Remedy for that.
pub(crate) const GONE: &str = "The list below is up to date.";
/// An archived template, as an admin sees it.
pub(crate) const INACTIVE_ADMIN: &str = "This template is archived: only administrators can launch it, to try it.";
/// An archived template, as other users see it.
pub(crate) const INACTIVE_USER: &str = "This workshop is no longer offered. Ask your teacher for the current one.";
/// An action failed with a fault of the service. It is unknown if the action took effect.
pub(crate) const FAULT_TITLE: &str = "That did not work.";
/// Remedy for that.
pub(crate) const FAULT: &str = "The service cannot answer right now. Look at the list below in a moment: if it still is as \
                                it was, try again. Running workshops are not affected.";
