//! What the API needs to know of the deployment.

use launcher_domain::identity::TrustedHeader;
use launcher_domain::{AdminList, EmailAddress, ProxySecret};
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;

/// What the API needs to know of the deployment.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// Who is an admin.
    pub admins: AdminList,
    /// The header in which the login proxy says who is calling.
    pub trusted_header: TrustedHeader,
    /// The proxy secret that has to come beside an identity. Without one, every identity header is believed.
    pub proxy_secret: Option<ProxySecret>,
    /// Who everybody is. Some only while the development bypass is active.
    pub dev_identity: Option<EmailAddress>,
    /// Where the API lives, without a slash at the end: `/api/v1`.
    pub base_path: String,
    /// How people reach this service, as an origin without a slash at the end: `https://workshops.example.org`.
    pub public_url: String,
    /// Where a browser goes to log in.
    pub login_url: String,
    /// Where a browser goes to log out.
    pub logout_url: Option<String>,
    /// What is measured.
    pub metrics: Metrics,
    /// Cancelled when the server stops: streams end then.
    pub stop: CancellationToken,
    /// True when several people's workshops run as one user of one machine: admins are warned on each of their pages.
    pub shares_one_user: bool,
}

impl ApiSettings {
    /// Whether a path is the API's, and its errors are problem documents.
    pub(crate) fn is_api(&self, path: &str) -> bool {
        path.strip_prefix(&self.base_path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// True when people reach the service over HTTPS.
    pub(crate) fn is_https(&self) -> bool {
        self.public_url.starts_with("https://")
    }

    /// The host of the public URL with its port, if it names one.
    pub(crate) fn public_host(&self) -> &str {
        self.public_url.split_once("://").map_or(self.public_url.as_str(), |(_, host)| host)
    }
}
