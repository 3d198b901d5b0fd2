//! The metrics of a sidecar, and the time when its app was last used.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::time::Instant;

/// Usage of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Last use of the app by its owner: an admitted request, part of its body, the end of its response, or a
    /// WebSocket's data frame in either direction. Pings, pongs and closes do not count. Before the first use, this is
    /// the time when the sidecar started.
    pub last_used: Instant,
    /// Number of open connections.
    pub open_connections: u64,
    /// Number of open WebSockets among them.
    pub open_websockets: u64,
}

impl Activity {
    /// Returns the time since the app was last used.
    #[must_use]
    pub fn idle(&self) -> Duration {
        self.last_used.elapsed()
    }
}

/// Outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Forwarded,
    NotTheOwner,
    ForeignOrigin,
    Malformed,
    TooLarge,
    TooSlow,
    AppAway,
    AppBroken,
}

impl Outcome {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Forwarded, "forwarded"),
        (Self::NotTheOwner, "not-the-owner"),
        (Self::ForeignOrigin, "foreign-origin"),
        (Self::Malformed, "malformed"),
        (Self::TooLarge, "too-large"),
        (Self::TooSlow, "too-slow"),
        (Self::AppAway, "app-away"),
        (Self::AppBroken, "app-broken"),
    ];
}

/// The counters of one sidecar.
#[derive(Debug)]
pub(crate) struct Metrics {
    requests: Family<[(&'static str, &'static str); 1], Counter>,
    outcomes: [Counter; Outcome::ALL.len()],
    mismatches: Counter,
    unproven: Counter,
    displaced: Counter,
    connections: Gauge<i64, AtomicI64>,
    websockets: Gauge<i64, AtomicI64>,
    started: Instant,
    /// Milliseconds after `started`.
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

    /// Counts a request.
    pub(crate) fn count(&self, outcome: Outcome) {
        self.outcomes[outcome as usize].inc();
    }

    /// Returns the counter of requests that would have been refused for their identity.
    pub(crate) fn mismatches(&self) -> Counter {
        self.mismatches.clone()
    }

    /// Returns the counter of requests whose identity has no valid proxy secret.
    pub(crate) fn unproven(&self) -> Counter {
        self.unproven.clone()
    }

    /// Counts connections terminated to make room for others.
    pub(crate) fn displaced(&self, count: usize) {
        if count > 0 {
            self.displaced.inc_by(count as u64);
        }
    }

    /// Records that the app is used at `now`.
    pub(crate) fn used(&self, now: Instant) {
        let elapsed = now.duration_since(self.started).as_millis();
        self.last_used.fetch_max(u64::try_from(elapsed).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Counts a connection as open until the guard is dropped.
    pub(crate) fn connection(&self) -> Open<'_> {
        Open::new(&self.connections)
    }

    /// Counts a WebSocket as open until the guard is dropped.
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

    /// Registers these metrics.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("sidecar_requests", "Requests, by what became of them", self.requests.clone());
        registry.register(
            "sidecar_identity_mismatches",
            "Requests let through only because authentication is not required",
            self.mismatches.clone(),
        );
        registry.register(
            "sidecar_unproven_identities",
            "Requests whose identity came without a valid proxy secret",
            self.unproven.clone(),
        );
        registry.register(
            "sidecar_displaced_connections",
            "Connections ended to make room for new ones",
            self.displaced.clone(),
        );
        registry.register("sidecar_open_connections", "Open connections", self.connections.clone());
        registry.register("sidecar_open_websockets", "Open WebSockets", self.websockets.clone());
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
