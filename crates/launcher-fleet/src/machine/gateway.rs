//! The gateway: serves the workshops' origins on the launcher's listener.
//!
//! The listener routes each request by its host, because a reverse proxy may send requests for several hosts over one
//! connection. A sidecar authorizes whole connections. The gateway therefore opens a new connection to the sidecar for
//! each request: in memory, or through a Unix socket.

use std::fmt::Debug;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::header::{
    ACCEPT, ACCEPT_LANGUAGE, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFRESH, RETRY_AFTER,
    UPGRADE, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::upgrade::{OnUpgrade, on};
use hyper_util::rt::TokioIo;
use launcher_domain::brand::Brand;
use launcher_domain::names::is_k8s_name;
use launcher_process::serve::Body;
use launcher_process::stop::Stop;
use launcher_sidecar::notice::{Notice, POLICY, RELOAD_SECONDS};
use launcher_sidecar::texts::{Language, NoticeText};
use launcher_workshop::{Phase, Workshop};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, split};
use tokio::time::timeout;

use super::origins::OriginSettings;

/// The workshops of a fleet, as the gateway sees them.
pub(crate) trait Origins: Debug + Send + Sync + 'static {
    fn settings(&self) -> &OriginSettings;

    fn workshop(&self, name: &str) -> Option<Workshop>;

    /// Returns the connector to the workshop's sidecar, or `None` while the app is not ready.
    fn connector(&self, name: &str) -> Option<Arc<dyn SidecarConnector>>;

    /// Returns the stop that closes the connections to sidecars.
    fn stop(&self) -> &Stop;
}

/// Serves the workshops' origins: hosts of the form `{k8s_name}.{workshop_domain}`. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    origins: Arc<dyn Origins>,
}

impl Gateway {
    pub(crate) fn new(origins: Arc<dyn Origins>) -> Self {
        Self { origins }
    }

    /// Returns the workshop's name in a `Host` header of the form `{k8s_name}.{workshop_domain}`, with or without a
    /// port. The workshop need not exist. Returns `None` for the launcher's public host and for hosts outside the
    /// workshop domain.
    ///
    /// Invalid names count as workshops too: the launcher must never answer on a workshop's origin. Below the
    /// workshop domain, the launcher answers only on its public host.
    #[must_use]
    pub fn names_workshop(&self, host: &str) -> Option<String> {
        let settings = self.origins.settings();
        let host = without_port(host).trim_end_matches('.').to_ascii_lowercase();
        let own = settings.public_origin.host().unwrap_or_default();
        if host.eq_ignore_ascii_case(own) {
            return None;
        }
        let name = host.strip_suffix(&settings.workshop_domain.to_ascii_lowercase())?.strip_suffix('.')?;
        Some(name.to_owned())
    }

    /// Serves one request for a workshop's origin, including connection upgrades. The workshop's sidecar passes only
    /// the owner's requests to the app. `peer` is the client's address.
    ///
    /// # Errors
    /// No sidecar has the request. The gateway's own answer to every other caller is the same 403, even if the workshop does not
    /// exist or does not run. It thus reveals nothing about other users' workshops. While the app does not run, the answer to
    /// its owner is a status page with 503, which reloads while the workshop starts. If authentication is not required, the
    /// answer for an unknown name is 404.
    pub async fn serve(
        &self,
        name: &str,
        request: Request<Incoming>,
        peer: Option<IpAddr>,
    ) -> Result<Response<Body>, Box<Unserved>> {
        let workshop = self.origins.workshop(name);
        let pages = Pages::new(self.origins.settings(), name, request.headers());
        let texts = pages.language.texts();
        if !self.may_know(workshop.as_ref(), &request) {
            // The caller is not the owner, or the workshop is missing. The page must not reveal which of the two is true.
            return Err(Unserved::new(request, pages.nothing_here(StatusCode::FORBIDDEN, texts.not_yours)));
        }
        let Some(workshop) = workshop else {
            return Err(Unserved::new(request, pages.nothing_here(StatusCode::NOT_FOUND, texts.unknown)));
        };
        match self.origins.connector(name) {
            Some(connector) => Ok(self.forward(name, connector, request, peer, &pages).await),
            None => Err(Unserved::new(request, pages.not_running(workshop))),
        }
    }

    /// True if the caller is the owner, or authentication is not required. The gateway needs this check for the pages
    /// that it answers itself. The sidecar checks forwarded requests again.
    fn may_know(&self, workshop: Option<&Workshop>, request: &Request<Incoming>) -> bool {
        let settings = self.origins.settings();
        let lines = request.headers().iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
        let lines: Vec<_> = lines.collect();
        let caller = settings.trusted_header.read_verified(settings.proxy_secret.as_ref(), lines.iter().copied()).ok();
        let owner = workshop.and_then(|workshop| workshop.spec.owner_email());
        !settings.require_authentication || (caller.is_some() && caller == owner)
    }

    async fn forward(
        &self,
        name: &str,
        connector: Arc<dyn SidecarConnector>,
        mut request: Request<Incoming>,
        peer: Option<IpAddr>,
        pages: &Pages,
    ) -> Response<Body> {
        let stop = self.origins.stop();
        let broken = || pages.notice(StatusCode::BAD_GATEWAY, pages.language.texts().no_answer);
        let connection = match connector.connect(request.headers_mut(), peer, stop).await {
            Ok(connection) => connection,
            Err(error) => {
                tracing::debug!(workshop = name, %error, "connecting to sidecar failed, answering 502");
                return broken();
            }
        };
        match exchange(connection, request, stop).await {
            Ok(response) => response,
            Err(error) => {
                tracing::debug!(workshop = name, %error, "request to sidecar failed, answering 502");
                broken()
            }
        }
    }
}

/// A request that no sidecar has received.
#[derive(Debug)]
pub struct Unserved {
    pub request: Request<Incoming>,
    pub answer: Response<Body>,
}

impl Unserved {
    fn new(request: Request<Incoming>, answer: Response<Body>) -> Box<Self> {
        Box::new(Self { request, answer })
    }
}

/// Returns a host without its port. The colons inside the brackets of an IPv6 address do not start a port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Maximum wait for the client to close an upgraded connection after the app has closed it.
const CLIENT_CLOSE: Duration = Duration::from_secs(5);
/// Maximum number of header lines in an app's response.
const MAX_RESPONSE_HEADERS: usize = 256;

/// Sends a request over a new connection to the sidecar. After an upgrade, it copies bytes between the client and the
/// sidecar. `stop` closes the connection.
async fn exchange(
    sidecar: Box<dyn Connection>,
    mut request: Request<Incoming>,
    stop: &Stop,
) -> hyper::Result<Response<Body>> {
    let (mut sender, connection) = http1::Builder::new()
        .preserve_header_case(true)
        .title_case_headers(false)
        .max_headers(MAX_RESPONSE_HEADERS)
        .handshake(TokioIo::new(sidecar))
        .await?;
    stop.track(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "connection to sidecar failed");
        }
    });
    let client = on(&mut request);
    if request.version() < Version::HTTP_11 {
        // HTTP/1.0 has no upgrade: a server must ignore the header there (RFC 9110, 7.8).
        request.headers_mut().remove(UPGRADE);
        request.headers_mut().remove(CONNECTION);
    }
    // The connection to the sidecar speaks HTTP/1.1. The listener answers the client in the client's HTTP version.
    *request.version_mut() = Version::HTTP_11;
    let mut response = sender.send_request(request).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let app = on(&mut response);
        stop.track(tunnel(client, app));
    }
    *response.version_mut() = Version::HTTP_11;
    Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
}

/// Copies bytes between the client and the app of an upgraded connection until both have closed it. After the app has
/// closed, it waits at most [`CLIENT_CLOSE`] for the client, because the client may be gone.
async fn tunnel(client: OnUpgrade, app: OnUpgrade) {
    let (client, app) = match tokio::try_join!(client, app) {
        Ok(both) => both,
        Err(error) => return tracing::debug!(%error, "upgrading connection to app failed, closing it"),
    };
    let (mut from_client, mut to_client) = split(TokioIo::new(client));
    let (mut from_app, mut to_app) = split(TokioIo::new(app));
    let sending = async {
        let sent = copy(&mut from_client, &mut to_app).await;
        sent.and(to_app.shutdown().await)
    };
    let receiving = async {
        let received = copy(&mut from_app, &mut to_client).await;
        received.and(to_client.shutdown().await)
    };
    let (mut sending, mut receiving) = (pin!(sending), pin!(receiving));
    let ended = tokio::select! {
        ended = sending.as_mut() => ended.and(receiving.await),
        ended = receiving.as_mut() => match timeout(CLIENT_CLOSE, sending).await {
            Ok(closed) => ended.and(closed),
            Err(_) => ended,
        },
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "upgraded connection to a workshop ended with an error");
    }
}

pub(crate) trait Connection: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<C: AsyncRead + AsyncWrite + Unpin + Send + 'static> Connection for C {}

#[async_trait]
pub(crate) trait SidecarConnector: Send + Sync {
    /// Opens a connection for one request of the client at address `peer`, and adds to the request's headers what
    /// the sidecar or the app needs. `stop` closes the connection.
    ///
    /// # Errors
    /// The sidecar does not accept the connection, or the app does not answer the gateway's login.
    async fn connect(
        &self,
        headers: &mut HeaderMap,
        peer: Option<IpAddr>,
        stop: &Stop,
    ) -> io::Result<Box<dyn Connection>>;
}

/// The pages for one request, in the language and the format that its client prefers.
struct Pages {
    language: Language,
    /// True for HTML pages, false for plain text.
    is_html: bool,
    /// URL of the launcher, to which each page links.
    launcher: String,
    /// URL of the launcher's page of the workshop that the host names; `None` if no workshop can have this name.
    workshop_page: Option<String>,
    brand: Brand,
}

impl Pages {
    fn new(settings: &OriginSettings, name: &str, headers: &HeaderMap) -> Self {
        let language = headers.get(ACCEPT_LANGUAGE).map(|value| Language::preferred(value.as_bytes()));
        let accepted = headers.get(ACCEPT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        Self {
            language: language.unwrap_or_default(),
            is_html: accepted
                .is_none_or(|accepted| ["text/html", "text/*", "*/*"].iter().any(|one| accepted.contains(one))),
            launcher: settings.launcher_url(),
            workshop_page: is_k8s_name(name).then(|| settings.workshop_page_url(name)),
            brand: settings.brand.clone(),
        }
    }

    /// The page for an app that is starting, has failed or has ended.
    fn not_running(&self, workshop: Workshop) -> Response<Body> {
        let (status, texts) = (workshop.status.unwrap_or_default(), self.language.texts());
        let unavailable = |text| self.notice(StatusCode::SERVICE_UNAVAILABLE, text);
        match status.phase {
            _ if workshop.metadata.deletion_timestamp.is_some() => unavailable(texts.terminated),
            Phase::Pending | Phase::Starting | Phase::Running => {
                let mut response = unavailable(texts.starting);
                for name in [REFRESH, RETRY_AFTER] {
                    response.headers_mut().insert(name, u16::from(RELOAD_SECONDS).into());
                }
                response
            }
            Phase::Failed => {
                let NoticeText { title, text } = texts.failed;
                let text = status.message.as_deref().unwrap_or(text);
                let texts: Vec<&str> = [text].into_iter().chain(status.remedy.as_deref()).collect();
                self.page(StatusCode::SERVICE_UNAVAILABLE, title, &texts, &[])
            }
            Phase::Expired => unavailable(texts.expired),
        }
    }

    fn notice(&self, status: StatusCode, NoticeText { title, text }: NoticeText) -> Response<Body> {
        self.page(status, title, &[text], &[])
    }

    /// The notice at an address where the caller has no workshop. It depends on this address alone.
    fn nothing_here(&self, status: StatusCode, NoticeText { title, text }: NoticeText) -> Response<Body> {
        let link = self.workshop_page.as_deref().map(|url| (self.language.texts().its_page, url));
        self.page(status, title, &[text], link.as_slice())
    }

    fn page(&self, status: StatusCode, title: &str, texts: &[&str], links: &[(&str, &str)]) -> Response<Body> {
        let notice = Notice {
            language: self.language,
            title,
            texts,
            links,
            launcher: Some(&self.launcher),
            brand: self.brand.name(),
            reload_seconds: None,
        };
        notice_response(status, &notice, self.is_html)
    }
}

/// Returns a response with a notice, as a page or as a line of text.
#[must_use]
pub fn notice_response(status: StatusCode, notice: &Notice<'_>, is_html: bool) -> Response<Body> {
    if is_html {
        own_response(status, "text/html; charset=utf-8", notice.html())
    } else {
        own_response(status, "text/plain; charset=utf-8", notice.line())
    }
}

/// Returns a response that a workshop's origin gives in place of the app.
#[must_use]
pub fn own_response(status: StatusCode, media: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Full::from(body).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(VARY, HeaderValue::from_static("Accept, Accept-Language"));
    response
}
