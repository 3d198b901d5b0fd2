//! The workshops' origins behind the launcher's own listener.
//!
//! The listener dispatches each request by its host, since a proxy in front may use one connection for several hosts;
//! the sidecar judges connections. So each request gets a connection of its own to its sidecar, inside the process.

use std::net::IpAddr;
use std::sync::Arc;

use http::{Request, Response, StatusCode, Version};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::upgrade::{OnUpgrade, on};
use hyper_util::rt::TokioIo;
use launcher_domain::identity::TrustedHeader;
use launcher_process::serve::Body;
use launcher_sidecar::Sidecar;
use launcher_workshop::WorkshopSpec;
use tokio::io::{copy_bidirectional, duplex};

use super::{Inner, pages};

/// How many bytes may be under way between the listener and a sidecar, in each direction.
const PIPE_BYTES: usize = 64 * 1024;
/// How many header lines an app's response may have.
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

    /// The workshop that the value of a `Host` header names (`{k8s_name}.{workshop_domain}`, with or without a port),
    /// whether or not it exists. `None` when the host is no workshop's, and so the launcher's own.
    ///
    /// Every host below the workshop domain is a workshop's, however odd its name: a workshop's origin must never be
    /// answered by the launcher. The one exception is the launcher's own public host.
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

    /// Serves one request of a workshop's origin through its sidecar, which lets only the owner through to the app;
    /// upgrades included. `peer` is where the request comes from.
    ///
    /// An unknown name is 404. While the app does not run its owner gets a page that says so (503; it loads itself
    /// again while the workshop starts) and everybody else 403, as they would from the sidecar.
    pub async fn serve(&self, name: &str, request: Request<Incoming>, peer: Option<IpAddr>) -> Response<Body> {
        let Some(workshop) = self.inner.board.get(name) else { return pages::unknown() };
        match self.inner.shop(name).and_then(|shop| shop.sidecar()) {
            Some(sidecar) => self.forward(sidecar, request, peer).await,
            None if self.may_know(&workshop.spec, &request) => pages::not_running(workshop),
            None => pages::forbidden(),
        }
    }

    /// The sidecar's rule, for the pages that stand in for it.
    fn may_know(&self, spec: &WorkshopSpec, request: &Request<Incoming>) -> bool {
        let settings = &self.inner.context.settings;
        !settings.require_authentication || is_owner(&settings.trusted_header, spec, request)
    }

    async fn forward(&self, sidecar: Sidecar, request: Request<Incoming>, peer: Option<IpAddr>) -> Response<Body> {
        match self.exchange(sidecar, request, peer).await {
            Ok(response) => response,
            Err(error) => {
                tracing::debug!(%error, "a request to a workshop broke off");
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
                tracing::debug!(%error, "a connection to a workshop's sidecar ended early");
            }
        });
        let client = on(&mut request);
        // What it is between the listener and the sidecar; the listener answers the client in the client's version.
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

/// Joins the two sides of an upgraded connection until both have ended.
async fn tunnel(client: OnUpgrade, app: OnUpgrade) {
    let joined = async {
        let (client, app) = tokio::try_join!(client, app)?;
        let copied = copy_bidirectional(&mut TokioIo::new(client), &mut TokioIo::new(app)).await;
        Ok::<_, hyper::Error>(copied)
    };
    match joined.await {
        Ok(Ok((sent, received))) => tracing::debug!(sent, received, "a tunnel to a workshop has ended"),
        Ok(Err(error)) => tracing::debug!(%error, "a tunnel to a workshop broke off"),
        Err(error) => tracing::debug!(%error, "an upgraded connection was not handed over"),
    }
}

fn is_owner(trusted: &TrustedHeader, spec: &WorkshopSpec, request: &Request<Incoming>) -> bool {
    let lines = request.headers().iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
    trusted.read(lines).is_ok_and(|caller| spec.owner_email() == Some(caller))
}

/// A host without its port. The address of IPv6 has colons of its own, in brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}
