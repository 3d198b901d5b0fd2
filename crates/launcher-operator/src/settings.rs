//! The operator's settings, as flags and environment variables.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum, value_parser};
pub use k8s_openapi::api::core::v1::Toleration;
use launcher_domain::PodTemplatePolicy;
use launcher_domain::brand::{AccentColor, BrandName};
use launcher_domain::identity::TrustedHeader;
use launcher_process::settings::{Confidential, parse_bool, parse_domain, parse_namespace, parse_origin};

/// Maximum number of characters of a DNS label (RFC 1035).
const MAX_LABEL_LENGTH: usize = 63;

/// Settings of the operator. The comment of a field is its help text.
//
// clap reads `Option<T>` and `Vec<T>` as an optional and a repeated argument. A path such as `std::vec::Vec<T>` is the type
// of one value.
#[derive(Debug, Clone, Args)]
pub struct OperatorSettings {
    /// Namespace of the reconciled Workshops; default: the namespace that the operator runs in
    #[arg(long, env = "SERVICE_NAMESPACE", value_name = "NAMESPACE", default_value = "", hide_default_value = true)]
    pub namespace: String,

    /// Namespaces of classes, separated by commas: the operator also reconciles the Workshops there
    #[arg(long, env = "SERVICE_CLASS_NAMESPACES", value_name = "NAMESPACES", value_delimiter = ',', value_parser = parse_namespace)]
    pub class_namespaces: Vec<String>,

    /// Domain whose subdomains are the workshops
    #[arg(long, env = "SERVICE_WORKSHOP_DOMAIN", value_name = "DOMAIN", value_parser = parse_domain)]
    pub workshop_domain: String,

    /// Suffix of the workshops' names in their hosts, as in -ws; the launcher can then have a host of the same domain
    #[arg(long, env = "SERVICE_WORKSHOP_NAME_SUFFIX", default_value = "", value_name = "SUFFIX", hide_default_value = true,
          allow_hyphen_values = true, value_parser = parse_name_suffix)]
    pub workshop_name_suffix: String,

    /// Scheme of workshop URLs
    #[arg(long, env = "SERVICE_WORKSHOP_SCHEME", default_value = "https", value_name = "SCHEME")]
    pub workshop_scheme: Scheme,

    /// Port of workshop URLs; default: the scheme's port
    #[arg(long, env = "SERVICE_WORKSHOP_PORT", value_name = "PORT", value_parser = value_parser!(u16).range(1..))]
    pub workshop_port: Option<u16>,

    /// Class of each Ingress; default: the cluster's default class
    #[arg(long, env = "SERVICE_INGRESS_CLASS", value_name = "CLASS")]
    pub ingress_class: Option<String>,

    /// Annotations of each Ingress, as a JSON object of strings; one of them must name the auth middleware
    #[arg(long, env = "SERVICE_INGRESS_ANNOTATIONS", default_value = "{}", value_name = "JSON", value_parser = parse_strings)]
    pub ingress_annotations: BTreeMap<String, String>,

    /// Secret with the TLS certificate for the workshops' hosts
    #[arg(long, env = "SERVICE_INGRESS_TLS_SECRET", value_name = "SECRET")]
    pub ingress_tls_secret: Option<String>,

    /// True if an auth middleware that the annotations do not name protects every Ingress
    #[arg(long, env = "SERVICE_INGRESS_GATED_ELSEWHERE", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub ingress_gated_elsewhere: bool,

    /// True if another route, with an auth middleware, leads the workshops' hosts to their Services; the operator then
    /// creates no Ingress
    #[arg(long, env = "SERVICE_WORKSHOPS_ROUTED_ELSEWHERE", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub workshops_routed_elsewhere: bool,

    /// Image of the sidecar
    #[arg(long, env = "SERVICE_SIDECAR_IMAGE", value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    pub sidecar_image: String,

    /// Image of the program that places course material; default: workshops start without course material
    #[arg(long, env = "SERVICE_MATERIAL_IMAGE", value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    pub material_image: Option<String>,

    /// HTTP proxy through which workshops load course material, as in http://proxy.example.org:3128, without a password;
    /// default: direct connections
    #[arg(long, env = "SERVICE_MATERIAL_PROXY", value_name = "URL", value_parser = Confidential(parse_proxy_url))]
    pub material_proxy: Option<String>,

    /// Hosts and domains from which workshops load course material without the proxy, separated by commas
    #[arg(
        long,
        env = "SERVICE_MATERIAL_NO_PROXY",
        default_value = "",
        value_name = "HOSTS",
        hide_default_value = true,
        requires = "material_proxy"
    )]
    pub material_no_proxy: String,

    /// Header in which the auth proxy sends the identity
    #[arg(long, env = "SERVICE_TRUSTED_AUTH_HEADER", default_value = TrustedHeader::DEFAULT, value_name = "NAME",
          value_parser = TrustedHeader::parse)]
    pub trusted_auth_header: TrustedHeader,

    /// Admit only the owner to a workshop; set false only for development
    #[arg(long, env = "SERVICE_REQUIRE_AUTHENTICATION", default_value = "true", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub require_authentication: bool,

    /// Name prefix of the login proxy's cookies; apps can neither read nor set cookies with this prefix
    #[arg(long, env = "SERVICE_SESSION_COOKIE_PREFIX", default_value = "_oauth2_proxy", value_name = "PREFIX")]
    pub session_cookie_prefix: String,

    /// Secret in the workshops' namespace whose key `secrets` holds the proxy secret; sidecars then require it with each
    /// identity; default: none
    #[arg(long, env = "SERVICE_PROXY_SECRET_NAME", value_name = "SECRET", value_parser = NonEmptyStringValueParser::new())]
    pub proxy_secret_name: Option<String>,

    /// Public address of the launcher, as scheme://host[:port]; the frame page of each workshop links to it; default:
    /// no links
    #[arg(long, env = "SERVICE_PUBLIC_URL", value_name = "ORIGIN", value_parser = parse_origin)]
    pub public_url: Option<String>,

    /// Name of this installation, in the bars of workshops, up to 32 characters; default: no name
    #[arg(long, env = "SERVICE_BRAND_NAME", value_name = "NAME", value_parser = BrandName::parse)]
    pub brand_name: Option<BrandName>,

    /// Accent colour as #rrggbb, of the edge of the bars; white text on it must have a contrast of at least 4.5 : 1;
    /// default: no edge
    #[arg(long, env = "SERVICE_BRAND_COLOR", value_name = "COLOR", value_parser = AccentColor::parse)]
    pub brand_color: Option<AccentColor>,

    /// Start an app only after the network enforces the policies of its pod
    #[arg(long, env = "SERVICE_WAIT_FOR_ISOLATION", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub wait_for_isolation: bool,

    /// Maximum seconds until the network enforces the policies of a pod
    #[arg(long, env = "SERVICE_ISOLATION_TIMEOUT", default_value = "120", value_name = "SECONDS",
          value_parser = value_parser!(u64).range(1..=3600).map(Duration::from_secs))]
    pub isolation_timeout: Duration,

    /// Run pods of the profile baseline in a separate user namespace; every node must support it
    #[arg(long, env = "SERVICE_USER_NAMESPACES", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub user_namespaces: bool,

    /// Pull policy of all images
    #[arg(long, env = "SERVICE_IMAGE_PULL_POLICY", default_value = "if-not-present", value_name = "POLICY")]
    pub image_pull_policy: PullPolicy,

    /// Names of the image pull secrets, separated by commas
    #[arg(long, env = "SERVICE_IMAGE_PULL_SECRETS", value_name = "SECRETS", value_delimiter = ',')]
    pub image_pull_secrets: Vec<String>,

    /// User ID of apps with the profile restricted; assigned: the cluster assigns the user IDs of apps and sidecars
    #[arg(long, env = "SERVICE_RUN_AS_USER", default_value = "1000", value_name = "UID", value_parser = parse_app_user)]
    pub run_as_user: std::option::Option<i64>,

    /// StorageClass of new volumes with kept files; default: the cluster's default class
    #[arg(long, env = "SERVICE_STORAGE_CLASS", value_name = "CLASS", value_parser = parse_storage_class)]
    pub storage_class: Option<String>,

    /// Names that pod templates may use, as kind/name separated by commas; the launcher needs the same value
    #[arg(long, env = "SERVICE_POD_TEMPLATE_ALLOW", default_value = PodTemplatePolicy::DEFAULT, value_name = "NAMES",
          value_parser = PodTemplatePolicy::parse)]
    pub pod_template_allow: PodTemplatePolicy,

    /// Node selector of workshop pods, as a JSON object of strings; empty: all nodes
    #[arg(long, env = "SERVICE_NODE_SELECTOR", default_value = "{}", value_name = "JSON", value_parser = parse_strings)]
    pub node_selector: BTreeMap<String, String>,

    /// Tolerations of workshop pods, as a JSON list
    #[arg(long, env = "SERVICE_TOLERATIONS", default_value = "[]", value_name = "JSON", value_parser = parse_tolerations)]
    pub tolerations: std::vec::Vec<Toleration>,

    /// Maximum seconds until a workshop is ready
    #[arg(long, env = "SERVICE_START_TIMEOUT", default_value = "600", value_name = "SECONDS",
          value_parser = value_parser!(u64).range(1..=86_400).map(Duration::from_secs))]
    pub start_timeout: Duration,

    /// Maximum seconds that a workshop waits for a node, for quota, for a missing Secret, or for admission
    #[arg(long, env = "SERVICE_ROOM_GRACE", default_value = "60", value_name = "SECONDS",
          value_parser = value_parser!(u64).range(1..=86_400).map(Duration::from_secs))]
    pub room_grace: Duration,

    /// Maximum number of concurrent reconciles
    #[arg(long, env = "SERVICE_CONCURRENCY", default_value = "16", value_name = "COUNT",
          value_parser = value_parser!(u16).range(1..=1000))]
    pub concurrency: u16,

    /// Name of the Lease for the leader election
    #[arg(long, env = "SERVICE_LEASE_NAME", default_value = "workshop-operator", value_name = "NAME")]
    pub lease_name: String,

    /// Seconds until a Lease without renewal expires
    #[arg(long = "lease-seconds", env = "SERVICE_LEASE_SECONDS", default_value = "15", value_name = "SECONDS",
          value_parser = value_parser!(u64).range(4..=300).map(Duration::from_secs))]
    pub lease_duration: Duration,
}

/// Scheme of the workshops' URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scheme {
    /// Without TLS; only for development
    Http,
    /// With TLS, which the ingress controller terminates
    Https,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PullPolicy {
    /// At every start
    Always,
    /// If the node does not have the image
    IfNotPresent,
    /// Never: the node must have the image
    Never,
}

impl PullPolicy {
    /// Returns the value of `imagePullPolicy` in a pod spec.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "Always",
            Self::IfNotPresent => "IfNotPresent",
            Self::Never => "Never",
        }
    }
}

/// Exposure of the workshops. The operator exposes workshops only behind an auth middleware, because without it any
/// client could set the identity header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// The operator creates an Ingress for each workshop.
    Ingress,
    /// Another component routes requests to all workshops.
    External,
    /// Workshops are not exposed, because the settings name no auth middleware.
    None,
}

/// Annotations that name the auth middleware of an Ingress, for the supported Ingress controllers.
const AUTH_ANNOTATIONS: [&str; 4] = [
    "traefik.ingress.kubernetes.io/router.middlewares",
    "nginx.ingress.kubernetes.io/auth-url",
    "haproxy-ingress.github.io/auth-url",
    "ingress.kubernetes.io/auth-url",
];

impl OperatorSettings {
    /// Returns these settings for each namespace: that of the operator, and those of classes.
    pub(crate) fn by_namespace(&self) -> impl Iterator<Item = Self> {
        let namespaces: BTreeSet<&String> = self.class_namespaces.iter().collect();
        let of_class = |namespace: &String| Self { namespace: namespace.clone(), ..self.clone() };
        std::iter::once(self.clone()).chain(namespaces.into_iter().map(of_class))
    }

    /// True if the namespace is one of classes.
    pub(crate) fn is_of_class(&self) -> bool {
        self.class_namespaces.contains(&self.namespace)
    }

    /// Returns the exposure that follows from these settings.
    #[must_use]
    pub fn exposure(&self) -> Exposure {
        let named = |name: &str| self.ingress_annotations.get(name).is_some_and(|value| !value.trim().is_empty());
        if self.workshops_routed_elsewhere {
            Exposure::External
        } else if self.ingress_gated_elsewhere || AUTH_ANNOTATIONS.iter().any(|name| named(name)) {
            Exposure::Ingress
        } else {
            Exposure::None
        }
    }

    /// Returns the maximum time that an app waits until the cluster enforces its pod's network policies; `None` if it
    /// does not wait.
    #[must_use]
    pub fn isolation_wait(&self) -> Option<Duration> {
        self.wait_for_isolation.then_some(self.isolation_timeout)
    }

    /// Returns the host of the workshop with this name.
    #[must_use]
    pub fn host(&self, name: &str) -> String {
        format!("{name}{}.{}", self.workshop_name_suffix, self.workshop_domain)
    }

    /// Returns the maximum number of characters of a workshop's name. Name and suffix together are a DNS label.
    #[must_use]
    pub fn max_name_length(&self) -> usize {
        MAX_LABEL_LENGTH.saturating_sub(self.workshop_name_suffix.len())
    }

    /// Returns the origin of the workshop with this name, without a trailing slash.
    #[must_use]
    pub fn origin(&self, name: &str) -> String {
        let scheme = match self.workshop_scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        let port = self.workshop_port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{scheme}://{}{port}", self.host(name))
    }
}

/// Parses the suffix of the workshops' names. With its maximum length, the host of each name of the launcher is valid: a
/// name has at most 31 characters, and a DNS label 63.
fn parse_name_suffix(text: &str) -> Result<String, &'static str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_suffix =
        (2..=32).contains(&text.len()) && text.starts_with('-') && !text.ends_with('-') && text.bytes().all(is_plain);
    if text.is_empty() || is_suffix {
        Ok(text.to_owned())
    } else {
        Err("write a dash and 1 to 31 lower-case letters, digits or dashes, not a dash at the end, as in -ws")
    }
}

/// Parses the URL of an HTTP proxy. The pods of workshops contain it, so it has no password.
fn parse_proxy_url(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = host.map(|host| host.trim_end_matches('/')).filter(|host| !host.is_empty());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    match host {
        Some(host) if host.bytes().all(is_plain) && has_valid_port(host) => Ok(text.trim_end_matches('/').to_owned()),
        _ => Err("write a URL without a path and a password, as in http://proxy.example.org:3128".to_owned()),
    }
}

/// True if this host has no port, or one from 1 to 65535. An IPv6 address is in brackets.
fn has_valid_port(host: &str) -> bool {
    let rest = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    rest.split_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// Parses the name of a StorageClass: a DNS subdomain (RFC 1123).
fn parse_storage_class(text: &str) -> Result<String, &'static str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(is_plain) && !part.starts_with('-') && !part.ends_with('-');
    if text.len() <= 253 && text.split('.').all(is_part) {
        Ok(text.to_owned())
    } else {
        Err("write the name of a StorageClass: lower-case letters, digits, dashes and dots, as in fast-ssd")
    }
}

/// Parses a user ID; `None` for the word `assigned`. Never 0, because 0 is root.
fn parse_app_user(text: &str) -> Result<Option<i64>, &'static str> {
    match text.parse() {
        _ if text == "assigned" => Ok(None),
        Ok(user @ 1..=2_147_483_647) => Ok(Some(user)),
        _ => Err("write a user ID from 1 to 2147483647, or assigned"),
    }
}

/// Parses a JSON object of strings: annotations or labels.
fn parse_strings(text: &str) -> Result<BTreeMap<String, String>, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("write a JSON object of strings, as in {{\"name\": \"value\"}}: {error}"))
}

/// Parses tolerations. Refuses unknown fields, because serde would silently drop a misspelt field.
fn parse_tolerations(text: &str) -> Result<Vec<Toleration>, String> {
    let wrong = |detail: &dyn std::fmt::Display| {
        format!(r#"write a JSON list of tolerations, as in [{{"key": "name", "operator": "Exists"}}]: {detail}"#)
    };
    let read: Vec<Toleration> = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let written: serde_json::Value = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let same = serde_json::to_value(&read).is_ok_and(|read| read == written);
    if same { Ok(read) } else { Err(wrong(&"it has a field that a toleration does not have")) }
}
