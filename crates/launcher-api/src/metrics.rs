//! Metrics of the API and the pages. `docs/metrics.md` has their help texts.

use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds of the histogram of response times, in seconds.
const SECONDS: [f64; 9] = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0, 5.0];

/// Value of the label `method` for a method that no route uses.
const OTHER: &str = "other";
/// Value of the label `route` for a path that matches no route.
const NONE: &str = "none";

/// Metrics of the API and the pages. Clones share their counts.
#[derive(Debug, Clone)]
pub struct Metrics {
    requests: Family<ResponseLabels, Counter>,
    seconds: Family<RequestLabels, Histogram, fn() -> Histogram>,
    pub(crate) streams: Gauge,
}

/// Method and route of a request, as labels. Each has a fixed set of values: a path that a client made up never becomes
/// a label.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RequestLabels {
    method: &'static str,
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResponseLabels {
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

impl RequestLabels {
    pub(crate) fn of(request: &Request) -> Self {
        let method = match *request.method() {
            Method::GET => "GET",
            Method::HEAD => "HEAD",
            Method::POST => "POST",
            Method::PUT => "PUT",
            Method::PATCH => "PATCH",
            Method::DELETE => "DELETE",
            _ => OTHER,
        };
        let route = request.extensions().get::<MatchedPath>().map_or(NONE, MatchedPath::as_str);
        Self { method, route: route.to_owned() }
    }

    /// Returns the method; `None` for a method that no route uses.
    pub(crate) fn method(&self) -> Option<&'static str> {
        (self.method != OTHER).then_some(self.method)
    }

    /// Returns the route; `None` if the path matches no route.
    pub(crate) fn route(&self) -> Option<&str> {
        (self.route != NONE).then_some(&*self.route)
    }
}

impl Metrics {
    /// Counts an answered request. An event stream counts when its response begins.
    pub(crate) fn record_response(&self, labels: RequestLabels, status: StatusCode, took: Duration) {
        self.seconds.get_or_create(&labels).observe(took.as_secs_f64());
        let RequestLabels { method, route } = labels;
        self.requests.get_or_create(&ResponseLabels { method, route, status: status.as_u16() }).inc();
    }

    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "launcher_http_requests",
            "Requests. The route is the path pattern of the request, or none if no pattern matches",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "launcher_http_request",
            "Time from the arrival of a request to the beginning of its response",
            Unit::Seconds,
            self.seconds.clone(),
        );
        registry.register("launcher_event_streams", "Event streams that are open now", self.streams.clone());
    }
}
