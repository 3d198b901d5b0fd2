//! The listener for health probes and metrics. It has a separate port, so that users cannot reach its paths.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;

use crate::serve::{Body, ServeLimits, serve_http};
use crate::stop::Stop;

/// A readiness check. It returns `Ok`, or the reason why the process is not ready.
type ReadyCheck = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// The endpoints `/healthz`, `/readyz` and `/metrics`.
#[derive(Clone)]
pub struct Health {
    ready: ReadyCheck,
    metrics: Arc<Mutex<Registry>>,
    stop: Stop,
}

impl std::fmt::Debug for Health {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Health").field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl Health {
    /// Creates the endpoints. `/readyz` calls `ready` for each request, which returns the reason if the process is not ready.
    /// Once `stop` is requested, `/readyz` reports "not ready" without calling `ready`. `/metrics` reports `metrics`.
    #[must_use]
    pub fn new<F>(ready: impl Fn() -> F + Send + Sync + 'static, metrics: Registry, stop: Stop) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self { ready: Arc::new(move || Box::pin(ready())), metrics: Arc::new(Mutex::new(metrics)), stop }
    }

    /// Answers `/healthz` (200 while the process lives), `/readyz` (200, or 503 with the reason) and `/metrics`
    /// (OpenMetrics text) until `closed` is requested.
    ///
    /// Request `closed` after the process has drained: meanwhile, `/readyz` must still report "not ready". Create
    /// `listener` with the options of [`ServeLimits::telemetry`].
    pub async fn serve(self, listener: TcpListener, closed: Stop) {
        serve_http(listener, closed, ServeLimits::telemetry(), move |request, _| {
            let health = self.clone();
            async move { health.answer(request.method(), request.uri().path()).await }
        })
        .await;
    }

    async fn answer(&self, method: &Method, path: &str) -> Response<Body> {
        if method != Method::GET && method != Method::HEAD {
            return text(StatusCode::METHOD_NOT_ALLOWED, "only GET\n".to_owned());
        }
        match path {
            "/healthz" => text(StatusCode::OK, "alive\n".to_owned()),
            "/readyz" if self.stop.is_requested() => text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n".to_owned()),
            "/readyz" => match (self.ready)().await {
                Ok(()) => text(StatusCode::OK, "ready\n".to_owned()),
                Err(reason) => text(StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {reason}\n")),
            },
            "/metrics" => self.metrics(),
            _ => text(StatusCode::NOT_FOUND, "not found: use /healthz, /readyz or /metrics\n".to_owned()),
        }
    }

    fn metrics(&self) -> Response<Body> {
        let mut page = String::new();
        let registry = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        match encode(&mut page, &registry) {
            Ok(()) => respond(StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", page),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("metrics could not be written: {error}\n")),
        }
    }
}

fn text(status: StatusCode, body: String) -> Response<Body> {
    respond(status, "text/plain; charset=utf-8", body)
}

fn respond(status: StatusCode, content_type: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Full::from(body).map_err(Into::into).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(content_type));
    response.headers_mut().insert(CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    response
}
