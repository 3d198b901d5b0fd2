//! Paths on a workshop's origin that the sidecar answers itself, and never forwards to the app.

use crate::material::MaterialTrouble;

/// Prefix of all reserved paths.
pub const PREFIX: &str = "/_launcher/";
/// Path of the frame page, which shows the app below a bar with the time left.
pub const FRAME: &str = "/_launcher/frame";

/// Parameter of the frame page with the trouble of the course material, as in `failed`.
pub const MATERIAL: &str = "material";

/// Returns the URL of the frame page. `origin` is the workshop's origin, with or without a slash at its end.
#[must_use]
pub fn frame_url(origin: &str) -> String {
    format!("{}{FRAME}", origin.trim_end_matches('/'))
}

/// Returns the URL of the frame page of a workshop whose course material has this trouble. The frame page then shows a
/// sentence about it.
#[must_use]
pub fn with_trouble(frame_url: &str, trouble: MaterialTrouble) -> String {
    format!("{frame_url}?{MATERIAL}={}", trouble.as_str())
}
