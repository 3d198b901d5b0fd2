//! Settings of the API and the pages, as flags and environment variables.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use http::Uri;
use launcher_domain::identity::TrustedHeader;
use launcher_domain::local_path::LocalPath;
use launcher_domain::{AdminList, ClassCreators, EmailAddress, ProxySecret};
use launcher_process::settings::{parse_bool, parse_origin};
use tokio_util::sync::CancellationToken;

use crate::brand::BrandSettings;
use crate::metrics::Metrics;

/// Settings of the API and the pages. The comment of a field is its help text.
#[derive(Debug, Clone, Args)]
pub struct ApiSettings {
    /// Path of the API; begins with /api
    #[arg(long, env = "SERVICE_BASE_PATH", default_value = Self::BASE_PATH, value_name = "PATH",
          value_parser = parse_base_path)]
    pub base_path: String,

    /// Public address of the service, as scheme://host[:port]; default: http://localhost with the listener's port
    #[arg(long, env = "SERVICE_PUBLIC_URL", value_name = "ORIGIN", value_parser = parse_origin)]
    pub public_url: Option<String>,

    /// Header in which the auth proxy sends the caller's e-mail address
    #[arg(long, env = "SERVICE_TRUSTED_AUTH_HEADER", default_value = TrustedHeader::DEFAULT, value_name = "NAME",
          value_parser = TrustedHeader::parse)]
    pub trusted_auth_header: TrustedHeader,

    /// File with the secret that the auth proxy sends as X-Auth-Request-Proof, one per line; default: none
    #[arg(long, env = "SERVICE_PROXY_SECRET_FILE", value_name = "FILE")]
    pub proxy_secret_file: Option<PathBuf>,

    /// Refuse callers without an identity from the auth proxy; false only for development
    #[arg(long, env = "SERVICE_REQUIRE_AUTHENTICATION", default_value = "true", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub require_authentication: bool,

    /// Identity of every caller while authentication is not required; only for development
    #[arg(long, env = "SERVICE_DEV_IDENTITY", value_name = "EMAIL", value_parser = EmailAddress::parse)]
    pub dev_identity: Option<EmailAddress>,

    /// Allow a listen address that other machines reach, while authentication is not required
    #[arg(long, env = "SERVICE_ALLOW_UNAUTHENTICATED_NETWORK_ACCESS", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub allow_unauthenticated_network_access: bool,

    /// E-mail addresses of the admins, separated by commas; default: none
    #[arg(long, env = "SERVICE_ADMIN_EMAILS", default_value = "", value_name = "EMAILS", value_parser = AdminList::parse,
          hide_default_value = true)]
    pub admin_emails: AdminList,

    /// E-mail addresses and domains (as in @example.org) of the people who may create classes, separated by commas; default:
    /// none, only admins
    #[arg(long, env = "SERVICE_CLASS_CREATORS", default_value = "", value_name = "EMAILS",
          value_parser = ClassCreators::parse, hide_default_value = true)]
    pub class_creators: ClassCreators,

    /// Address at which a browser logs in: a path of this site, or a URL
    #[arg(long, env = "SERVICE_LOGIN_URL", default_value = "/oauth2/start", value_name = "URL", value_parser = parse_link)]
    pub login_url: String,

    /// Address at which a browser logs out: a path of this site, or a URL; default: none, pages have no logout link
    #[arg(long, env = "SERVICE_LOGOUT_URL", value_name = "URL", value_parser = parse_link)]
    pub logout_url: Option<String>,

    /// Address at which users get help: a path of this site, a URL, or mailto: with an e-mail address; default: none,
    /// pages have no help link
    #[arg(long, env = "SERVICE_HELP_URL", value_name = "URL", value_parser = parse_help_link)]
    pub help_url: Option<String>,

    /// Settings of the brand
    #[command(flatten)]
    pub brand: BrandSettings,
}

/// State of the process that serves the API, and properties of its fleet.
#[derive(Debug, Clone, Default)]
pub struct ApiProcess {
    /// Proxy secret that each request with an identity must contain. Without a proxy secret, the service trusts every
    /// identity header.
    pub proxy_secret: Option<ProxySecret>,
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
    /// Default base path of the API.
    pub const BASE_PATH: &str = "/api/v1";

    /// Returns the identity of every caller while the development bypass is active. The bypass is active only if both
    /// of its settings are set.
    #[must_use]
    pub fn bypass(&self) -> Option<&EmailAddress> {
        self.dev_identity.as_ref().filter(|_| !self.require_authentication)
    }

    /// Returns true if the development bypass is active, other machines can reach this listen address, and no setting
    /// allows that.
    #[must_use]
    pub fn exposes_bypass(&self, listen_addr: SocketAddr) -> bool {
        let is_loopback = listen_addr.ip().to_canonical().is_loopback();
        self.bypass().is_some() && !is_loopback && !self.allow_unauthenticated_network_access
    }

    /// Returns the public origin of the service, without a trailing slash: `https://workshops.example.org`.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.public_url.as_deref().unwrap_or("http://localhost")
    }

    /// Returns true for paths of the API, whose errors are problem documents.
    pub(crate) fn is_api(&self, path: &str) -> bool {
        path.strip_prefix(&self.base_path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns true if people reach the service over HTTPS.
    pub(crate) fn is_https(&self) -> bool {
        self.origin().starts_with("https://")
    }

    /// Returns the host of the public URL, with its port if it names one.
    pub(crate) fn public_host(&self) -> &str {
        self.origin().split_once("://").map_or(self.origin(), |(_, host)| host)
    }
}

/// Parses the base path. It begins with `/api`, because the pages use the other paths.
fn parse_base_path(text: &str) -> Result<String, &'static str> {
    let path = text.trim_end_matches('/');
    let segment = |segment: &str| {
        !segment.is_empty()
            && !segment.starts_with('.')
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let mut segments = path.split('/').skip(1);
    if path.starts_with("/api") && segments.all(segment) {
        Ok(path.to_owned())
    } else {
        Err("write a path that begins with /api, as in /api/v1")
    }
}

/// Parses a link for browsers: a path of this site, or an HTTP or HTTPS URL of another site.
fn parse_link(text: &str) -> Result<String, &'static str> {
    let elsewhere = text.parse::<Uri>().is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    if elsewhere || LocalPath::parse(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("write a path, as in /oauth2/start, or a URL that begins with https://")
    }
}

/// Parses a link to help: like [`parse_link`], or an e-mail address as a link.
fn parse_help_link(text: &str) -> Result<String, &'static str> {
    let is_email = text.strip_prefix("mailto:").is_some_and(|email| EmailAddress::parse(email).is_ok());
    if is_email || parse_link(text).is_ok() {
        Ok(text.to_owned())
    } else {
        Err("write a URL that begins with https://, a path, or an e-mail address as in mailto:help@example.org")
    }
}
