//! Metrics of a sidecar, and the time when the owner last used the app.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::time::Instant;

/// Usage of an app by its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Time of the last use. An admitted request, a part of its body, and the end of its response are uses. A
    /// WebSocket's data frame is a use in either direction. Ping, pong and close frames are not. Initially, this is the
    /// time when the sidecar started.
    pub last_used: Instant,
    /// Number of open connections.
    pub open_connections: u64,
    /// Number of open WebSockets. `open_connections` includes them.
    pub open_websockets: u64,
}

impl Activity {
    /// Returns the time since the last use of the app.
    #[must_use]
    pub fn idle(&self) -> Duration {
        self.last_used.elapsed()
    }
}

/// Outcome of a request, as metrics count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Forwarded,
    NotTheOwner,
    ForeignOrigin,
    Malformed,
    TooLarge,
    TooSlow,
    AppUnavailable,
    InvalidAppResponse,
    /// The sidecar served a resource of its own, for example the frame page.
    Served,
}

impl Outcome {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Forwarded, "forwarded"),
        (Self::NotTheOwner, "not-the-owner"),
        (Self::ForeignOrigin, "foreign-origin"),
        (Self::Malformed, "malformed"),
        (Self::TooLarge, "too-large"),
        (Self::TooSlow, "too-slow"),
        (Self::AppUnavailable, "app-away"),
        (Self::InvalidAppResponse, "app-broken"),
        (Self::Served, "frame-page"),
    ];
}

#[derive(Debug)]
pub(crate) struct Metrics {
    requests: Family<[(&'static str, &'static str); 1], Counter>,
    outcomes: [Counter; Outcome::ALL.len()],
    /// Requests without the owner's identity that were forwarded because authentication is off.
    pub(crate) mismatches: Counter,
    /// Requests whose identity has no valid proxy secret.
    pub(crate) unproven: Counter,
    /// Connections that were closed to make room for new connections.
    pub(crate) displaced: Counter,
    connections: Gauge<i64, AtomicI64>,
    websockets: Gauge<i64, AtomicI64>,
    started: Instant,
    /// Time of the last use of the app, in milliseconds after `started`.
    last_used: AtomicU64,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let requests = Family::<[(&'static str, &'static str); 1], Counter>::default();
        let outcomes = Outcome::ALL.map(|(_, name)| requests.get_or_create(&[("outcome", name)]).clone());
        Self {
            requests,
            outcomes,
            mismatches: Counter::default(),
            unproven: Counter::default(),
            displaced: Counter::default(),
            connections: Gauge::default(),
            websockets: Gauge::default(),
            started: Instant::now(),
            last_used: AtomicU64::new(0),
        }
    }

    pub(crate) fn count(&self, outcome: Outcome) {
        self.outcomes[outcome as usize].inc();
    }

    /// Records that the owner uses the app at time `now`.
    pub(crate) fn used(&self, now: Instant) {
        let elapsed = now.duration_since(self.started).as_millis();
        self.last_used.fetch_max(u64::try_from(elapsed).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Counts a connection as open until the returned guard is dropped.
    pub(crate) fn connection(&self) -> Open<'_> {
        Open::new(&self.connections)
    }

    /// Counts a WebSocket as open until the returned guard is dropped.
    pub(crate) fn websocket(&self) -> Open<'_> {
        Open::new(&self.websockets)
    }

    pub(crate) fn activity(&self) -> Activity {
        Activity {
            last_used: self.started + Duration::from_millis(self.last_used.load(Ordering::Relaxed)),
            open_connections: u64::try_from(self.connections.get()).unwrap_or(0),
            open_websockets: u64::try_from(self.websockets.get()).unwrap_or(0),
        }
    }

    /// Registers all metrics of the sidecar in `registry`.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "sidecar_requests",
            "Requests with this outcome, for example not-the-owner, or frame-page for a resource of the frame page",
            self.requests.clone(),
        );
        registry.register(
            "sidecar_identity_mismatches",
            "Requests without the owner's identity, forwarded because SERVICE_REQUIRE_AUTHENTICATION is false",
            self.mismatches.clone(),
        );
        registry.register(
            "sidecar_unproven_identities",
            "Requests that have an identity, but no valid proxy secret",
            self.unproven.clone(),
        );
        registry.register(
            "sidecar_displaced_connections",
            "Connections that the sidecar closed to make room for new connections",
            self.displaced.clone(),
        );
        registry.register("sidecar_open_connections", "Connections that are open now", self.connections.clone());
        registry.register("sidecar_open_websockets", "WebSockets that are open now", self.websockets.clone());
    }
}

/// Guard that counts a connection or WebSocket as open until it is dropped.
#[derive(Debug)]
pub(crate) struct Open<'m>(&'m Gauge<i64, AtomicI64>);

impl<'m> Open<'m> {
    fn new(gauge: &'m Gauge<i64, AtomicI64>) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}
