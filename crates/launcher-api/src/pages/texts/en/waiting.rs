//! Texts of the waiting page.

use super::units::duration;

/// The steps of a start, in order. The page marks the current one.
pub(crate) const START_STEPS: [&str; 4] =
    ["Wait in the queue", "Find a place and prepare it", "Download the image if needed", "Start the app"];

/// Name of the list of steps for screen readers.
pub(crate) const STEPS: &str = "Steps of the start";
/// Mark of a finished step, for screen readers.
pub(crate) const STEP_DONE: &str = "done";
/// Mark of the current step, for screen readers.
pub(crate) const STEP_CURRENT: &str = "in progress";

/// States how long the start usually takes.
pub(crate) fn usual_start(seconds: i64) -> String {
    format!("Usually ready after {}.", duration(seconds))
}

/// Note that the browser opens the workshop without a click.
pub(crate) const OPENS_BY_ITSELF: &str = "This page opens the workshop when it is ready.";
/// Note while the browser opens the workshop, before the link [`super::OPEN`].
pub(crate) const IS_READY: &str = "The workshop is ready and opens now.";
/// Button that ends a workshop that is not ready yet.
pub(crate) const CANCEL: &str = "Cancel";
/// Label that opens the log of the start.
pub(crate) const START_LOG: &str = "What has happened";
