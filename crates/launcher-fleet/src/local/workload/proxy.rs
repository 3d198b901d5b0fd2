//! The proxy to a running app: its sidecar, and the gateway's login.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use launcher_domain::EmailAddress;
use launcher_sidecar::frame::{Expiry, Frame};
use launcher_sidecar::{Policy, Sidecar};

use super::context::Context;
use super::login::Login;
use super::stored_record::StoredRecord;
use crate::local::records::Started;

/// The proxy to a running app: its sidecar, and the gateway's login.
#[derive(Debug, Clone)]
pub(crate) struct AppProxy {
    pub(crate) sidecar: Sidecar,
    /// The gateway's login to the app; `None` if the app requires no token.
    pub(crate) login: Option<Arc<Login>>,
}

impl AppProxy {
    /// Creates the proxy to the app of the Workshop with this record. Its sidecar admits only the owner.
    pub(super) fn new(context: &Context, record: &Arc<StoredRecord>, owner: EmailAddress, started: &Started) -> Self {
        let (settings, name) = (&context.settings, record.name());
        let policy = Policy {
            owner,
            trusted_header: settings.trusted_header.clone(),
            require_authentication: settings.require_authentication,
            session_cookie_prefix: settings.session_cookie_prefix.clone(),
            proxy_secret: None,
        };
        let app = SocketAddr::from((Ipv4Addr::LOCALHOST, started.port));
        let login = started.token.clone().map(|token| Arc::new(Login::new(app, settings.host(name), token)));
        let current = Arc::clone(record);
        let frame = Frame {
            expiry: Expiry::Shared(Arc::new(move || current.get().expiry())),
            workshop_page: settings.workshop_page(name),
            clock: Arc::clone(&context.clock),
        };
        Self { sidecar: Sidecar::with_frame(policy, app, frame), login }
    }
}
