//! What a sidecar enforces.

use launcher_domain::email::EmailAddress;
use launcher_domain::identity::TrustedHeader;
use launcher_domain::proof::ProxySecret;

/// What a sidecar enforces.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The only person whose requests reach the app.
    pub owner: EmailAddress,
    /// The header in which the login proxy says who is calling.
    pub trusted_header: TrustedHeader,
    /// `false` logs what would be refused for its identity, and lets it through.
    pub require_authentication: bool,
    /// How the names of the login proxy's cookies begin; they are kept from the app, in both directions. An empty
    /// prefix means every cookie.
    pub session_cookie_prefix: String,
    /// The secrets of which an identity needs one beside it (`X-Auth-Request-Proof`). Without any, an identity needs no
    /// proof.
    pub proxy_secret: Option<ProxySecret>,
}

impl Policy {
    /// How the login proxy's cookies are called unless it is told otherwise.
    pub const SESSION_COOKIE_PREFIX: &str = "_oauth2_proxy";

    /// Lets only `owner` through; everything else as it is by default.
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
