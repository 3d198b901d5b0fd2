//! Settings from flags and environment variables.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use launcher_domain::brand::{AccentColor, Brand, BrandName};
use launcher_domain::email::EmailAddress;
use launcher_domain::identity::TrustedHeader;
use launcher_domain::local_path::LocalPath;
use launcher_domain::version::version;
use launcher_process::listener::Address;
use launcher_process::settings::parse_bool;
use launcher_process::telemetry::LogSettings;

use crate::auth::Policy;
use crate::frame::{Expiry, ExpiryFile, Frame, LastCrash, WorkshopPage};

/// Reverse proxy in front of one workshop: forwards only the owner's requests to the app
#[derive(Debug, Clone, clap::Parser)]
#[command(
    version = version(),
    after_help = "`launcher-sidecar wait-isolated --help` lists the settings of the init container mode, \
                  `launcher-sidecar limit-network --help` those of the mode that installs network rules, and \
                  `launcher-sidecar notice --help` those of the mode for addresses without a workshop."
)]
pub struct Settings {
    /// E-mail address of the owner; only the owner's requests are forwarded
    #[arg(long, env = "SERVICE_OWNER_EMAIL", value_name = "EMAIL", value_parser = EmailAddress::parse)]
    pub owner_email: EmailAddress,

    /// Port of the app on 127.0.0.1
    #[arg(long, env = "SERVICE_APP_PORT", value_name = "PORT")]
    pub app_port: NonZeroU16,

    /// File with one or two proxy secrets, one per line; the auth proxy sends one of them in X-Auth-Request-Proof.
    /// An identity without a valid secret is refused. Changes of the file take effect without a restart
    #[arg(long, env = "SERVICE_PROXY_SECRET_FILE", value_name = "FILE")]
    pub proxy_secret_file: Option<PathBuf>,

    /// false forwards and logs requests that are not the owner's: only for development
    #[arg(long, env = "SERVICE_REQUIRE_AUTHENTICATION", value_name = "BOOL", default_value = "true",
          action = clap::ArgAction::Set, value_parser = parse_bool)]
    pub require_authentication: bool,

    /// Prefix of the login proxy's cookie names; these cookies are removed in both directions
    #[arg(long, env = "SERVICE_SESSION_COOKIE_PREFIX", value_name = "PREFIX",
          default_value = Policy::SESSION_COOKIE_PREFIX, value_parser = NonEmptyStringValueParser::new())]
    pub session_cookie_prefix: String,

    /// Path and query of the app's first page, which the frame page shows
    #[arg(long, env = "SERVICE_START_PATH", value_name = "PATH", default_value = "/", value_parser = parse_start_path)]
    pub start_path: LocalPath,

    /// true shows pages of the app in browser tabs of their own without the bar of the frame page
    #[arg(long, env = "SERVICE_PLAIN_TABS", value_name = "BOOL", default_value = "false",
          action = clap::ArgAction::Set, value_parser = parse_bool)]
    pub plain_tabs: bool,

    /// true for a workshop of a class: the bar has the hand of the owner and the messages of the class
    #[arg(long, env = "SERVICE_IN_CLASS", value_name = "BOOL", default_value = "false",
          action = clap::ArgAction::Set, value_parser = parse_bool)]
    pub in_class: bool,

    /// File with the workshop's expiry: in RFC 3339, or + and the seconds from the time at which the app is ready. Read for
    /// each status of the frame page. While the file is missing or empty, the expiry is unknown
    #[arg(long, env = "SERVICE_EXPIRY_FILE", value_name = "FILE")]
    pub expiry_file: Option<PathBuf>,

    /// File with the last crash of the app, read for each status of the frame page: its time in RFC 3339, the code of the
    /// failure, and `files-lost` if the restart lost files. While the file is missing or empty, the app has not crashed
    #[arg(long, env = "SERVICE_LAST_CRASH_FILE", value_name = "FILE")]
    pub last_crash_file: Option<PathBuf>,

    /// Name of the course, which the bar of the frame page shows
    #[arg(long, env = "SERVICE_COURSE", value_name = "NAME")]
    pub course: Option<String>,

    /// Name of the installation: the text of the link to the launcher in the bar
    #[arg(long, env = "SERVICE_BRAND_NAME", value_name = "NAME", value_parser = BrandName::parse)]
    pub brand_name: Option<BrandName>,

    /// Accent colour of the installation as #rrggbb: the edge of the bar
    #[arg(long, env = "SERVICE_BRAND_COLOR", value_name = "COLOR", value_parser = AccentColor::parse)]
    pub brand_color: Option<AccentColor>,

    /// URL of the launcher's page of this workshop; without it, the frame page has no links
    #[arg(long, env = "SERVICE_WORKSHOP_PAGE_URL", value_name = "URL", value_parser = WorkshopPage::parse)]
    pub workshop_page_url: Option<WorkshopPage>,

    /// Settings of the server
    #[command(flatten)]
    pub server: ServerSettings,
}

impl Settings {
    /// Returns the access policy of these settings. The caller must add the proxy secrets, which are in
    /// [`Settings::proxy_secret_file`].
    #[must_use]
    pub fn policy(&self) -> Policy {
        Policy {
            owner: Some(self.owner_email.clone()),
            trusted_header: self.server.trusted_auth_header.clone(),
            require_authentication: self.require_authentication,
            session_cookie_prefix: self.session_cookie_prefix.clone(),
            proxy_secret: None,
        }
    }

    /// Returns the dependencies of the frame page.
    #[must_use]
    pub fn frame(&self) -> Frame {
        Frame {
            expiry: self.expiry_file.clone().map_or(Expiry::Unknown, |path| Expiry::File(ExpiryFile::new(path))),
            last_crash: self.last_crash_file.clone().map_or(LastCrash::Unknown, LastCrash::File),
            start_path: self.start_path.clone(),
            plain_tabs: self.plain_tabs,
            in_class: self.in_class,
            workshop_page: self.workshop_page_url.clone(),
            course: self.course.clone().filter(|name| !name.trim().is_empty()),
            brand: Brand { name: self.brand_name.clone(), color: self.brand_color },
            ..Frame::default()
        }
    }

    /// Returns the app's address.
    #[must_use]
    pub fn app(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.app_port.get()))
    }
}

fn parse_start_path(text: &str) -> Result<LocalPath, &'static str> {
    LocalPath::parse_of_app(text).ok_or("write a path of the app, as in /vnc.html?autoconnect=1")
}

/// Answers at the addresses that no workshop has. Each answer equals that of a sidecar whose owner is another user, so
/// that it does not reveal whether a workshop exists
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "launcher-sidecar notice", version = version())]
pub struct NoticeSettings {
    /// URL of the launcher, to which the notice links: to its start page, and to its page of the workshop that the host names
    #[arg(long, env = "SERVICE_PUBLIC_URL", value_name = "URL", value_parser = WorkshopPage::start_page)]
    pub public_url: WorkshopPage,

    /// Suffix of the workshops' names in their hosts, as in -ws
    #[arg(
        long,
        env = "SERVICE_WORKSHOP_NAME_SUFFIX",
        value_name = "SUFFIX",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub workshop_name_suffix: String,

    /// Settings of the server
    #[command(flatten)]
    pub server: ServerSettings,
}

impl NoticeSettings {
    /// Returns the access policy of these settings: no caller is the owner. It needs no proxy secrets, because it refuses
    /// proven and unproven identities in the same way.
    #[must_use]
    pub fn policy(&self) -> Policy {
        Policy { trusted_header: self.server.trusted_auth_header.clone(), ..Policy::without_owner() }
    }

    /// Returns the source of the notice's links.
    #[must_use]
    pub fn frame(&self) -> Frame {
        let page = self.public_url.clone().with_name_suffix(&self.workshop_name_suffix);
        Frame { workshop_page: Some(page), ..Frame::default() }
    }
}

/// Settings of the server: listeners, identity of the callers, stop and logs.
#[derive(Debug, Clone, clap::Args)]
pub struct ServerSettings {
    /// Listen address for the workshop's users: IP:PORT, or unix:/path of a Unix socket
    #[arg(long, env = "SERVICE_LISTEN_ADDR", value_name = "ADDR", default_value = "0.0.0.0:8080")]
    pub listen_addr: Address,

    /// Listen address for /healthz, /readyz, /metrics and /activity: IP:PORT, or unix:/path of a Unix socket
    #[arg(long, env = "SERVICE_TELEMETRY_ADDR", value_name = "ADDR", default_value = "0.0.0.0:8081")]
    pub telemetry_addr: Address,

    /// Header with the caller's identity, which the auth proxy sets
    #[arg(long, env = "SERVICE_TRUSTED_AUTH_HEADER", value_name = "NAME", default_value = TrustedHeader::DEFAULT,
          value_parser = TrustedHeader::parse)]
    pub trusted_auth_header: TrustedHeader,

    /// Seconds for in-flight requests to finish after a stop signal
    #[arg(long, env = "SERVICE_SHUTDOWN_GRACE", value_name = "SECONDS", default_value = "25")]
    pub shutdown_grace: u32,

    /// Log settings
    #[command(flatten)]
    pub logs: LogSettings,
}

impl ServerSettings {
    /// Returns the time in which in-flight requests may complete after a stop signal.
    #[must_use]
    pub fn grace(&self) -> Duration {
        Duration::from_secs(self.shutdown_grace.into())
    }
}
