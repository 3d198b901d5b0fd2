//! Authorization of one request, based on its head alone.
//!
//! The order of the checks matters. The identity is checked first, so that a request without the owner's identity never
//! reaches the later checks.

use crate::auth::rules::Rules;
use crate::auth::{origin, owner};
use crate::frame::resource::{self, Resource};
use crate::http1::framing::Framing;
use crate::http1::request_head::RequestHead;
use crate::http1::summary::HeaderSummary;
use crate::http1::target;
use crate::refusal::{Reason, Refused};
use crate::texts::Language;

/// A request that may be forwarded to the app, or that the sidecar answers itself.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) framing: Framing,
    /// True for a HEAD request, whose response has no body.
    pub(crate) is_head: bool,
    /// True if the sidecar may send the request again on a new connection when a reused connection to the app is dead.
    pub(crate) is_repeatable: bool,
    /// True if the client uses HTTP/1.1, and so understands chunks and interim responses.
    pub(crate) is_http11: bool,
    /// True if the client may send another request on its connection.
    pub(crate) keep_alive: bool,
    /// True if the request asks for a WebSocket.
    pub(crate) is_upgrade: bool,
    /// True if the client accepts HTML.
    pub(crate) wants_html: bool,
    /// The client's preferred language.
    pub(crate) language: Language,
    /// True if a page of the workshop's own origin loads the response into a frame.
    pub(crate) is_own_frame: bool,
    /// The resource that the sidecar serves itself; `None` for a request to the app.
    pub(crate) resource: Option<Resource>,
}

/// An admitted request, with the path for the head that the app receives.
#[derive(Debug)]
pub(crate) struct Authorized<'h> {
    pub(crate) admitted: Admitted,
    /// Path and query for the app, in two parts to concatenate. [`target::path`] defines the parts.
    pub(crate) path: (&'static [u8], &'h [u8]),
}

/// Decides whether the request may be forwarded to the app.
pub(crate) fn authorize<'h>(rules: &Rules, request: &RequestHead<'_, 'h>) -> Result<Authorized<'h>, Refused> {
    let &RequestHead { method, is_http11, ref summary, .. } = request;
    let framing = summary.read_framing(is_http11);
    let is_head = method == "HEAD";
    let keep_alive = is_http11 && !summary.connection_close;
    let language = summary.accept_language.map(Language::preferred).unwrap_or_default();
    let refuse = |reason: Reason| Refused {
        reason,
        is_head,
        wants_html: summary.wants_html,
        language,
        keep_alive: keep_alive && framing == Ok(Framing::Empty) && reason.is_understood(),
    };
    owner::check(rules, request.headers).map_err(refuse)?;
    let framing = framing.map_err(|error| refuse(Reason::Framing(error)))?;
    if ["CONNECT", "TRACE", "TRACK"].iter().any(|refused| refused.eq_ignore_ascii_case(method)) {
        return Err(refuse(Reason::Method));
    }
    let path = check_target(request).map_err(refuse)?;
    let resource =
        resource::requested(method, path.1, framing, summary.is_from_another_site()).transpose().map_err(refuse)?;
    let is_upgrade = method == "GET" && is_http11 && summary.asks_for_websocket();
    if is_upgrade {
        check_upgrade(summary, framing).map_err(refuse)?;
    }
    let is_repeatable = framing == Framing::Empty && matches!(method, "GET" | "HEAD" | "OPTIONS");
    let admitted = Admitted {
        framing,
        is_head,
        is_repeatable,
        is_http11,
        keep_alive,
        is_upgrade,
        wants_html: summary.wants_html,
        language,
        is_own_frame: summary.is_own_frame(),
        resource,
    };
    Ok(Authorized { admitted, path })
}

/// Checks the request's Host and target. Returns the path and query for the app.
fn check_target<'h>(request: &RequestHead<'_, 'h>) -> Result<(&'static [u8], &'h [u8]), Reason> {
    request.summary.check_host(request.is_http11).map_err(Reason::Target)?;
    target::path(request.target, request.summary.host, request.method == "OPTIONS").map_err(Reason::Target)
}

fn check_upgrade(summary: &HeaderSummary<'_>, framing: Framing) -> Result<(), Reason> {
    if framing != Framing::Empty {
        return Err(Reason::Malformed("a WebSocket request must not have a body"));
    }
    if has_allowed_origin(summary) { Ok(()) } else { Err(Reason::ForeignOrigin) }
}

/// Returns true if the Origin header is the workshop's own origin, or if it is missing. A missing header is safe: a
/// browser always sends it with a WebSocket request, and a page cannot suppress it.
fn has_allowed_origin(summary: &HeaderSummary<'_>) -> bool {
    match (summary.origins, summary.origin, summary.host) {
        (0, _, _) => true,
        (1, Some(origin), Some(host)) => origin::is_same_origin(origin, host, summary.proto),
        _ => false,
    }
}
