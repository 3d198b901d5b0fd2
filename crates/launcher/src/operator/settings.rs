//! The settings of `launcher operator`, as flags and environment variables.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use launcher_domain::identity::TrustedHeader;
use launcher_operator::{IngressSettings, OperatorSettings, Placement, PullPolicy, SidecarSettings, Toleration};
use launcher_process::settings::parse_bool;
use launcher_process::telemetry::LogSettings;

use crate::traces::TraceSettings;

/// Scheme of the workshops' URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheme {
    /// In the clear; for development
    Http,
    /// Over TLS, which the ingress ends
    Https,
}

/// Image pull policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pull {
    /// At every start
    Always,
    /// When the machine does not have it
    IfNotPresent,
    /// Never: it must be there
    Never,
}

/// Settings of the operator.
#[derive(Debug, Clone, Args)]
pub(crate) struct OperatorArgs {
    /// Where to serve /healthz, /readyz and /metrics; never expose it
    #[arg(long, env = "SERVICE_TELEMETRY_ADDR", default_value = "127.0.0.1:9091", value_name = "ADDR")]
    pub(crate) telemetry_addr: SocketAddr,

    /// The namespace whose Workshops to look after; the one that the operator runs in when not given
    #[arg(long, env = "SERVICE_NAMESPACE", value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// The domain whose subdomains are the workshops
    #[arg(long, env = "SERVICE_WORKSHOP_DOMAIN", value_name = "DOMAIN", value_parser = crate::settings::domain)]
    workshop_domain: String,

    /// How people reach workshops
    #[arg(long, env = "SERVICE_WORKSHOP_SCHEME", default_value = "https", value_name = "SCHEME")]
    workshop_scheme: Scheme,

    /// The port on which people reach workshops; the scheme's own when not given
    #[arg(long, env = "SERVICE_WORKSHOP_PORT", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    workshop_port: Option<u16>,

    /// The class of each workshop's Ingress; the cluster's default when not given
    #[arg(long, env = "SERVICE_INGRESS_CLASS", value_name = "CLASS")]
    ingress_class: Option<String>,

    /// The annotations of each workshop's Ingress, as a JSON object; one of them has to name the gate in front of it
    #[arg(long, env = "SERVICE_INGRESS_ANNOTATIONS", default_value = "{}", value_name = "JSON",
          value_parser = strings)]
    ingress_annotations: Strings,

    /// The secret with the certificate for the workshops' names
    #[arg(long, env = "SERVICE_INGRESS_TLS_SECRET", value_name = "SECRET")]
    ingress_tls_secret: Option<String>,

    /// Says that a gate which the annotations do not name stands in front of every Ingress
    #[arg(long, env = "SERVICE_INGRESS_GATED_ELSEWHERE", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    ingress_gated_elsewhere: bool,

    /// Says that something else, with a gate, leads the workshops' hosts to their Services: no Ingress is made
    #[arg(long, env = "SERVICE_WORKSHOPS_ROUTED_ELSEWHERE", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    workshops_routed_elsewhere: bool,

    /// The image of the sidecar
    #[arg(long, env = "SERVICE_SIDECAR_IMAGE", value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    sidecar_image: String,

    /// The header in which the login proxy says who is calling
    #[arg(long, env = "SERVICE_TRUSTED_AUTH_HEADER", default_value = TrustedHeader::DEFAULT, value_name = "NAME",
          value_parser = crate::settings::trusted_header)]
    trusted_auth_header: TrustedHeader,

    /// Whether a request must be the owner's to reach a workshop; false only for development
    #[arg(long, env = "SERVICE_REQUIRE_AUTHENTICATION", default_value = "true", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub(crate) require_authentication: bool,

    /// Names that start with this are the login proxy's cookies: no workshop ever sees or sets them
    #[arg(long, env = "SERVICE_SESSION_COOKIE_PREFIX", default_value = "_oauth2_proxy", value_name = "PREFIX")]
    session_cookie_prefix: String,

    /// The Secret in the workshops' namespace whose key `secrets` holds the proxy secret that sidecars demand beside an
    /// identity; none when not given
    #[arg(long, env = "SERVICE_PROXY_SECRET_NAME", value_name = "SECRET", value_parser = NonEmptyStringValueParser::new())]
    proxy_secret_name: Option<String>,

    /// Whether an app starts only after the network enforces the policies of its pod
    #[arg(long, env = "SERVICE_WAIT_FOR_ISOLATION", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    wait_for_isolation: bool,

    /// How long that may take, in seconds
    #[arg(long, env = "SERVICE_ISOLATION_TIMEOUT", default_value = "120", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    isolation_timeout: u64,

    /// Whether pods of the profile baseline get a user namespace of their own; every node has to support it
    #[arg(long, env = "SERVICE_USER_NAMESPACES", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    user_namespaces: bool,

    /// When images are pulled
    #[arg(long, env = "SERVICE_IMAGE_PULL_POLICY", default_value = "if-not-present", value_name = "POLICY")]
    image_pull_policy: Pull,

    /// The names of the secrets with which images are pulled, separated by commas
    #[arg(long, env = "SERVICE_IMAGE_PULL_SECRETS", value_name = "SECRETS", value_delimiter = ',')]
    image_pull_secrets: Vec<String>,

    /// The user that apps of the profile restricted run as
    #[arg(long, env = "SERVICE_RUN_AS_USER", default_value = "1000", value_name = "UID",
          value_parser = clap::value_parser!(i64).range(1..=2_147_483_647))]
    run_as_user: i64,

    /// The labels of the machines that workshops run on, as a JSON object; all machines when empty
    #[arg(long, env = "SERVICE_NODE_SELECTOR", default_value = "{}", value_name = "JSON", value_parser = strings)]
    node_selector: Strings,

    /// The taints of machines that do not keep workshops off, as a JSON list of tolerations
    #[arg(long, env = "SERVICE_TOLERATIONS", default_value = "[]", value_name = "JSON", value_parser = tolerations)]
    tolerations: Tolerations,

    /// How long a workshop may take to become ready, in seconds
    #[arg(long, env = "SERVICE_START_TIMEOUT", default_value = "600", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    start_timeout: u64,

    /// How long a workshop may wait for a machine or for quota, in seconds
    #[arg(long, env = "SERVICE_ROOM_GRACE", default_value = "60", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    room_grace: u64,

    /// How many Workshops are reconciled at a time
    #[arg(long, env = "SERVICE_CONCURRENCY", default_value = "16", value_name = "COUNT",
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    concurrency: u16,

    /// The name of the Lease that decides which operator leads
    #[arg(long, env = "SERVICE_LEASE_NAME", default_value = "workshop-operator", value_name = "NAME")]
    lease_name: String,

    /// How long a leader that is not heard of stays the leader, in seconds
    #[arg(long, env = "SERVICE_LEASE_SECONDS", default_value = "15", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(4..=300))]
    lease_seconds: u64,

    #[command(flatten)]
    pub(crate) traces: TraceSettings,

    #[command(flatten)]
    pub(crate) log: LogSettings,
}

/// Annotations or labels, as a clap value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strings(BTreeMap<String, String>);

/// Tolerations, as a clap value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tolerations(Vec<Toleration>);

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

    /// Converts these settings for the operator; `surroundings` is the namespace that it runs in.
    pub(crate) fn operator_settings(&self, surroundings: &str) -> OperatorSettings {
        OperatorSettings {
            namespace: self.namespace.clone().unwrap_or_else(|| surroundings.to_owned()),
            workshop_domain: self.workshop_domain.clone(),
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
            },
            pull_policy: match self.image_pull_policy {
                Pull::Always => PullPolicy::Always,
                Pull::IfNotPresent => PullPolicy::IfNotPresent,
                Pull::Never => PullPolicy::Never,
            },
            pull_secrets: self.image_pull_secrets.clone(),
            run_as_user: self.run_as_user,
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

fn strings(text: &str) -> Result<Strings, String> {
    serde_json::from_str(text)
        .map(Strings)
        .map_err(|error| format!("write a JSON object of strings, as in {{\"name\": \"value\"}}: {error}"))
}

/// Parses tolerations, and refuses unknown fields: serde would drop a misspelt field silently.
fn tolerations(text: &str) -> Result<Tolerations, String> {
    let wrong = |detail: &dyn std::fmt::Display| {
        format!(r#"write a JSON list of tolerations, as in [{{"key": "name", "operator": "Exists"}}]: {detail}"#)
    };
    let read: Vec<Toleration> = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let written: serde_json::Value = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let same = serde_json::to_value(&read).is_ok_and(|read| read == written);
    if same { Ok(Tolerations(read)) } else { Err(wrong(&"a field is none of a toleration's")) }
}
