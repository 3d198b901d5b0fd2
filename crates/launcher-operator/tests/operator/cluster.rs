//! A cluster in memory whose watches have died: the operator sees the initial lists, and no change after them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use launcher_domain::{Clock, Entropy};
use launcher_operator::{Operator, OperatorSettings, run};
use launcher_process::stop::Stop;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use tower::service_fn;

use crate::support::settings;

/// A recorded request: method and path, as in `PATCH workshops/status`, and the body.
pub(crate) type Call = (String, Value);

/// The cluster. Clones share its state.
#[derive(Clone, Default)]
pub(crate) struct Cluster(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Objects that a list returns, by kind.
    listed: BTreeMap<&'static str, Vec<Value>>,
    /// Current objects, by kind and name.
    there: BTreeMap<(String, String), Value>,
    /// The next version of the Workshop, stored after the next read.
    next: Option<Value>,
    /// Refused kinds, with status code and message.
    refused: BTreeMap<&'static str, (u16, &'static str)>,
    calls: Vec<Call>,
    /// The operator's settings, if they differ from the usual ones.
    settings: Option<OperatorSettings>,
}

impl Cluster {
    /// Adds an object to the initial lists.
    pub(crate) fn listed(self, kind: &'static str, object: &Value) -> Self {
        self.0.lock().unwrap().listed.entry(kind).or_default().push(object.clone());
        self
    }

    /// Replaces the listed objects of this kind by one.
    pub(crate) fn relisted(self, kind: &'static str, object: &Value) -> Self {
        self.0.lock().unwrap().listed.remove(kind);
        self.listed(kind, object)
    }

    /// Sets the current version of the Workshop.
    pub(crate) fn by_now(self, workshop: &Value) -> Self {
        self.store("workshops", workshop.clone());
        self
    }

    /// Sets the version of the Workshop that follows the next read.
    pub(crate) fn then(self, workshop: &Value) -> Self {
        self.0.lock().unwrap().next = Some(workshop.clone());
        self
    }

    /// Runs the operator with these settings.
    pub(crate) fn with_settings(self, settings: OperatorSettings) -> Self {
        self.0.lock().unwrap().settings = Some(settings);
        self
    }

    /// Refuses all applies of a kind.
    pub(crate) fn refusing(self, kind: &'static str, code: u16, message: &'static str) -> Self {
        self.0.lock().unwrap().refused.insert(kind, (code, message));
        self
    }

    fn store(&self, kind: &str, object: Value) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        self.0.lock().unwrap().there.insert((kind.to_owned(), name), object);
    }

    /// Runs an operator for two minutes from then on; returns its requests except Lease requests and lists.
    pub(crate) async fn run_operator(&self, from: Timestamp) -> Vec<Call> {
        let cluster = self.clone();
        let service = service_fn(move |request| cluster.clone().take(request));
        let client = Client::new(service, "workshops");
        let settings = self.0.lock().unwrap().settings.clone().unwrap_or_else(settings);
        let operator = Operator::new(client, settings, "test", Arc::new(Since(from, Instant::now())), &Zeros);
        assert!(timeout(Duration::from_secs(120), run(operator, Stop::new())).await.is_err(), "it ended by itself");
        std::mem::take(&mut self.0.lock().unwrap().calls)
    }

    async fn take(self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let path: Vec<&str> = head.uri.path().split('/').skip_while(|part| *part != "namespaces").skip(2).collect();
        let (kind, name, part) = (path[0], path.get(1).copied(), path.get(2).copied());
        let query = head.uri.query().unwrap_or_default();
        // A watch without events, and a log request to an unreachable node.
        if query.contains("watch=true") || part == Some("log") {
            return pending().await;
        }
        let (code, answer) = match name {
            None if head.method == Method::GET => (200, self.list(kind)),
            _ => self.one(&head.method, kind, name, part, body),
        };
        let answer = serde_json::to_vec(&answer).unwrap();
        Ok(Response::builder().status(code).body(Body::from(answer)).unwrap())
    }

    fn list(&self, kind: &str) -> Value {
        let items = self.0.lock().unwrap().listed.get(kind).cloned().unwrap_or_default();
        json!({ "kind": "List", "apiVersion": "v1", "metadata": { "resourceVersion": "1" }, "items": items })
    }

    fn one(&self, method: &Method, kind: &str, name: Option<&str>, part: Option<&str>, body: Value) -> (u16, Value) {
        let what = part.map_or_else(|| kind.to_owned(), |part| format!("{kind}/{part}"));
        let (found, refused) = {
            let mut state = self.0.lock().unwrap();
            if kind != "leases" {
                state.calls.push((format!("{method} {what}"), body.clone()));
            }
            let found = state.there.get(&(kind.to_owned(), name.unwrap_or_default().to_owned())).cloned();
            (found, state.refused.get(kind).copied())
        };
        let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
        if let (&Method::PATCH, Some((code, message))) = (method, refused) {
            return failure(code, message);
        }
        match (method.as_str(), found) {
            ("GET", Some(found)) => {
                let next = if kind == "workshops" { self.0.lock().unwrap().next.take() } else { None };
                next.into_iter().for_each(|next| self.store(kind, next));
                (200, found)
            }
            ("GET", None) => failure(404, "not found"),
            ("PATCH", None) if part.is_some() => failure(404, "not found"),
            ("PATCH", Some(found)) if part.is_some() && version(&body) != version(&found) => {
                failure(409, "it has changed")
            }
            ("DELETE", _) => (200, json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" })),
            ("POST" | "PUT", _) => {
                self.store(kind, body.clone());
                (200, body)
            }
            _ => (200, body),
        }
    }
}

fn failure(code: u16, message: &str) -> (u16, Value) {
    let reason = match code {
        404 => "NotFound",
        409 => "Conflict",
        _ => "Forbidden",
    };
    let said = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    (code, said)
}

/// A cluster with all resources of a Workshop.
pub(crate) fn with_children(workshop: &Value) -> Cluster {
    let metadata = json!({
        "name": workshop["metadata"]["name"], "namespace": "workshops", "uid": "child", "resourceVersion": "1",
        "ownerReferences": [{
            "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "name": workshop["metadata"]["name"],
            "uid": workshop["metadata"]["uid"],
        }],
    });
    let object = json!({ "metadata": metadata });
    let kinds = ["deployments", "services", "ingresses"];
    kinds.into_iter().fold(Cluster::default(), |cluster, kind| cluster.listed(kind, &object))
}

/// The written statuses.
pub(crate) fn statuses(calls: &[Call]) -> impl Iterator<Item = &Value> {
    calls.iter().filter(|(what, _)| what == "PATCH workshops/status").map(|(_, body)| &body["status"])
}

/// A clock: the given start time plus the tokio time elapsed since the given instant. Tests pause tokio's time.
#[derive(Debug)]
struct Since(Timestamp, Instant);

impl Clock for Since {
    fn now(&self) -> Timestamp {
        self.0.checked_add(self.1.elapsed()).unwrap()
    }
}

#[derive(Debug)]
struct Zeros;

impl Entropy for Zeros {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(0);
    }
}
