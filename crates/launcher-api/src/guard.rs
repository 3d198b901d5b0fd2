//! Refuses requests that the page of another site makes through the user's browser.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName};
use launcher_domain::frame_path::CLASS;
use launcher_domain::names::is_k8s_name;

use crate::problem::{Problem, ProblemCode};
use crate::settings::ApiSettings;
use crate::state::AppState;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses changes that come from another site's page. A workshop runs untrusted code on a sibling domain; that code
/// must not be able to act as the user.
pub(crate) async fn reject_cross_site(State(state): State<AppState>, request: Request, next: Next) -> Response {
    if request.method().is_safe() || is_same_site(&state.settings, request.headers()) {
        return next.run(request).await;
    }
    let detail = "A page of another site requested this change. Nothing was changed. Use this site's own pages.";
    Problem::new(ProblemCode::CrossSiteRequest, detail).into_response()
}

fn is_same_site(settings: &ApiSettings, headers: &HeaderMap) -> bool {
    let own_site = |value: &[u8]| value == b"same-origin" || value == b"none";
    headers.get_all(SEC_FETCH_SITE).iter().all(|value| own_site(value.as_bytes()))
        && headers.get_all(ORIGIN).iter().all(|origin| is_own_origin(settings, headers, origin.as_bytes()))
}

/// Returns true for the public origin, and for an origin whose host is the request's own Host. The second case ignores
/// the scheme, because a proxy may have changed it.
fn is_own_origin(settings: &ApiSettings, headers: &HeaderMap, origin: &[u8]) -> bool {
    if origin.eq_ignore_ascii_case(settings.origin().as_bytes()) {
        return true;
    }
    let host = [&b"https://"[..], b"http://"].into_iter().find_map(|scheme| strip_prefix(origin, scheme));
    let mut hosts = headers.get_all(HOST).iter();
    match (host, hosts.next(), hosts.next()) {
        (Some(origin_host), Some(host), None) => origin_host.eq_ignore_ascii_case(host.as_bytes()),
        _ => false,
    }
}

fn strip_prefix<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Refuses a request for a host other than this service's. Otherwise a web page could reach the service under another
/// name (DNS rebinding), and links could contain a host that a client chose.
///
/// Ports are not compared: a reverse proxy may forward the public port, its own port, or none.
pub(crate) async fn reject_unknown_host(State(state): State<AppState>, request: Request, next: Next) -> Response {
    if names_this_service(&state.settings, &request) {
        return next.run(request).await;
    }
    let detail = format!(
        "The request is for another host. Use {} (SERVICE_PUBLIC_URL), or localhost on this machine. If people reach \
         the service under another name, correct SERVICE_PUBLIC_URL, or let the proxy in front pass Host on unchanged.",
        state.settings.origin()
    );
    Problem::new(ProblemCode::UnknownHost, detail).into_response()
}

fn names_this_service(settings: &ApiSettings, request: &Request) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let known = |authority: &Authority| {
        let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
        let public = settings.public_host().parse::<Authority>();
        let user = authority.as_str().contains('@');
        !user && (is_loopback(&host) || public.is_ok_and(|public| public.host().eq_ignore_ascii_case(&host)))
    };
    let bar = bar_of(request.uri().path());
    let known = |authority: &Authority| known(authority) || bar.is_some_and(|name| is_workshop(authority, name));
    // A request target in absolute form also contains a host, which must be known too.
    Authority::try_from(host.as_bytes()).is_ok_and(|host| known(&host)) && request.uri().authority().is_none_or(known)
}

fn bar_of(path: &str) -> Option<&str> {
    path.strip_prefix(CLASS)?.split('/').next().filter(|name| is_k8s_name(name))
}

/// Returns true for the host of a workshop: its first label is the name of the workshop, or begins with it. The launcher does not
/// know the domain and the suffix of the workshops on a cluster.
fn is_workshop(authority: &Authority, name: &str) -> bool {
    let label = authority.host().split('.').next().unwrap_or_default().to_ascii_lowercase();
    !authority.as_str().contains('@')
        && label.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Returns true for names and addresses of this machine. A foreign DNS server cannot control these.
fn is_loopback(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host == "localhost"
        || host.ends_with(".localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}
