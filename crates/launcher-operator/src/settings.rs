//! The operator's settings.

use std::collections::BTreeMap;
use std::time::Duration;

pub use k8s_openapi::api::core::v1::Toleration;

/// All settings of the operator.
#[derive(Debug, Clone)]
pub struct OperatorSettings {
    /// Namespace of the reconciled Workshops.
    pub namespace: String,
    /// Parent domain of the workshops' hosts.
    pub workshop_domain: String,
    /// Scheme of the workshops' URLs: `http` or `https`.
    pub workshop_scheme: String,
    /// Port of the workshops' URLs, unless it is the scheme's default.
    pub workshop_port: Option<u16>,
    /// Exposure of the workshops.
    pub ingress: IngressSettings,
    /// The proxy in each pod.
    pub sidecar: SidecarSettings,
    /// Pull policy of all images.
    pub pull_policy: PullPolicy,
    /// Names of the image pull secrets.
    pub pull_secrets: Vec<String>,
    /// The user that apps of the profile `restricted` run as; never 0.
    pub run_as_user: i64,
    /// Placement of the workshops on nodes.
    pub placement: Placement,
    /// How long an app waits until the network enforces its pod's policies; none if it does not wait.
    pub wait_for_isolation: Option<Duration>,
    /// True if pods of the profile `baseline` get their own user namespace.
    pub user_namespaces: bool,
    /// Maximum time until a workshop is ready.
    pub start_timeout: Duration,
    /// Maximum time that a workshop waits for a node or for quota.
    pub room_grace: Duration,
    /// Maximum number of concurrent reconciles.
    pub concurrency: u16,
    /// Name of the Lease for the leader election.
    pub lease_name: String,
    /// Duration of the lease without a renewal.
    pub lease_duration: Duration,
}

/// Settings of the sidecar: its image, and the settings passed on to it.
#[derive(Debug, Clone)]
pub struct SidecarSettings {
    /// Its image.
    pub image: String,
    /// Header in which the auth proxy sends the caller's identity.
    pub trusted_auth_header: String,
    /// False disables the owner check; only for development.
    pub require_authentication: bool,
    /// Name prefix of the auth proxy's cookies.
    pub session_cookie_prefix: String,
    /// The Secret in the workshops' namespace with the proxy secret that the sidecars require; none if they require
    /// none.
    pub proxy_secret: Option<String>,
}

/// Placement of workshops on nodes; by default any node that accepts them.
#[derive(Debug, Clone, Default)]
pub struct Placement {
    /// The labels that a node must have.
    pub node_selector: BTreeMap<String, String>,
    /// Tolerations of workshop pods.
    pub tolerations: Vec<Toleration>,
}

/// How workshops are exposed.
#[derive(Debug, Clone, Default)]
pub struct IngressSettings {
    /// Class of each Ingress; none for the cluster's default.
    pub class: Option<String>,
    /// The annotations of each Ingress.
    pub annotations: BTreeMap<String, String>,
    /// The Secret with the TLS certificate for the workshops' hosts.
    pub tls_secret: Option<String>,
    /// True if an auth middleware that these settings do not name protects every Ingress.
    pub has_external_auth: bool,
    /// True if another component, with an auth middleware, routes the workshops' hosts to their Services.
    pub has_external_route: bool,
}

/// Exposure of the workshops. Every exposure requires an auth middleware: without it, any client could set the identity
/// header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// An Ingress for each workshop.
    Ingress,
    /// Another component routes to all workshops.
    External,
    /// No exposure, because no auth middleware is known.
    None,
}

/// Annotations that put an auth middleware in front of an Ingress.
const AUTH_ANNOTATIONS: [&str; 4] = [
    "traefik.ingress.kubernetes.io/router.middlewares",
    "nginx.ingress.kubernetes.io/auth-url",
    "haproxy-ingress.github.io/auth-url",
    "ingress.kubernetes.io/auth-url",
];

impl IngressSettings {
    /// Returns the exposure with these settings.
    #[must_use]
    pub fn exposure(&self) -> Exposure {
        let named = |name: &str| self.annotations.get(name).is_some_and(|value| !value.trim().is_empty());
        if self.has_external_route {
            Exposure::External
        } else if self.has_external_auth || AUTH_ANNOTATIONS.iter().any(|name| named(name)) {
            Exposure::Ingress
        } else {
            Exposure::None
        }
    }
}

/// When an image is pulled, in Kubernetes' terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullPolicy {
    /// At every start.
    Always,
    /// If the node does not have it.
    IfNotPresent,
    /// Never: the node must have it.
    Never,
}

impl PullPolicy {
    /// The value in a pod spec.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "Always",
            Self::IfNotPresent => "IfNotPresent",
            Self::Never => "Never",
        }
    }
}

impl OperatorSettings {
    /// The host of a workshop.
    #[must_use]
    pub fn host(&self, name: &str) -> String {
        format!("{name}.{}", self.workshop_domain)
    }

    /// The origin of a workshop, without a trailing slash.
    #[must_use]
    pub fn origin(&self, name: &str) -> String {
        let port = self.workshop_port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", self.workshop_scheme, self.host(name))
    }
}
