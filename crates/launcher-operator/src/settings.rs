//! The operator's settings.

use std::collections::BTreeMap;
use std::time::Duration;

pub use k8s_openapi::api::core::v1::Toleration;
use launcher_domain::PodTemplatePolicy;

/// Maximum number of characters of a DNS label (RFC 1035).
const MAX_LABEL_LENGTH: usize = 63;

/// All settings of the operator.
#[derive(Debug, Clone)]
pub struct OperatorSettings {
    /// Namespace of the reconciled Workshops.
    pub namespace: String,
    /// Parent domain of the workshops' hosts.
    pub workshop_domain: String,
    /// Suffix of the first label of the workshops' hosts, as in `-ws`; empty: the label is the name of the workshop. With
    /// a suffix, the launcher can be a sibling of the workshops: its host never is the host of a workshop.
    pub workshop_name_suffix: String,
    /// Scheme of the workshops' URLs: `http` or `https`.
    pub workshop_scheme: String,
    /// Port in the workshops' URLs; `None` for the default port of the scheme.
    pub workshop_port: Option<u16>,
    /// Settings for the exposure of the workshops.
    pub ingress: IngressSettings,
    /// Settings of the sidecar in each pod.
    pub sidecar: SidecarSettings,
    /// Image of the program that places course material; `None`: workshops start without course material.
    pub material_image: Option<String>,
    /// HTTP proxy of this program; `None`: it connects to the servers directly.
    pub material_proxy: Option<MaterialProxy>,
    /// Pull policy for all images.
    pub pull_policy: PullPolicy,
    /// Names of the image pull secrets.
    pub pull_secrets: Vec<String>,
    /// User ID for apps with the profile `restricted`. Never 0, because 0 is root. `None`: the pods have no user IDs,
    /// also not for the sidecar, because the cluster assigns them.
    pub run_as_user: Option<i64>,
    /// StorageClass of new volumes with kept files; `None` for the cluster's default class.
    pub storage_class: Option<String>,
    /// Names that pod templates may use.
    pub pod_template_policy: PodTemplatePolicy,
    /// Placement of the workshops on nodes.
    pub placement: Placement,
    /// Maximum time that an app waits until the cluster enforces its pod's network policies; `None` if it does not
    /// wait.
    pub wait_for_isolation: Option<Duration>,
    /// True if each pod with the profile `baseline` runs in a separate user namespace.
    pub user_namespaces: bool,
    /// Maximum time until a workshop is ready.
    pub start_timeout: Duration,
    /// Maximum time that a workshop waits for room on a node or in the quota, or for a refused apply to succeed.
    pub room_grace: Duration,
    /// Maximum number of concurrent reconciles.
    pub concurrency: u16,
    /// Name of the Lease for the leader election.
    pub lease_name: String,
    /// Time after which the lease expires without a renewal.
    pub lease_duration: Duration,
}

/// HTTP proxy through which the program that places course material reaches the servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaterialProxy {
    /// URL of the proxy: `http://HOST[:PORT]` or `https://HOST[:PORT]`, without a password.
    pub url: String,
    /// Hosts and domains that the program reaches without the proxy, separated by commas; empty: none.
    pub no_proxy: String,
}

/// Settings of the sidecar: its image, and settings that the operator passes to it.
#[derive(Debug, Clone)]
pub struct SidecarSettings {
    /// Image of the sidecar.
    pub image: String,
    /// Header in which the auth proxy sends the caller's identity.
    pub trusted_auth_header: String,
    /// True if only the owner has access. False admits every request, for development only.
    pub require_authentication: bool,
    /// Name prefix of the auth proxy's cookies, which the sidecar removes from requests to the app.
    pub session_cookie_prefix: String,
    /// Name of the Secret with the proxy secret, in the namespace of the Workshops; `None` if sidecars require no proxy
    /// secret.
    pub proxy_secret: Option<String>,
    /// Public origin of the launcher, without a slash at its end, to which the frame page links; `None`: no links.
    pub launcher_url: Option<String>,
}

/// Placement of workshop pods on nodes. By default they can run on all nodes without taints.
#[derive(Debug, Clone, Default)]
pub struct Placement {
    /// The labels that a node must have.
    pub node_selector: BTreeMap<String, String>,
    /// Tolerations of workshop pods.
    pub tolerations: Vec<Toleration>,
}

/// Settings for the exposure of workshops.
#[derive(Debug, Clone, Default)]
pub struct IngressSettings {
    /// Ingress class; `None` for the cluster's default class.
    pub class: Option<String>,
    /// The annotations of each Ingress.
    pub annotations: BTreeMap<String, String>,
    /// Name of the Secret with the TLS certificate for the workshops' hosts; `None` without TLS in the Ingress.
    pub tls_secret: Option<String>,
    /// True if an auth middleware protects every Ingress although no annotation names it.
    pub has_external_auth: bool,
    /// True if another component routes the workshops' hosts to their Services. That component has an auth middleware.
    pub has_external_route: bool,
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

impl IngressSettings {
    /// Returns the exposure that follows from these settings.
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

/// Image pull policy of Kubernetes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullPolicy {
    /// Pull the image at every start.
    Always,
    /// Pull the image if the node does not have it.
    IfNotPresent,
    /// Never pull: the node must have the image.
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

impl OperatorSettings {
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
        let port = self.workshop_port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", self.workshop_scheme, self.host(name))
    }
}
