//! Paths on a workshop's origin that the sidecar answers itself, and never forwards to the app.

use crate::material::MaterialTrouble;

/// Prefix of all reserved paths.
pub const PREFIX: &str = "/_launcher/";
/// Path of the frame page, which shows the app below a bar with the time left.
pub const FRAME: &str = "/_launcher/frame";
/// Path of the status, which the script of the frame page requests.
pub const STATUS: &str = "/_launcher/status";
/// Path of the event stream with the status.
pub const EVENTS: &str = "/_launcher/events";
/// Prefix of the paths at which the launcher answers, not the sidecar: `NAME/news`, `NAME/events` and `NAME/hand` for the class
/// of the workshop with this name, and `NAME/stopped` for the workshop itself.
pub const CLASS: &str = "/_launcher/class/";
/// Path of the frame page's service worker.
pub const WORKER: &str = "/_launcher/worker.js";
/// Cookie with the path of the app that the next request for a page shows without the bar. The frame page sets it.
pub const PLAIN_COOKIE: &str = "launcher_plain";
/// Parameter of the frame page with the path of the app.
pub const APP_PATH: &str = "path";
/// Parameter of the frame page with the code of its language.
pub const LANGUAGE: &str = "lang";
/// Parameter of the frame page with the trouble of the course material, as in `failed`.
pub const MATERIAL: &str = "material";

/// Returns the URL of the frame page. `origin` is the workshop's origin, with or without a slash at its end.
#[must_use]
pub fn frame_url(origin: &str) -> String {
    format!("{}{FRAME}", origin.trim_end_matches('/'))
}

/// Returns the URL of the frame page in a language, with a sentence about the trouble of the course material.
#[must_use]
pub fn with_query(frame_url: &str, language: Option<&str>, trouble: Option<MaterialTrouble>) -> String {
    let language = language.map(|code| format!("{LANGUAGE}={code}"));
    let material = trouble.map(|trouble| format!("{MATERIAL}={}", trouble.as_str()));
    let query: Vec<String> = [language, material].into_iter().flatten().collect();
    if query.is_empty() { frame_url.to_owned() } else { format!("{frame_url}?{}", query.join("&")) }
}
