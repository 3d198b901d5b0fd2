//! The proxy to a running app: its sidecar, and the gateway's login.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use launcher_domain::EmailAddress;
use launcher_sidecar::{Policy, Sidecar};

use super::login::Login;
use crate::local::records::Started;
use crate::local::settings::LocalSettings;

/// The proxy to a running app: its sidecar, and the gateway's login.
#[derive(Debug, Clone)]
pub(crate) struct AppProxy {
    pub(crate) sidecar: Sidecar,
    /// The gateway's login to the app; `None` if the app requires no token.
    pub(crate) login: Option<Arc<Login>>,
}

impl AppProxy {
    /// Creates the proxy to the app of the Workshop with this name. Its sidecar admits only the owner.
    pub(super) fn new(settings: &LocalSettings, name: &str, owner: EmailAddress, started: &Started) -> Self {
        let policy = Policy {
            owner,
            trusted_header: settings.trusted_header.clone(),
            require_authentication: settings.require_authentication,
            session_cookie_prefix: settings.session_cookie_prefix.clone(),
            proxy_secret: None,
        };
        let app = SocketAddr::from((Ipv4Addr::LOCALHOST, started.port));
        let login = started.token.clone().map(|token| Arc::new(Login::new(app, settings.host(name), token)));
        Self { sidecar: Sidecar::new(policy, app), login }
    }
}
