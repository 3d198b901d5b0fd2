//! Access policy of a sidecar, with its defaults.

use launcher_domain::email::EmailAddress;
use launcher_domain::identity::TrustedHeader;
use launcher_domain::proof::ProxySecret;

/// The access policy that a sidecar enforces.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The only person whose requests reach the app. With `None`, no caller is the owner.
    pub owner: Option<EmailAddress>,
    /// Header with the caller's identity. The auth proxy sets it.
    pub trusted_header: TrustedHeader,
    /// With `false`, requests with a wrong or missing identity are logged and forwarded, instead of refused.
    pub require_authentication: bool,
    /// Name prefix of the login proxy's cookies. The sidecar removes these cookies from requests and responses. An
    /// empty prefix matches every cookie.
    pub session_cookie_prefix: String,
    /// Valid proxy secrets. Each request must carry one of them in `X-Auth-Request-Proof`. With `None`, requests need
    /// no proxy secret.
    pub proxy_secret: Option<ProxySecret>,
}

impl Policy {
    /// Default name prefix of the login proxy's cookies.
    pub const SESSION_COOKIE_PREFIX: &str = "_oauth2_proxy";

    /// Creates a policy that admits only `owner`. All other fields have their defaults.
    #[must_use]
    pub fn new(owner: EmailAddress) -> Self {
        Self { owner: Some(owner), ..Self::without_owner() }
    }

    /// Creates a policy that admits no request, for addresses without a workshop. All other fields have their defaults.
    #[must_use]
    pub fn without_owner() -> Self {
        Self {
            owner: None,
            trusted_header: TrustedHeader::default(),
            require_authentication: true,
            session_cookie_prefix: Self::SESSION_COOKIE_PREFIX.to_owned(),
            proxy_secret: None,
        }
    }
}
