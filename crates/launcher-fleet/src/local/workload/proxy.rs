//! The proxy to a running app: its sidecar, and the gateway's login.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use http::HeaderMap;
use launcher_domain::{Crash, EmailAddress};
use launcher_process::stop::Stop;
use launcher_sidecar::frame::{AppCrash, Expiry, Frame, LastCrash};
use launcher_sidecar::{Policy, Sidecar};
use tokio::io::duplex;

use super::context::Context;
use super::login::Login;
use crate::local::records::{Started, StoredRecord};
use crate::machine::{Connection, SidecarConnector};

/// Buffer of the in-memory connection between the gateway and a sidecar, in bytes, for each direction.
const PIPE_BYTES: usize = 64 * 1024;

/// The proxy to a running app: its sidecar, and the gateway's login.
#[derive(Debug, Clone)]
pub(crate) struct AppProxy {
    sidecar: Sidecar,
    /// The gateway's login to the app; `None` if the app requires no token.
    login: Option<Arc<Login>>,
}

impl AppProxy {
    /// Creates the proxy to the app of the Workshop with this record. Its sidecar admits only the owner.
    pub(super) fn new(context: &Context, record: &Arc<StoredRecord>, owner: EmailAddress, started: &Started) -> Self {
        let (origins, name) = (&context.settings.origins, record.name());
        let policy = Policy {
            owner: Some(owner),
            trusted_header: origins.trusted_header.clone(),
            require_authentication: origins.require_authentication,
            session_cookie_prefix: origins.session_cookie_prefix.clone(),
            proxy_secret: None,
        };
        let app = SocketAddr::from((Ipv4Addr::LOCALHOST, started.port));
        let login = started.token.clone().map(|token| Arc::new(Login::new(app, origins.host(name), token)));
        let (current, crashed) = (Arc::clone(record), Arc::clone(record));
        let last_crash = move || crashed.get().status().last_crash.map(|crash| AppCrash::from(Crash::from(&crash)));
        let frame = Frame {
            expiry: Expiry::Shared(Arc::new(move || current.get().expiry())),
            last_crash: LastCrash::Shared(Arc::new(last_crash)),
            workshop_page: origins.workshop_page(name),
            clock: Arc::clone(&context.data_dir.clock),
        };
        Self { sidecar: Sidecar::with_frame(policy, app, frame), login }
    }
}

#[async_trait]
impl SidecarConnector for AppProxy {
    async fn connect(
        &self,
        headers: &mut HeaderMap,
        peer: Option<IpAddr>,
        stop: &Stop,
    ) -> io::Result<Box<dyn Connection>> {
        if let Some(login) = &self.login {
            login.add_to(headers).await?;
        }
        let (near, far) = duplex(PIPE_BYTES);
        let (sidecar, served) = (self.sidecar.clone(), stop.clone());
        stop.track(async move { sidecar.serve_connection(far, peer, served).await });
        Ok(Box::new(near))
    }
}
