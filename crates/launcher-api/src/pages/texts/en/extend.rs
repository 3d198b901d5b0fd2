//! Texts of the small page that extends a workshop, which the bar above a workshop opens.

use crate::pages::texts::parts::Around;

/// Title of the page.
pub(crate) fn extend_title(name: &str) -> String {
    format!("Extend {name}")
}

/// Sentence around the expiry of the workshop.
pub(crate) const ENDS_AT: Around = Around { before: "It ends at ", after: "." };
/// Result of an extension, before the sentence [`ENDS_AT`].
pub(crate) const EXTENDED: &str = "The workshop is extended.";
/// Reason why a workshop that is not running cannot be extended.
pub(crate) const CANNOT_EXTEND: &str = "This workshop does not run, so it cannot be extended.";
/// Button that closes the window.
pub(crate) const CLOSE: &str = "Close this window";
