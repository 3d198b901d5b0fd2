//! What was in the way of an action.

use launcher_domain::lifetime::ExtendError;

use super::counted;

/// The caller may not launch more.
pub(crate) const LIMIT_TITLE: &str = "You have reached your limit.";

/// How many workshops the caller has and may have, and what to do: wait, when some are about to be gone.
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

/// The caller has launched too often in a short time.
pub(crate) fn too_many_launches(seconds: u32) -> String {
    let wait = counted(seconds.into(), "second");
    format!("You have launched many workshops in a short time. Launch again in {wait}.")
}

/// A launch that was refused.
pub(crate) const NOT_LAUNCHED: &str = "The workshop was not launched.";
/// A full queue.
pub(crate) const AT_CAPACITY: &str = "Too many workshops are waiting to start right now. Try again in a minute.";
/// A form whose key belongs to another launch.
pub(crate) const KEY_REUSED: &str = "This page was out of date. Launch again from below.";
/// An extension that was refused.
pub(crate) const NOT_EXTENDED: &str = "The workshop was not extended.";
/// A second click on "extend".
pub(crate) const EXPIRY_CHANGED: &str =
    "Its end has changed since you loaded the page. You see its current end below; extend it again if you need more.";

/// Why there is no button to extend a workshop that runs. One that does not is one whose time is up: it is about to end.
pub(crate) fn no_extension(error: ExtendError) -> &'static str {
    match error {
        ExtendError::NotRunning => "Its time is up.",
        ExtendError::LifetimeLimitReached | ExtendError::ExpiryChanged => extend_denied(error),
    }
}

/// Why a workshop was not extended.
pub(crate) fn extend_denied(error: ExtendError) -> &'static str {
    match error {
        ExtendError::NotRunning => "Only a running workshop can be extended.",
        ExtendError::LifetimeLimitReached => "It cannot be extended any further.",
        ExtendError::ExpiryChanged => "Its end has changed in the meantime.",
    }
}

/// A workshop that is not in the list any more.
pub(crate) const GONE_TITLE: &str = "This workshop does not exist any more.";
/// What to do about it.
pub(crate) const GONE: &str = "The list below is up to date.";
/// An archived template, as an admin sees it.
pub(crate) const INACTIVE_ADMIN: &str = "This template is archived: only administrators can launch it, to try it.";
/// An archived template, as everybody else sees it.
pub(crate) const INACTIVE_USER: &str = "This workshop is no longer offered. Ask your teacher for the current one.";
/// Something that was pressed, and met a fault of the service's. Nobody can say for sure that nothing came of it.
pub(crate) const FAULT_TITLE: &str = "That did not work.";
/// What to do about it.
pub(crate) const FAULT: &str = "The service cannot answer right now. Look at the list below in a moment: if it still is as \
                                it was, try again. Running workshops are not affected.";
