//! The access policy that a sidecar enforces.

use launcher_domain::email::EmailAddress;
use launcher_domain::identity::TrustedHeader;
use launcher_domain::proof::ProxySecret;

/// The access policy that a sidecar enforces.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The only person whose requests reach the app.
    pub owner: EmailAddress,
    /// The header with the caller's identity, which the auth proxy sets.
    pub trusted_header: TrustedHeader,
    /// `false` logs requests that would be refused for their identity, and forwards them.
    pub require_authentication: bool,
    /// Name prefix of the auth proxy's cookies, which are removed in both directions. An empty prefix matches every
    /// cookie.
    pub session_cookie_prefix: String,
    /// Secrets of which an identity needs one in `X-Auth-Request-Proof`. With `None`, an identity needs no proof.
    pub proxy_secret: Option<ProxySecret>,
}

impl Policy {
    /// Default name prefix of the auth proxy's cookies.
    pub const SESSION_COOKIE_PREFIX: &str = "_oauth2_proxy";

    /// Creates a policy that admits only `owner`; all other fields have their defaults.
    #[must_use]
    pub fn new(owner: EmailAddress) -> Self {
        Self {
            owner,
            trusted_header: TrustedHeader::default(),
            require_authentication: true,
            session_cookie_prefix: Self::SESSION_COOKIE_PREFIX.to_owned(),
            proxy_secret: None,
        }
    }
}
