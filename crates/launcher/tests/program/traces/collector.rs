//! A stub of an OTLP collector, which keeps the received spans.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use launcher_testkit::eventually;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

/// A stub of an OTLP collector. Clones share its state.
#[derive(Clone, Default)]
pub(super) struct Collector(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    spans: Vec<Span>,
    /// Resource attributes of each received export, in the order of arrival.
    told_by: Vec<Resource>,
    /// Headers of the last request.
    headers: HeaderMap,
    /// Faults for the next requests, in order. Later requests succeed.
    faults: VecDeque<Fault>,
}

/// Fault that the stub injects into its response to one request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// The stub sends no response.
    Silence,
    /// The stub responds with this status.
    Status(u16),
}

impl Collector {
    pub(super) async fn start() -> (Self, SocketAddr) {
        Self::start_with([]).await
    }

    pub(super) async fn start_with<const N: usize>(faults: [Fault; N]) -> (Self, SocketAddr) {
        let collector = Self::default();
        collector.0.lock().unwrap().faults.extend(faults);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let kept = collector.clone();
        let take = move |headers: HeaderMap, body: Bytes| async move { kept.take(headers, body).await };
        tokio::spawn(axum::serve(listener, Router::new().route("/v1/traces", post(take))).into_future());
        (collector, addr)
    }

    async fn take(&self, headers: HeaderMap, body: Bytes) -> StatusCode {
        let fault = {
            let mut state = self.0.lock().unwrap();
            state.headers = headers;
            state.faults.pop_front()
        };
        match fault {
            Some(Fault::Silence) => std::future::pending().await,
            Some(Fault::Status(status)) => StatusCode::from_u16(status).unwrap(),
            None => {
                let sent = ExportTraceServiceRequest::decode(body).unwrap();
                let mut state = self.0.lock().unwrap();
                for told in sent.resource_spans {
                    state.told_by.extend(told.resource);
                    state.spans.extend(told.scope_spans.into_iter().flat_map(|scope| scope.spans));
                }
                StatusCode::OK
            }
        }
    }

    /// Waits for a span that `wanted` accepts, and returns it.
    pub(super) async fn span(&self, wanted: impl Fn(&Span) -> bool) -> Span {
        eventually(async || self.0.lock().unwrap().spans.iter().find(|span| wanted(span)).cloned()).await
    }

    /// Returns all received spans.
    pub(super) fn spans(&self) -> Vec<Span> {
        self.0.lock().unwrap().spans.clone()
    }

    /// Returns the resource attributes of the first received export.
    pub(super) fn teller(&self) -> Resource {
        self.0.lock().unwrap().told_by[0].clone()
    }

    /// Returns this header of the last request.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap().headers.get(name).map(|value| value.to_str().unwrap().to_owned())
    }

    /// Waits until only this many faults remain to be injected.
    pub(super) async fn has_left(&self, faults: usize) {
        eventually(async || (self.0.lock().unwrap().faults.len() == faults).then_some(())).await;
    }
}

/// Returns the text value of an attribute; `None` if the attribute is missing or not a text.
pub(super) fn text<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a str> {
    match attributes.iter().find(|one| one.key == key)?.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text),
        _ => None,
    }
}
