//! What the operator is told.

use std::collections::BTreeMap;
use std::time::Duration;

pub use k8s_openapi::api::core::v1::Toleration;

/// Everything the operator is told.
#[derive(Debug, Clone)]
pub struct OperatorSettings {
    /// The namespace whose Workshops it looks after.
    pub namespace: String,
    /// The domain whose subdomains are the workshops.
    pub workshop_domain: String,
    /// How people reach that domain: `http` or `https`.
    pub workshop_scheme: String,
    /// And on which port, unless it is the scheme's own.
    pub workshop_port: Option<u16>,
    /// The way in from outside.
    pub ingress: IngressSettings,
    /// The proxy in each pod.
    pub sidecar: SidecarSettings,
    /// When images are pulled.
    pub pull_policy: PullPolicy,
    /// The names of the secrets with which images are pulled.
    pub pull_secrets: Vec<String>,
    /// The user that apps of the profile `restricted` run as; never 0.
    pub run_as_user: i64,
    /// On which machines workshops run.
    pub placement: Placement,
    /// How long an app waits until the network enforces its pod's policies; none when it does not wait.
    pub wait_for_isolation: Option<Duration>,
    /// True when pods of the profile `baseline` get a user namespace of their own.
    pub user_namespaces: bool,
    /// How long a workshop may take to become ready.
    pub start_timeout: Duration,
    /// How long a workshop may wait for a machine or for quota.
    pub room_grace: Duration,
    /// How many Workshops are reconciled at a time.
    pub concurrency: u16,
    /// The Lease that decides who leads.
    pub lease_name: String,
    /// How long a lease lasts without being renewed.
    pub lease_duration: Duration,
}

/// The sidecar: its image, and the settings that are passed on to it.
#[derive(Debug, Clone)]
pub struct SidecarSettings {
    /// Its image.
    pub image: String,
    /// The header in which the login proxy says who is calling.
    pub trusted_auth_header: String,
    /// Whether a request must be its owner's; false only for development.
    pub require_authentication: bool,
    /// How the names of the login proxy's cookies begin.
    pub session_cookie_prefix: String,
    /// The Secret in the workshops' namespace with the proxy secret that the sidecars demand; none when they demand none.
    pub proxy_secret: Option<String>,
}

/// On which machines workshops run: on all that take them, unless this says otherwise.
#[derive(Debug, Clone, Default)]
pub struct Placement {
    /// The labels that a machine must have.
    pub node_selector: BTreeMap<String, String>,
    /// The taints that keep others off it, and not workshops.
    pub tolerations: Vec<Toleration>,
}

/// How workshops are reached from outside.
#[derive(Debug, Clone, Default)]
pub struct IngressSettings {
    /// The class of each Ingress; the cluster's default when not given.
    pub class: Option<String>,
    /// The annotations of each Ingress.
    pub annotations: BTreeMap<String, String>,
    /// The secret with the certificate for the workshops' names.
    pub tls_secret: Option<String>,
    /// Whether a gate that these settings do not name stands in front of every Ingress.
    pub gated_elsewhere: bool,
    /// Whether something else, with a gate, leads the workshops' hosts to their Services.
    pub routed_elsewhere: bool,
}

/// How workshops are reached from outside. Whatever it is has a gate: past it, everybody could write the identity header
/// themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayIn {
    /// Each by an Ingress.
    Ingress,
    /// Past something else, for all of them.
    Elsewhere,
    /// Not at all: no gate is known.
    None,
}

/// The annotations that put an authenticating step in front of an Ingress.
const GATES: [&str; 4] = [
    "traefik.ingress.kubernetes.io/router.middlewares",
    "nginx.ingress.kubernetes.io/auth-url",
    "haproxy-ingress.github.io/auth-url",
    "ingress.kubernetes.io/auth-url",
];

impl IngressSettings {
    /// How workshops are reached with these settings.
    #[must_use]
    pub fn way_in(&self) -> WayIn {
        let named = |name: &str| self.annotations.get(name).is_some_and(|value| !value.trim().is_empty());
        if self.routed_elsewhere {
            WayIn::Elsewhere
        } else if self.gated_elsewhere || GATES.iter().any(|name| named(name)) {
            WayIn::Ingress
        } else {
            WayIn::None
        }
    }
}

/// When an image is pulled, in Kubernetes' words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullPolicy {
    /// At every start.
    Always,
    /// When the machine does not have it.
    IfNotPresent,
    /// Never: it must be there.
    Never,
}

impl PullPolicy {
    /// As Kubernetes writes it.
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

    /// The origin of a workshop, without a slash at its end.
    #[must_use]
    pub fn origin(&self, name: &str) -> String {
        let port = self.workshop_port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", self.workshop_scheme, self.host(name))
    }
}
