//! Routes requests by host, because the launcher and the workshops share one listener.

use std::net::IpAddr;

use axum::Router;
use http::header::{CONNECTION, CONTENT_TYPE, HOST};
use http::uri::Authority;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use launcher_fleet::Gateway;
use launcher_process::serve::{Body, Connection};
use tower::ServiceExt;

/// Passes a request for a workshop's host to the gateway, and any other request to the router. Refuses a host that two
/// programs could read differently: the launcher must never answer as the origin of a workshop.
pub(super) async fn route(
    router: Router,
    gateway: Option<Gateway>,
    request: Request<Incoming>,
    peer: IpAddr,
) -> Response<Body> {
    let Ok(host) = host(&request) else { return refused() };
    if let (Some(gateway), Some(host)) = (gateway, host)
        && let Some(name) = gateway.names_workshop(&host)
    {
        let connection = request.extensions().get::<Connection>().cloned();
        let response = gateway.serve(&name, request, Some(peer)).await;
        if let Some(connection) = connection.filter(|_| response.status() != StatusCode::FORBIDDEN) {
            connection.carry_workshop();
        }
        return response;
    }
    let Ok(response) = router.oneshot(request.map(axum::body::Body::new)).await;
    response.map(|body| body.map_err(Into::into).boxed_unsync())
}

/// The request does not name exactly one well-formed host.
struct AmbiguousHost;

/// Returns the host that a request names, or `None` without one.
fn host(request: &Request<Incoming>) -> Result<Option<String>, AmbiguousHost> {
    let mut lines = request.headers().get_all(HOST).iter();
    let (line, target) = (lines.next(), request.uri().authority());
    if lines.next().is_some() {
        return Err(AmbiguousHost);
    }
    let Some(line) = line else { return if target.is_none() { Ok(None) } else { Err(AmbiguousHost) } };
    let host: Authority = line.to_str().ok().and_then(|host| host.parse().ok()).ok_or(AmbiguousHost)?;
    let has_plain_port = host.as_str() == host.host() || host.port_u16().is_some();
    if host.as_str().contains('@') || !has_plain_port || target.is_some_and(|target| *target != host) {
        return Err(AmbiguousHost);
    }
    Ok(Some(host.to_string()))
}

fn refused() -> Response<Body> {
    let text = "Name one host, as in Host: localhost:8000, and the same one in the target.\n";
    let mut response = Response::new(Full::from(text).map_err(Into::into).boxed_unsync());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
