//! What the API and the pages measure of themselves. The names are documented in `docs/metrics.md`.

use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds of the time to an answer, in seconds.
const SECONDS: [f64; 9] = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0, 5.0];

/// What a method is counted as that nothing here is done with.
const OTHER: &str = "other";
/// What a path is counted as that no route leads to.
const NONE: &str = "none";

/// Counters, a gauge and a histogram of the API and the pages. Clones count together.
#[derive(Debug, Clone)]
pub struct Metrics {
    requests: Family<Answered, Counter>,
    seconds: Family<Asked, Histogram, fn() -> Histogram>,
    pub(crate) streams: Gauge,
}

/// What was asked for, in as few words as there are routes: never a path that somebody made up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Asked {
    method: &'static str,
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    route: String,
    status: u16,
}

impl Default for Metrics {
    fn default() -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(SECONDS);
        Self {
            requests: Family::default(),
            seconds: Family::new_with_constructor(histogram),
            streams: Gauge::default(),
        }
    }
}

impl Asked {
    pub(crate) fn of(request: &Request) -> Self {
        let method = match *request.method() {
            Method::GET => "GET",
            Method::HEAD => "HEAD",
            Method::POST => "POST",
            Method::PUT => "PUT",
            Method::DELETE => "DELETE",
            _ => OTHER,
        };
        let route = request.extensions().get::<MatchedPath>().map_or(NONE, MatchedPath::as_str);
        Self { method, route: route.to_owned() }
    }

    /// `None` for a method that nothing here is done with.
    pub(crate) fn method(&self) -> Option<&'static str> {
        (self.method != OTHER).then_some(self.method)
    }

    /// `None` when no route leads there.
    pub(crate) fn route(&self) -> Option<&str> {
        (self.route != NONE).then_some(&*self.route)
    }
}

impl Metrics {
    /// A request was answered; a stream's answer is its beginning.
    pub(crate) fn answered(&self, asked: Asked, status: StatusCode, took: Duration) {
        self.seconds.get_or_create(&asked).observe(took.as_secs_f64());
        let Asked { method, route } = asked;
        self.requests.get_or_create(&Answered { method, route, status: status.as_u16() }).inc();
    }

    /// Adds them to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("launcher_http_requests", "Requests, by route and status", self.requests.clone());
        registry.register_with_unit(
            "launcher_http_request",
            "From a request to the beginning of its answer",
            Unit::Seconds,
            self.seconds.clone(),
        );
        registry.register("launcher_event_streams", "Event streams that are open", self.streams.clone());
    }
}
