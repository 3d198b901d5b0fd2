//! Paths on a workshop's origin that the sidecar answers itself, and never forwards to the app.

/// Prefix of all reserved paths.
pub const PREFIX: &str = "/_launcher/";
/// Path of the frame page, which shows the app below a bar with the time left.
pub const FRAME: &str = "/_launcher/frame";
/// Path of the status, which the script of the frame page requests.
pub const STATUS: &str = "/_launcher/status";

/// Returns the URL of the frame page. `origin` is the workshop's origin, with or without a slash at its end.
#[must_use]
pub fn frame_url(origin: &str) -> String {
    format!("{}{FRAME}", origin.trim_end_matches('/'))
}
