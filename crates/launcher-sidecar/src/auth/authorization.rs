//! Authorization of one request, based on its head alone.
//!
//! The order of the checks matters. The identity is checked first, so that a request without the owner's identity never
//! reaches the later checks.

use launcher_domain::identity::IdentityError;
use launcher_domain::local_path::LocalPath;

use crate::auth::Rules;
use crate::frame::resource::{Resource, asks_for_plain_page, remembered_language, requested};
use crate::http1::body::Framing;
use crate::http1::head::HeaderKind;
use crate::http1::request::{HeaderSummary, RequestHead, target_path};
use crate::refusal::{Reason, Refused, ResponseForm};
use crate::texts::Language;

/// A request that may be forwarded to the app, or that the sidecar answers itself.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) framing: Framing,
    pub(crate) form: ResponseForm,
    /// True if the sidecar may send the request again on a new connection when a reused connection to the app is dead.
    pub(crate) is_repeatable: bool,
    /// True if the client uses HTTP/1.1, and so understands chunks and interim responses.
    pub(crate) is_http11: bool,
    /// True if the request asks for a WebSocket.
    pub(crate) is_upgrade: bool,
    /// Host of the workshop if the client used HTTPS, for redirects; `None` for a host of unusual length.
    pub(crate) https_host: Option<Box<[u8]>>,
    /// True if a page of the workshop's own origin loads the response into a frame.
    pub(crate) is_own_frame: bool,
    /// The resource that the sidecar serves itself; `None` for a request to the app.
    pub(crate) resource: Option<Resource>,
}

/// An admitted request, with the path for the head that the app receives.
#[derive(Debug)]
pub(crate) struct Authorized<'h> {
    pub(crate) admitted: Admitted,
    /// Path and query for the app, in two parts to concatenate. [`target_path`] defines the parts.
    pub(crate) path: (&'static [u8], &'h [u8]),
}

/// Decides whether the request may be forwarded to the app.
pub(crate) fn authorize<'h>(rules: &Rules, request: &RequestHead<'_, 'h>) -> Result<Authorized<'h>, Refused> {
    let &RequestHead { method, is_http11, ref summary, .. } = request;
    let framing = summary.read_framing(is_http11);
    let form = ResponseForm {
        is_head: method == "HEAD",
        wants_html: summary.wants_html,
        language: language(request),
        keep_alive: is_http11 && !summary.connection_close,
    };
    let refuse = |reason: Reason| {
        let keep_alive = form.keep_alive && framing == Ok(Framing::Empty) && reason.is_understood();
        let label = reason.is_about_caller().then(|| summary.workshop_label()).flatten();
        Refused { reason, form: ResponseForm { keep_alive, ..form }, label }
    };
    check_owner(rules, request.headers).map_err(refuse)?;
    let framing = framing.map_err(|error| refuse(Reason::Framing(error)))?;
    if ["CONNECT", "TRACE", "TRACK"].iter().any(|refused| refused.eq_ignore_ascii_case(method)) {
        return Err(refuse(Reason::Method));
    }
    let path = check_target(request).map_err(refuse)?;
    let resource = requested(method, path.1, framing, summary.is_from_another_site).transpose().map_err(refuse)?;
    let is_upgrade = method == "GET" && is_http11 && summary.asks_for_websocket();
    if is_upgrade {
        check_upgrade(summary, framing).map_err(refuse)?;
    }
    let resource = resource.or_else(|| framed_tab(rules, request, framing, path));
    let is_repeatable = framing == Framing::Empty && matches!(method, "GET" | "HEAD" | "OPTIONS");
    let admitted = Admitted {
        framing,
        form,
        is_repeatable,
        is_http11,
        is_upgrade,
        https_host: https_host(summary),
        is_own_frame: summary.is_own_frame(),
        resource,
    };
    Ok(Authorized { admitted, path })
}

/// Returns the redirect to the frame page for a page of the app that a browser opens in a tab. Without the frame page, nothing
/// there would tell that the workshop ends.
///
/// From another site, only the app's first page is led there: the frame page ignores the path that another site chooses, and
/// such a page may be the end of a login at another site.
fn framed_tab(
    rules: &Rules,
    request: &RequestHead<'_, '_>,
    framing: Framing,
    (missing, path): (&[u8], &[u8]),
) -> Option<Resource> {
    let RequestHead { method, summary, .. } = request;
    let start = rules.framed_start.as_ref()?;
    if *method != "GET" || framing != Framing::Empty || !summary.opens_tab() || !missing.is_empty() {
        return None;
    }
    let path = str::from_utf8(path).ok().and_then(LocalPath::parse_of_app)?;
    let is_start = path == *start;
    if summary.is_from_another_site && !is_start || cookies(request).any(|line| asks_for_plain_page(line, &path)) {
        return None;
    }
    Some(Resource::Tab((!is_start).then_some(path)))
}

/// Returns the values of the `Cookie` lines.
fn cookies<'r>(request: &'r RequestHead<'_, '_>) -> impl Iterator<Item = &'r [u8]> {
    let lines = request.headers.iter().zip(request.kinds.iter());
    lines.filter(|(_, kind)| **kind == HeaderKind::Cookie).map(|(header, _)| header.value)
}

/// Returns the language that the owner chose in the launcher, else the one that the browser prefers.
fn language(request: &RequestHead<'_, '_>) -> Language {
    let remembered = cookies(request).find_map(remembered_language);
    remembered.or_else(|| request.summary.accept_language.map(Language::preferred)).unwrap_or_default()
}

/// Checks the request's Host and target. Returns the path and query for the app.
fn check_target<'h>(request: &RequestHead<'_, 'h>) -> Result<(&'static [u8], &'h [u8]), Reason> {
    request.summary.check_host(request.is_http11).map_err(Reason::Target)?;
    target_path(request.target, request.summary.host, request.method == "OPTIONS").map_err(Reason::Target)
}

fn check_upgrade(summary: &HeaderSummary<'_>, framing: Framing) -> Result<(), Reason> {
    if framing != Framing::Empty {
        return Err(Reason::Malformed("a WebSocket request must not have a body"));
    }
    if has_allowed_origin(summary) { Ok(()) } else { Err(Reason::ForeignOrigin) }
}

/// Returns true if the Origin header is the workshop's own origin, or if it is missing. Browsers send the owner's cookies
/// with a WebSocket from any page, so a foreign page could otherwise act as the owner. A missing header is safe: a browser
/// always sends it with a WebSocket request, and a page cannot suppress it.
fn has_allowed_origin(summary: &HeaderSummary<'_>) -> bool {
    match (summary.origins, summary.origin, summary.host) {
        (0, _, _) => true,
        (1, Some(origin), Some(host)) => is_same_origin(origin, host, summary.proto),
        _ => false,
    }
}

/// Checks that the request's headers carry the owner's identity, and the proxy secret if the policy requires one.
fn check_owner(rules: &Rules, headers: &[httparse::Header<'_>]) -> Result<(), Reason> {
    let lines = headers.iter().map(|header| (header.name.as_bytes(), header.value));
    let policy = &rules.policy;
    let error = match policy.trusted_header.read_verified(policy.proxy_secret.as_ref(), lines) {
        Ok(identity) if policy.owner.as_ref() == Some(&identity) => return Ok(()),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let reports_as_unproven = error == Some(IdentityError::Unproven) && rules.count_unproven();
    if !policy.require_authentication {
        rules.report_mismatch(error);
        return Ok(());
    }
    if reports_as_unproven {
        tracing::warn!(
            "refusing request: X-Auth-Request-Proof is missing or wrong. Either the request bypassed the auth proxy, \
             or the auth proxy sends a secret that SERVICE_PROXY_SECRET_FILE does not contain"
        );
    }
    tracing::debug!(reason = error.map(tracing::field::display), "refusing request without the owner's identity");
    Err(match error {
        Some(IdentityError::Missing) => Reason::NoIdentity,
        _ => Reason::NotTheOwner,
    })
}

/// Returns true if `origin` (`https://host[:port]`) names the same host and port as `host`, the value of the Host
/// header. Each of them may omit the default port of the origin's scheme.
///
/// A proxy in front terminates TLS, so only `proto`, the X-Forwarded-Proto header, shows the scheme that the client
/// used. If `proto` is https or wss, an origin with http is foreign.
fn is_same_origin(origin: &[u8], host: &[u8], proto: Option<&[u8]>) -> bool {
    let Some((is_tls, authority)) = split(origin) else { return false };
    if came_over_tls(proto) && !is_tls {
        return false;
    }
    let default_port: &[u8] = if is_tls { b":443" } else { b":80" };
    let without_port = |text| <[u8]>::strip_suffix(text, default_port).unwrap_or(text);
    !authority.is_empty() && without_port(authority).eq_ignore_ascii_case(without_port(host))
}

/// True if `proto`, the X-Forwarded-Proto header, names a scheme with TLS.
fn came_over_tls(proto: Option<&[u8]>) -> bool {
    proto.is_some_and(|proto| proto.eq_ignore_ascii_case(b"https") || proto.eq_ignore_ascii_case(b"wss"))
}

/// Maximum length of a host with its port, in bytes.
const MAX_HOST: usize = 253 + 6;

fn https_host(summary: &HeaderSummary<'_>) -> Option<Box<[u8]>> {
    summary.host.filter(|host| came_over_tls(summary.proto) && host.len() <= MAX_HOST).map(Box::from)
}

fn split(origin: &[u8]) -> Option<(bool, &[u8])> {
    let end = origin.windows(3).position(|three| three == b"://")?;
    let (scheme, authority) = (&origin[..end], &origin[end + 3..]);
    if scheme.eq_ignore_ascii_case(b"https") {
        Some((true, authority))
    } else if scheme.eq_ignore_ascii_case(b"http") {
        Some((false, authority))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::is_same_origin;

    #[test]
    fn only_origin_that_matches_host_is_same_origin() {
        for (origin, host, proto, own) in [
            ("https://w.example", "w.example", None, true),
            ("https://w.example", "W.example:443", None, true),
            ("http://w.example:80", "w.example", None, true),
            ("http://w.localhost:8000", "w.localhost:8000", None, true),
            ("https://[::1]:8443", "[::1]:8443", Some("https"), true),
            ("https://w.example", "w.example", Some("http"), true),
            ("http://w.example", "w.example", Some("wss"), false),
            ("https://w.example:80", "w.example", None, false),
            ("http://w.example:8001", "w.example:8000", None, false),
            ("https://evil.example", "w.example", None, false),
            ("https://w.example.evil.example", "w.example", None, false),
            ("https://evil@w.example", "w.example", None, false),
            ("https://w.example/", "w.example", None, false),
            ("null", "w.example", None, false),
            ("null", "null", None, false),
            ("", "w.example", None, false),
            ("https://", "", None, false),
            ("chrome-extension://w.example", "w.example", None, false),
        ] {
            assert_eq!(
                is_same_origin(origin.as_bytes(), host.as_bytes(), proto.map(str::as_bytes)),
                own,
                "{origin} {host}"
            );
        }
    }
}
