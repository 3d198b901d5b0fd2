//! The settings of `launcher operator`, as flags and environment variables.

mod values;

use std::net::SocketAddr;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use launcher_domain::PodTemplatePolicy;
use launcher_domain::identity::TrustedHeader;
use launcher_operator::{IngressSettings, MaterialProxy, OperatorSettings, Placement, PullPolicy, SidecarSettings};
use launcher_process::settings::{Confidential, parse_bool};
use launcher_process::telemetry::LogSettings;

use crate::traces::TraceSettings;
use values::{AppUser, Strings, Tolerations, app_user, name_suffix, proxy_url, storage_class, strings, tolerations};

/// Scheme of the workshops' URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheme {
    /// Without TLS; only for development
    Http,
    /// With TLS, which the ingress controller terminates
    Https,
}

/// Image pull policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pull {
    /// At every start
    Always,
    /// If the node does not have the image
    IfNotPresent,
    /// Never: the node must have the image
    Never,
}

/// Settings of the operator.
#[derive(Debug, Clone, Args)]
pub(crate) struct OperatorArgs {
    /// Address of /healthz, /readyz and /metrics; do not expose it
    #[arg(long, env = "SERVICE_TELEMETRY_ADDR", default_value = "127.0.0.1:9091", value_name = "ADDR")]
    pub(crate) telemetry_addr: SocketAddr,

    /// Namespace of the reconciled Workshops; default: the namespace that the operator runs in
    #[arg(long, env = "SERVICE_NAMESPACE", value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Domain whose subdomains are the workshops
    #[arg(long, env = "SERVICE_WORKSHOP_DOMAIN", value_name = "DOMAIN", value_parser = crate::settings::domain)]
    workshop_domain: String,

    /// Suffix of the workshops' names in their hosts, as in -ws; the launcher can then have a host of the same domain
    #[arg(long, env = "SERVICE_WORKSHOP_NAME_SUFFIX", default_value = "", value_name = "SUFFIX", hide_default_value = true,
          allow_hyphen_values = true, value_parser = name_suffix)]
    workshop_name_suffix: String,

    /// Scheme of workshop URLs
    #[arg(long, env = "SERVICE_WORKSHOP_SCHEME", default_value = "https", value_name = "SCHEME")]
    workshop_scheme: Scheme,

    /// Port of workshop URLs; default: the scheme's port
    #[arg(long, env = "SERVICE_WORKSHOP_PORT", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    workshop_port: Option<u16>,

    /// Class of each Ingress; default: the cluster's default class
    #[arg(long, env = "SERVICE_INGRESS_CLASS", value_name = "CLASS")]
    ingress_class: Option<String>,

    /// Annotations of each Ingress, as a JSON object of strings; one of them must name the auth middleware
    #[arg(long, env = "SERVICE_INGRESS_ANNOTATIONS", default_value = "{}", value_name = "JSON",
          value_parser = strings)]
    ingress_annotations: Strings,

    /// Secret with the TLS certificate for the workshops' hosts
    #[arg(long, env = "SERVICE_INGRESS_TLS_SECRET", value_name = "SECRET")]
    ingress_tls_secret: Option<String>,

    /// True if an auth middleware that the annotations do not name protects every Ingress
    #[arg(long, env = "SERVICE_INGRESS_GATED_ELSEWHERE", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    ingress_gated_elsewhere: bool,

    /// True if another route, with an auth middleware, leads the workshops' hosts to their Services; the operator then
    /// creates no Ingress
    #[arg(long, env = "SERVICE_WORKSHOPS_ROUTED_ELSEWHERE", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    workshops_routed_elsewhere: bool,

    /// Image of the sidecar
    #[arg(long, env = "SERVICE_SIDECAR_IMAGE", value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    sidecar_image: String,

    /// Image of the program that places course material; default: workshops start without course material
    #[arg(long, env = "SERVICE_MATERIAL_IMAGE", value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    material_image: Option<String>,

    /// HTTP proxy through which workshops load course material, as in http://proxy.example.org:3128, without a password;
    /// default: direct connections
    #[arg(long, env = "SERVICE_MATERIAL_PROXY", value_name = "URL", value_parser = Confidential(proxy_url))]
    material_proxy: Option<String>,

    /// Hosts and domains from which workshops load course material without the proxy, separated by commas
    #[arg(
        long,
        env = "SERVICE_MATERIAL_NO_PROXY",
        default_value = "",
        value_name = "HOSTS",
        hide_default_value = true,
        requires = "material_proxy"
    )]
    material_no_proxy: String,

    /// Header in which the auth proxy sends the identity
    #[arg(long, env = "SERVICE_TRUSTED_AUTH_HEADER", default_value = TrustedHeader::DEFAULT, value_name = "NAME",
          value_parser = crate::settings::trusted_header)]
    trusted_auth_header: TrustedHeader,

    /// Admit only the owner to a workshop; set false only for development
    #[arg(long, env = "SERVICE_REQUIRE_AUTHENTICATION", default_value = "true", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub(crate) require_authentication: bool,

    /// Name prefix of the login proxy's cookies; apps can neither read nor set cookies with this prefix
    #[arg(long, env = "SERVICE_SESSION_COOKIE_PREFIX", default_value = "_oauth2_proxy", value_name = "PREFIX")]
    session_cookie_prefix: String,

    /// Secret in the workshops' namespace whose key `secrets` holds the proxy secret; sidecars then require it with each
    /// identity; default: none
    #[arg(long, env = "SERVICE_PROXY_SECRET_NAME", value_name = "SECRET", value_parser = NonEmptyStringValueParser::new())]
    proxy_secret_name: Option<String>,

    /// Public address of the launcher, as scheme://host[:port]; the frame page of each workshop links to it; default:
    /// no links
    #[arg(long, env = "SERVICE_PUBLIC_URL", value_name = "ORIGIN", value_parser = crate::settings::origin)]
    public_url: Option<String>,

    /// Start an app only after the network enforces the policies of its pod
    #[arg(long, env = "SERVICE_WAIT_FOR_ISOLATION", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    wait_for_isolation: bool,

    /// Maximum seconds until the network enforces the policies of a pod
    #[arg(long, env = "SERVICE_ISOLATION_TIMEOUT", default_value = "120", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    isolation_timeout: u64,

    /// Run pods of the profile baseline in a separate user namespace; every node must support it
    #[arg(long, env = "SERVICE_USER_NAMESPACES", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    user_namespaces: bool,

    /// Pull policy of all images
    #[arg(long, env = "SERVICE_IMAGE_PULL_POLICY", default_value = "if-not-present", value_name = "POLICY")]
    image_pull_policy: Pull,

    /// Names of the image pull secrets, separated by commas
    #[arg(long, env = "SERVICE_IMAGE_PULL_SECRETS", value_name = "SECRETS", value_delimiter = ',')]
    image_pull_secrets: Vec<String>,

    /// User ID of apps with the profile restricted; assigned: the cluster assigns the user IDs of apps and sidecars
    #[arg(long, env = "SERVICE_RUN_AS_USER", default_value = "1000", value_name = "UID", value_parser = app_user)]
    run_as_user: AppUser,

    /// StorageClass of new volumes with kept files; default: the cluster's default class
    #[arg(long, env = "SERVICE_STORAGE_CLASS", default_value = "", value_name = "CLASS", hide_default_value = true,
          value_parser = storage_class)]
    storage_class: String,

    /// Names that pod templates may use, as kind/name separated by commas; the launcher needs the same value
    #[arg(long, env = "SERVICE_POD_TEMPLATE_ALLOW", default_value = PodTemplatePolicy::DEFAULT, value_name = "NAMES",
          value_parser = PodTemplatePolicy::parse)]
    pod_template_allow: PodTemplatePolicy,

    /// Node selector of workshop pods, as a JSON object of strings; empty: all nodes
    #[arg(long, env = "SERVICE_NODE_SELECTOR", default_value = "{}", value_name = "JSON", value_parser = strings)]
    node_selector: Strings,

    /// Tolerations of workshop pods, as a JSON list
    #[arg(long, env = "SERVICE_TOLERATIONS", default_value = "[]", value_name = "JSON", value_parser = tolerations)]
    tolerations: Tolerations,

    /// Maximum seconds until a workshop is ready
    #[arg(long, env = "SERVICE_START_TIMEOUT", default_value = "600", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    start_timeout: u64,

    /// Maximum seconds that a workshop waits for a node, for quota, for a missing Secret, or for admission
    #[arg(long, env = "SERVICE_ROOM_GRACE", default_value = "60", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    room_grace: u64,

    /// Maximum number of concurrent reconciles
    #[arg(long, env = "SERVICE_CONCURRENCY", default_value = "16", value_name = "COUNT",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    concurrency: u16,

    /// Name of the Lease for the leader election
    #[arg(long, env = "SERVICE_LEASE_NAME", default_value = "workshop-operator", value_name = "NAME")]
    lease_name: String,

    /// Seconds until a Lease without renewal expires
    #[arg(long, env = "SERVICE_LEASE_SECONDS", default_value = "15", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(4..=300))]
    lease_seconds: u64,

    #[command(flatten)]
    pub(crate) traces: TraceSettings,

    #[command(flatten)]
    pub(crate) log: LogSettings,
}

impl OperatorArgs {
    /// Returns the settings of the workshops' Ingresses.
    pub(crate) fn ingress(&self) -> IngressSettings {
        IngressSettings {
            class: self.ingress_class.clone(),
            annotations: self.ingress_annotations.0.clone(),
            tls_secret: self.ingress_tls_secret.clone(),
            has_external_auth: self.ingress_gated_elsewhere,
            has_external_route: self.workshops_routed_elsewhere,
        }
    }

    /// Converts these arguments to the operator's settings. `surroundings` is the namespace of the client's
    /// configuration.
    pub(crate) fn operator_settings(&self, surroundings: &str) -> OperatorSettings {
        OperatorSettings {
            namespace: self.namespace.clone().unwrap_or_else(|| surroundings.to_owned()),
            workshop_domain: self.workshop_domain.clone(),
            workshop_name_suffix: self.workshop_name_suffix.clone(),
            workshop_scheme: match self.workshop_scheme {
                Scheme::Http => "http".to_owned(),
                Scheme::Https => "https".to_owned(),
            },
            workshop_port: self.workshop_port,
            ingress: self.ingress(),
            sidecar: SidecarSettings {
                image: self.sidecar_image.clone(),
                trusted_auth_header: self.trusted_auth_header.name().to_owned(),
                require_authentication: self.require_authentication,
                session_cookie_prefix: self.session_cookie_prefix.clone(),
                proxy_secret: self.proxy_secret_name.clone(),
                launcher_url: self.public_url.clone(),
            },
            material_image: self.material_image.clone(),
            material_proxy: self.material_proxy.clone().map(|url| {
                let no_proxy = self.material_no_proxy.clone();
                MaterialProxy { url, no_proxy }
            }),
            pull_policy: match self.image_pull_policy {
                Pull::Always => PullPolicy::Always,
                Pull::IfNotPresent => PullPolicy::IfNotPresent,
                Pull::Never => PullPolicy::Never,
            },
            pull_secrets: self.image_pull_secrets.clone(),
            run_as_user: self.run_as_user.0,
            storage_class: Some(self.storage_class.clone()).filter(|class| !class.is_empty()),
            pod_template_policy: self.pod_template_allow.clone(),
            placement: Placement {
                node_selector: self.node_selector.0.clone(),
                tolerations: self.tolerations.0.clone(),
            },
            wait_for_isolation: self.wait_for_isolation.then(|| Duration::from_secs(self.isolation_timeout)),
            user_namespaces: self.user_namespaces,
            start_timeout: Duration::from_secs(self.start_timeout),
            room_grace: Duration::from_secs(self.room_grace),
            concurrency: self.concurrency,
            lease_name: self.lease_name.clone(),
            lease_duration: Duration::from_secs(self.lease_seconds),
        }
    }
}
