//! Routes requests by host, because the launcher and the workshops share one listener.

use std::net::IpAddr;

use axum::Router;
use http::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST};
use http::uri::Authority;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use launcher_api::{StoppedWorkshop, StoppedWorkshops};
use launcher_domain::frame_path::{CLASS, STATUS};
use launcher_fleet::{Gateway, Unserved, notice_response, own_response};
use launcher_process::serve::{Body, Connection};
use launcher_sidecar::notice::{Notice, RELOAD_SECONDS};
use launcher_sidecar::texts::Language;
use tower::ServiceExt;

/// The workshops of a fleet on this machine, and the explanations for the owners of those that do not run.
#[derive(Debug, Clone)]
pub(super) struct Workshops {
    pub(super) gateway: Gateway,
    pub(super) stopped: StoppedWorkshops,
}

/// Passes a request for a workshop's host to the gateway, except those about its class, and any other request to the router.
/// Refuses a host that two programs could read differently: for all other paths, the launcher must never answer as the origin
/// of a workshop.
pub(super) async fn route(
    router: Router,
    workshops: Option<Workshops>,
    request: Request<Incoming>,
    peer: IpAddr,
) -> Response<Body> {
    let Ok(host) = host(&request) else { return refused() };
    if let (Some(workshops), Some(host)) = (workshops, host)
        && let Some(name) = workshops.gateway.names_workshop(&host)
        && !request.uri().path().starts_with(&format!("{CLASS}{name}/"))
    {
        let connection = request.extensions().get::<Connection>().cloned();
        let response = workshops.serve(&name, request, peer).await;
        if let Some(connection) = connection.filter(|_| response.status() != StatusCode::FORBIDDEN) {
            connection.carry_workshop();
        }
        return response;
    }
    let Ok(response) = router.oneshot(request.map(axum::body::Body::new)).await;
    response.map(|body| body.map_err(Into::into).boxed_unsync())
}

impl Workshops {
    /// Serves one request for a workshop's origin. If the workshop does not run, explains this to its owner. Every other caller
    /// gets the gateway's own answer.
    async fn serve(&self, name: &str, request: Request<Incoming>, peer: IpAddr) -> Response<Body> {
        let Unserved { request, answer } = match self.gateway.serve(name, request, Some(peer)).await {
            Ok(response) => return response,
            Err(unserved) => *unserved,
        };
        // The format depends on the request alone: a query for some names would reveal which of them exist.
        let Some(format) = Format::of(&request) else { return answer };
        match self.stopped.explain(name, request.headers()).await {
            Ok(Some(stopped)) => format.response(&stopped),
            Ok(None) => answer,
            Err(error) => {
                tracing::warn!(%error, "reading the instance of a stopped workshop failed, answering without it");
                answer
            }
        }
    }
}

/// Format of an explanation.
enum Format {
    /// For a person who opens the address.
    Html,
    /// For the script of the frame page.
    Json,
}

impl Format {
    /// Returns the format for a request. Returns `None` for a request of the app's own scripts, which cannot use an explanation
    /// and may be frequent.
    fn of(request: &Request<Incoming>) -> Option<Self> {
        let accepts = |media: &[u8]| {
            let mut lines = request.headers().get_all(ACCEPT).iter();
            lines.any(|line| line.as_bytes().windows(media.len()).any(|part| part == media))
        };
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            None
        } else if request.uri().path() == STATUS {
            accepts(b"application/json").then_some(Self::Json)
        } else {
            accepts(b"text/html").then_some(Self::Html)
        }
    }

    fn response(&self, stopped: &StoppedWorkshop) -> Response<Body> {
        let is_starting = stopped.is_starting();
        let status = if is_starting { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::NOT_FOUND };
        match self {
            Self::Json => {
                let body = serde_json::to_string(stopped).unwrap_or_default();
                own_response(status, "application/json", body)
            }
            Self::Html => {
                let texts: Vec<&str> = stopped.paragraphs.iter().map(|paragraph| paragraph.plain.as_str()).collect();
                let links: Vec<_> = stopped.links.iter().map(|link| (link.label.as_str(), link.url.as_str())).collect();
                let notice = Notice {
                    language: Language::with_code(stopped.language.as_bytes()).unwrap_or_default(),
                    title: &stopped.title,
                    texts: &texts,
                    links: &links,
                    launcher: None,
                    brand: None,
                    reload_seconds: is_starting.then_some(RELOAD_SECONDS),
                };
                notice_response(status, &notice, true)
            }
        }
    }
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
