//! Settings of the API and the pages.

use std::time::Duration;

use launcher_domain::identity::TrustedHeader;
use launcher_domain::{AdminList, EmailAddress, ProxySecret};
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;

/// Settings of the deployment that the API and the pages need.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    pub admins: AdminList,
    /// Header in which the auth proxy sends the caller's identity.
    pub trusted_header: TrustedHeader,
    /// Proxy secret that each request with an identity must contain. Without a proxy secret, the service trusts every
    /// identity header.
    pub proxy_secret: Option<ProxySecret>,
    /// Identity of every caller while the development bypass is active, else `None`.
    pub dev_identity: Option<EmailAddress>,
    /// Base path of the API, without a trailing slash: `/api/v1`.
    pub base_path: String,
    /// Public origin of this service, without a trailing slash: `https://workshops.example.org`.
    pub public_url: String,
    /// URL that browsers open to log in.
    pub login_url: String,
    /// URL that browsers open to log out, if configured.
    pub logout_url: Option<String>,
    /// Address at which users get help, if configured: an http, https or mailto URL, or a path of this site.
    pub help_url: Option<String>,
    pub metrics: Metrics,
    /// Token that is cancelled when the server stops. Event streams end then.
    pub stop: CancellationToken,
    /// True if workshops of several people run as one OS user. Each admin page then shows a warning.
    pub shares_one_user: bool,
    /// Names of the editor's fields that the fleet ignores.
    pub ignored_fields: &'static [&'static str],
    /// Time from ready until the URL of a workshop answers. A page opens a workshop only after this time.
    pub routing_delay: Duration,
}

impl ApiSettings {
    /// Returns true for paths of the API, whose errors are problem documents.
    pub(crate) fn is_api(&self, path: &str) -> bool {
        path.strip_prefix(&self.base_path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns true if people reach the service over HTTPS.
    pub(crate) fn is_https(&self) -> bool {
        self.public_url.starts_with("https://")
    }

    /// Returns the host of the public URL, with its port if it names one.
    pub(crate) fn public_host(&self) -> &str {
        self.public_url.split_once("://").map_or(self.public_url.as_str(), |(_, host)| host)
    }
}
