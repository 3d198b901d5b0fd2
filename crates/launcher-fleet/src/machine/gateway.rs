//! The gateway: serves the workshops' origins on the launcher's listener.
//!
//! The listener routes each request by its host, because a reverse proxy may send requests for several hosts over one
//! connection. A sidecar authorizes whole connections. The gateway therefore opens a new connection to the sidecar for
//! each request: in memory, or through a Unix socket.

mod connector;
mod exchange;
mod pages;

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::Arc;

use http::{Request, Response};
use hyper::body::Incoming;
use launcher_process::serve::Body;
use launcher_process::stop::Stop;
use launcher_workshop::Workshop;

use super::origins::OriginSettings;
pub(crate) use connector::{Connection, SidecarConnector};
use exchange::exchange;
use pages::Pages;

/// The workshops of a fleet, as the gateway sees them.
pub(crate) trait Origins: Debug + Send + Sync + 'static {
    /// Returns the origins of the launcher and of the workshops.
    fn settings(&self) -> &OriginSettings;

    /// Returns the Workshop with this name.
    fn workshop(&self, name: &str) -> Option<Workshop>;

    /// Returns the connector to the workshop's sidecar, or `None` while the app is not ready.
    fn connector(&self, name: &str) -> Option<Box<dyn SidecarConnector>>;

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
    /// Every other caller gets the same 403, even if the workshop does not exist or does not run. The response thus
    /// reveals nothing about other users' workshops. While the app does not run, its owner gets a status page with 503,
    /// which reloads while the workshop starts. If authentication is not required, an unknown name gives 404.
    pub async fn serve(&self, name: &str, request: Request<Incoming>, peer: Option<IpAddr>) -> Response<Body> {
        let workshop = self.origins.workshop(name);
        let pages = Pages::new(self.origins.settings(), request.headers());
        if !self.may_know(workshop.as_ref(), &request) {
            return pages.forbidden();
        }
        let Some(workshop) = workshop else { return pages.unknown() };
        match self.origins.connector(name) {
            Some(connector) => self.forward(name, connector, request, peer, &pages).await,
            None => pages.not_running(workshop),
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
        connector: Box<dyn SidecarConnector>,
        mut request: Request<Incoming>,
        peer: Option<IpAddr>,
        pages: &Pages,
    ) -> Response<Body> {
        let stop = self.origins.stop();
        let connection = match connector.connect(request.headers_mut(), peer, stop).await {
            Ok(connection) => connection,
            Err(error) => {
                tracing::debug!(workshop = name, %error, "connecting to sidecar failed, answering 502");
                return pages.broken();
            }
        };
        match exchange(connection, request, stop).await {
            Ok(response) => response,
            Err(error) => {
                tracing::debug!(workshop = name, %error, "request to sidecar failed, answering 502");
                pages.broken()
            }
        }
    }
}

/// Returns a host without its port. The colons inside the brackets of an IPv6 address do not start a port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}
