//! Serves the workshops' origins on the launcher's own listener.
//!
//! The listener dispatches each request by its host, because a reverse proxy may use one connection for several hosts.
//! A sidecar authorizes whole connections. So each request gets its own connection to its sidecar, inside the process.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONNECTION, UPGRADE};
use http::{Request, Response, StatusCode, Version};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::upgrade::{OnUpgrade, on};
use hyper_util::rt::TokioIo;
use launcher_process::serve::Body;
use launcher_sidecar::Sidecar;
use launcher_workshop::Workshop;
use tokio::io::{AsyncWriteExt, copy, duplex, split};
use tokio::time::timeout;

use super::workload::AppProxy;
use super::{Inner, pages};

/// Buffer between the listener and a sidecar, in bytes, for each direction.
const PIPE_BYTES: usize = 64 * 1024;
/// Maximum time until a client closes its side of a tunnel after the app has closed its own.
const CLIENT_CLOSE: Duration = Duration::from_secs(5);
/// Maximum number of header lines in an app's response.
const MAX_RESPONSE_HEADERS: usize = 256;

/// Serves the workshops' origins: hosts of the form `{k8s_name}.{workshop_domain}`. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

impl Gateway {
    pub(super) fn new(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    /// The workshop in the value of a `Host` header (`{k8s_name}.{workshop_domain}`, with or without a port), which
    /// need not exist. `None` if the host is the launcher's own.
    ///
    /// Every host below the workshop domain belongs to a workshop, even with an invalid name: the launcher must never
    /// answer on a workshop's origin. The one exception is the launcher's own public host.
    #[must_use]
    pub fn names_workshop(&self, host: &str) -> Option<String> {
        let settings = &self.inner.context.settings;
        let host = without_port(host).trim_end_matches('.').to_ascii_lowercase();
        let own = settings.public_origin.host().unwrap_or_default();
        if host.eq_ignore_ascii_case(own) {
            return None;
        }
        let name = host.strip_suffix(&settings.workshop_domain.to_ascii_lowercase())?.strip_suffix('.')?;
        Some(name.to_owned())
    }

    /// Serves one request for a workshop's origin through its sidecar, which admits only the owner to the app; upgrades
    /// included. `peer` is the client's address.
    ///
    /// Every other caller gets the same 403, even if the workshop does not exist or does not run, so that the answer
    /// reveals nothing about other users' workshops. While the app does not run, its owner gets a status page (503; it
    /// reloads while the workshop starts). If authentication is not required, an unknown name is 404.
    pub async fn serve(&self, name: &str, request: Request<Incoming>, peer: Option<IpAddr>) -> Response<Body> {
        let workshop = self.inner.cache.get(name);
        if !self.may_know(workshop.as_ref(), &request) {
            return pages::forbidden();
        }
        let Some(workshop) = workshop else { return pages::unknown() };
        match self.inner.workload(name).and_then(|workload| workload.proxy()) {
            Some(proxy) => self.forward(proxy, request, peer).await,
            None => pages::not_running(workshop),
        }
    }

    /// Applies the sidecar's rule to answers that do not come from a sidecar. The sidecar applies it again.
    fn may_know(&self, workshop: Option<&Workshop>, request: &Request<Incoming>) -> bool {
        let settings = &self.inner.context.settings;
        let lines = request.headers().iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
        let lines: Vec<_> = lines.collect();
        let caller = settings.trusted_header.read_verified(settings.proxy_secret.as_ref(), lines.iter().copied()).ok();
        let owner = workshop.and_then(|workshop| workshop.spec.owner_email());
        !settings.require_authentication || (caller.is_some() && caller == owner)
    }

    async fn forward(&self, proxy: AppProxy, mut request: Request<Incoming>, peer: Option<IpAddr>) -> Response<Body> {
        if let Some(login) = proxy.login
            && let Err(error) = login.add_to(request.headers_mut()).await
        {
            tracing::debug!(%error, "login to app failed");
            return pages::broken();
        }
        match self.exchange(proxy.sidecar, request, peer).await {
            Ok(response) => response,
            Err(error) => {
                tracing::debug!(%error, "request to sidecar failed");
                pages::broken()
            }
        }
    }

    async fn exchange(
        &self,
        sidecar: Sidecar,
        mut request: Request<Incoming>,
        peer: Option<IpAddr>,
    ) -> hyper::Result<Response<Body>> {
        let stop = &self.inner.context.stop;
        let (near, far) = duplex(PIPE_BYTES);
        let served = stop.clone();
        stop.track(async move { sidecar.serve_connection(far, peer, served).await });
        let (mut sender, connection) = http1::Builder::new()
            .preserve_header_case(true)
            .title_case_headers(false)
            .max_headers(MAX_RESPONSE_HEADERS)
            .handshake(TokioIo::new(near))
            .await?;
        stop.track(async move {
            if let Err(error) = connection.with_upgrades().await {
                tracing::debug!(%error, "connection to sidecar ended early");
            }
        });
        let client = on(&mut request);
        if request.version() < Version::HTTP_11 {
            // No upgrade in HTTP/1.0 (RFC 9110, 7.8).
            request.headers_mut().remove(UPGRADE);
            request.headers_mut().remove(CONNECTION);
        }
        // The version between the listener and the sidecar; the listener answers in the client's version.
        *request.version_mut() = Version::HTTP_11;
        let mut response = sender.send_request(request).await?;
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let app = on(&mut response);
            stop.track(tunnel(client, app));
        }
        *response.version_mut() = Version::HTTP_11;
        Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
    }
}

/// Joins the two sides of an upgraded connection until both are closed. After the app has closed, it waits only briefly
/// for the client, which may be gone.
async fn tunnel(client: OnUpgrade, app: OnUpgrade) {
    let (client, app) = match tokio::try_join!(client, app) {
        Ok(both) => both,
        Err(error) => return tracing::debug!(%error, "connection upgrade failed"),
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
        tracing::debug!(%error, "tunnel to sidecar ended early");
    }
}

/// A host without its port. An IPv6 address has colons in its brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}
