//! Ports and probes of the sidecar in a workshop's pod. The app's container has no probes, because the sidecar is ready
//! only while the app accepts connections.

use std::time::Duration;

/// Port on which the sidecar serves the owner's requests.
pub const SIDECAR_PORT: u16 = 8080;
/// Port on which the sidecar serves probes and metrics.
pub const TELEMETRY_PORT: u16 = 8081;

/// A probe: an HTTP GET on [`TELEMETRY_PORT`]. It succeeds if the status is 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpProbe {
    /// Path of the request.
    pub path: &'static str,
    /// Interval of the requests.
    pub period: Duration,
    /// Maximum time of one request.
    pub timeout: Duration,
    /// Number of consecutive failures after which Kubernetes treats the container as not ready or not alive.
    pub failure_threshold: u16,
}

/// Readiness probe. It succeeds while the sidecar serves and the app accepts connections. Its period is short, because
/// the owner waits for the result.
pub const READINESS: HttpProbe = HttpProbe {
    path: "/readyz",
    period: Duration::from_secs(1),
    timeout: Duration::from_secs(2),
    failure_threshold: 3,
};

/// Liveness probe. It succeeds while the sidecar's process answers.
pub const LIVENESS: HttpProbe = HttpProbe {
    path: "/healthz",
    period: Duration::from_secs(20),
    timeout: Duration::from_secs(2),
    failure_threshold: 3,
};
