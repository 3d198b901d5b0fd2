//! Settings from flags and environment variables.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use launcher_domain::email::EmailAddress;
use launcher_domain::identity::TrustedHeader;
use launcher_process::settings::parse_bool;
use launcher_process::telemetry::LogSettings;

use crate::policy::Policy;

/// The owner-checking proxy in front of one workshop: only its owner reaches the app.
#[derive(Debug, Clone, clap::Parser)]
#[command(version, after_help = "launcher-sidecar wait-isolated --help explains the mode for an init container.")]
pub struct Settings {
    /// E-mail address of the only person who is let through
    #[arg(long, env = "SERVICE_OWNER_EMAIL", value_name = "EMAIL", value_parser = EmailAddress::parse)]
    pub owner_email: EmailAddress,

    /// Port on 127.0.0.1 that the app listens on
    #[arg(long, env = "SERVICE_APP_PORT", value_name = "PORT")]
    pub app_port: NonZeroU16,

    /// Address to listen on for the workshop's users
    #[arg(long, env = "SERVICE_LISTEN_ADDR", value_name = "ADDR", default_value = "0.0.0.0:8080")]
    pub listen_addr: SocketAddr,

    /// Address to listen on for /healthz, /readyz, /metrics and /activity
    #[arg(long, env = "SERVICE_TELEMETRY_ADDR", value_name = "ADDR", default_value = "0.0.0.0:8081")]
    pub telemetry_addr: SocketAddr,

    /// Header in which the login proxy says who is calling
    #[arg(long, env = "SERVICE_TRUSTED_AUTH_HEADER", value_name = "NAME", default_value = TrustedHeader::DEFAULT,
          value_parser = TrustedHeader::parse)]
    pub trusted_auth_header: TrustedHeader,

    /// File with the secrets, one or two, one per line, of which the auth proxy sends one in X-Auth-Request-Proof. An
    /// identity without one of them is refused. Followed while the program runs
    #[arg(long, env = "SERVICE_PROXY_SECRET_FILE", value_name = "FILE")]
    pub proxy_secret_file: Option<PathBuf>,

    /// false logs requests that are not the owner's and lets them through: for development only
    #[arg(long, env = "SERVICE_REQUIRE_AUTHENTICATION", value_name = "BOOL", default_value = "true",
          action = clap::ArgAction::Set, value_parser = parse_bool)]
    pub require_authentication: bool,

    /// How the names of the login proxy's cookies begin; they are kept from the app
    #[arg(long, env = "SERVICE_SESSION_COOKIE_PREFIX", value_name = "PREFIX",
          default_value = Policy::SESSION_COOKIE_PREFIX, value_parser = NonEmptyStringValueParser::new())]
    pub session_cookie_prefix: String,

    /// Seconds that requests under way get to finish when the process is told to stop
    #[arg(long, env = "SERVICE_SHUTDOWN_GRACE", value_name = "SECONDS", default_value = "25")]
    pub shutdown_grace: u32,

    /// How logs are written
    #[command(flatten)]
    pub logs: LogSettings,
}

impl Settings {
    /// Returns the policy of these settings, without the secrets of [`Settings::proxy_secret_file`].
    #[must_use]
    pub fn policy(&self) -> Policy {
        Policy {
            owner: self.owner_email.clone(),
            trusted_header: self.trusted_auth_header.clone(),
            require_authentication: self.require_authentication,
            session_cookie_prefix: self.session_cookie_prefix.clone(),
            proxy_secret: None,
        }
    }

    /// Returns the app's address.
    #[must_use]
    pub fn app(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.app_port.get()))
    }

    /// Returns the time that in-flight requests get to complete after a stop signal.
    #[must_use]
    pub fn grace(&self) -> Duration {
        Duration::from_secs(self.shutdown_grace.into())
    }
}
