//! A simulated cluster in memory. Its watches report only changes that a test schedules; all other changes after the
//! initial lists stay unknown to the operator.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use launcher_domain::{Clock, Entropy};
use launcher_operator::build::plurals;
use launcher_operator::{Operator, OperatorSettings, run};
use launcher_process::stop::Stop;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use tower::service_fn;

use crate::support::{pod_object, settings};

/// A recorded request: method and path, as in `PATCH workshops/status`, and the body, or the query of a log request.
pub(crate) type Call = (String, Value);

/// The simulated API server. Clones share its state.
#[derive(Clone, Default)]
pub(crate) struct Cluster(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Objects that list requests return, by kind. They fill the operator's watch cache.
    listed: BTreeMap<&'static str, Vec<Value>>,
    /// Current objects, by kind and name. All requests except lists use them.
    there: BTreeMap<(String, String), Value>,
    /// The next version of the Workshop. It replaces the current version after the next read of the Workshop.
    next: Option<Value>,
    /// Kinds whose applies are refused, with status code and message of the response.
    refused: BTreeMap<&'static str, (u16, &'static str)>,
    /// Scheduled watch events, by kind, each with the delay after the one before it.
    watched: BTreeMap<&'static str, Vec<(Duration, Value)>>,
    /// Kinds that the cluster does not have: requests get 404.
    unknown: Vec<&'static str>,
    /// Kinds whose requests get no answer.
    unanswered: Vec<&'static str>,
    /// Container logs: of the previous run if true, of the current one if false.
    logs: BTreeMap<bool, &'static str>,
    calls: Vec<Call>,
    /// The operator's settings; `None` for the default settings of the tests.
    settings: Option<OperatorSettings>,
    /// Time by which the operator's clock advances with each reading.
    step: Duration,
}

impl Cluster {
    /// Adds an object to the initial lists.
    pub(crate) fn listed(self, kind: &'static str, object: &Value) -> Self {
        self.0.lock().unwrap().listed.entry(kind).or_default().push(object.clone());
        self
    }

    /// Replaces all listed objects of this kind by this one object.
    pub(crate) fn relisted(self, kind: &'static str, object: &Value) -> Self {
        self.0.lock().unwrap().listed.remove(kind);
        self.listed(kind, object)
    }

    /// Sets the current version of the Workshop, which may differ from the listed version.
    pub(crate) fn by_now(self, workshop: &Value) -> Self {
        self.store("workshops", workshop.clone());
        self
    }

    /// Changes the Workshop to this version after the next read of it.
    pub(crate) fn then(self, workshop: &Value) -> Self {
        self.0.lock().unwrap().next = Some(workshop.clone());
        self
    }

    /// Runs the operator with these settings.
    pub(crate) fn with_settings(self, settings: OperatorSettings) -> Self {
        self.0.lock().unwrap().settings = Some(settings);
        self
    }

    /// Runs the operator with a clock that also advances by this time with each reading.
    pub(crate) fn with_clock_step(self, step: Duration) -> Self {
        self.0.lock().unwrap().step = step;
        self
    }

    /// Changes an object: its watch reports the new version after the delay.
    pub(crate) fn changing(self, kind: &'static str, after: Duration, object: &Value) -> Self {
        self.watched(kind, after, json!({ "type": "MODIFIED", "object": object }))
    }

    /// Removes an object: its watch reports the removal after the delay.
    pub(crate) fn vanishing(self, kind: &'static str, after: Duration, object: &Value) -> Self {
        self.watched(kind, after, json!({ "type": "DELETED", "object": object }))
    }

    /// Ends the watch of this kind after the delay: its version is too old, so the operator must list the objects again.
    pub(crate) fn outdating(self, kind: &'static str, after: Duration) -> Self {
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired",
            "message": "too old resource version",
        });
        self.watched(kind, after, json!({ "type": "ERROR", "object": status }))
    }

    /// Removes all objects of this kind from the lists. No watch reports that.
    pub(crate) fn unlisted(self, kind: &'static str) -> Self {
        self.0.lock().unwrap().listed.remove(kind);
        self
    }

    fn watched(self, kind: &'static str, after: Duration, event: Value) -> Self {
        self.0.lock().unwrap().watched.entry(kind).or_default().push((after, event));
        self
    }

    /// Adds a container log: of the previous run, or of the current one.
    pub(crate) fn with_log(self, previous: bool, text: &'static str) -> Self {
        self.0.lock().unwrap().logs.insert(previous, text);
        self
    }

    /// Refuses all writes of a kind except deletions.
    pub(crate) fn refusing(self, kind: &'static str, code: u16, message: &'static str) -> Self {
        self.0.lock().unwrap().refused.insert(kind, (code, message));
        self
    }

    /// Accepts the writes of a refused kind again.
    pub(crate) fn accepting(self, kind: &'static str) -> Self {
        self.0.lock().unwrap().refused.remove(kind);
        self
    }

    /// Leaves all later requests for a kind without an answer.
    pub(crate) fn ignoring(self, kind: &'static str) -> Self {
        self.0.lock().unwrap().unanswered.push(kind);
        self
    }

    /// Removes a kind from the API, as if its definition was not applied.
    pub(crate) fn without_kind(self, kind: &'static str) -> Self {
        self.0.lock().unwrap().unknown.push(kind);
        self
    }

    /// The current Lease.
    pub(crate) fn lease(&self) -> Option<Value> {
        self.0.lock().unwrap().there.get(&("leases".to_owned(), "workshop-operator".to_owned())).cloned()
    }

    /// Stores the current version of an object.
    pub(crate) fn store(&self, kind: &str, object: Value) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        self.0.lock().unwrap().there.insert((kind.to_owned(), name), object);
    }

    /// Runs an operator for two minutes, with a clock that starts at `from`. Returns the operator's requests, except
    /// lists and requests for the Lease.
    pub(crate) async fn run_operator(&self, from: Timestamp) -> Vec<Call> {
        let operator = self.operator(from);
        assert!(timeout(Duration::from_secs(120), run(operator, Stop::new())).await.is_err(), "it ended by itself");
        self.calls()
    }

    /// Takes the recorded requests.
    pub(crate) fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.0.lock().unwrap().calls)
    }

    /// Creates an operator for this cluster, whose clock starts at this time.
    pub(crate) fn operator(&self, from: Timestamp) -> Operator {
        let cluster = self.clone();
        let service = service_fn(move |request| cluster.clone().take(request));
        let client = Client::new(service, "workshops");
        let (settings, step) = {
            let state = self.0.lock().unwrap();
            (state.settings.clone().unwrap_or_else(settings), state.step)
        };
        Operator::new(client, settings, "test", Arc::new(Since::new(from, step)), &Zeros)
    }

    async fn take(self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let path: Vec<&str> = head.uri.path().split('/').skip_while(|part| *part != "namespaces").skip(2).collect();
        let (kind, name, part) = (path[0], path.get(1).copied(), path.get(2).copied());
        let namespace = head.uri.path().split('/').skip_while(|part| *part != "namespaces").nth(1).unwrap();
        let written = &body["metadata"]["namespace"];
        assert!(written.is_null() || written == namespace, "{namespace}: {body}");
        let query = head.uri.query().unwrap_or_default();
        if self.0.lock().unwrap().unknown.contains(&kind) {
            let answer = failure(404, "the server could not find the requested resource").1.to_string();
            return Ok(Response::builder().status(404).body(Body::from(answer.into_bytes())).unwrap());
        }
        let is_unanswered = self.0.lock().unwrap().unanswered.contains(&kind);
        if is_unanswered {
            return pending().await;
        }
        if query.contains("watch=true") {
            return Ok(Response::new(self.watch(kind).await));
        }
        if part == Some("log") {
            return Ok(self.log(query).await);
        }
        let (code, answer) = match name {
            None if head.method == Method::GET => (200, self.list(namespace, kind, query)),
            _ => self.one(&head.method, kind, name, part, body),
        };
        let answer = serde_json::to_vec(&answer).unwrap();
        Ok(Response::builder().status(code).body(Body::from(answer)).unwrap())
    }

    /// Answers a watch with its next scheduled event, or never.
    async fn watch(&self, kind: &str) -> Body {
        let next = match self.0.lock().unwrap().watched.get_mut(kind) {
            Some(events) if !events.is_empty() => Some(events.remove(0)),
            _ => None,
        };
        let Some((after, event)) = next else { return pending().await };
        sleep(after).await; // simulated time
        Body::from(format!("{event}\n").into_bytes())
    }

    /// Answers a log request. If the test added no log, the request gets no answer, as from an unreachable node.
    async fn log(&self, query: &str) -> Response<Body> {
        let text = {
            let mut state = self.0.lock().unwrap();
            state.calls.push(("GET pods/log".to_owned(), query.into()));
            if state.logs.is_empty() { None } else { Some(state.logs.get(&query.contains("previous=true")).copied()) }
        };
        let Some(text) = text else { return pending().await };
        let (code, body) = match text {
            Some(text) => (200, text.to_owned()),
            None => (400, failure(400, "previous terminated container not found").1.to_string()),
        };
        Response::builder().status(code).body(Body::from(body.into_bytes())).unwrap()
    }

    /// Returns an applied object with the uid, resource version and generation that the lists report.
    fn applied(&self, kind: &str, mut object: Value) -> Value {
        let state = self.0.lock().unwrap();
        let name = object["metadata"]["name"].clone();
        let listed = state.listed.get(kind).into_iter().flatten().find(|one| one["metadata"]["name"] == name);
        for field in ["uid", "resourceVersion", "generation"] {
            if let Some(value) = listed.and_then(|one| one["metadata"].get(field)) {
                object["metadata"][field] = value.clone();
            }
        }
        object
    }

    /// Lists the objects of a namespace in the initial lists, or the current objects if the query selects by name.
    fn list(&self, namespace: &str, kind: &str, query: &str) -> Value {
        let state = self.0.lock().unwrap();
        let current = || state.there.iter().filter(|((one, _), _)| one == kind).map(|(_, object)| object.clone());
        let items: Vec<Value> = match state.listed.get(kind) {
            _ if query.contains("fieldSelector=metadata.name") => current().collect(),
            listed => listed.cloned().unwrap_or_default(),
        };
        let is_here = |object: &Value| [Value::Null, namespace.into()].contains(&object["metadata"]["namespace"]);
        let items: Vec<Value> = items.into_iter().filter(is_here).collect();
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
        if let (true, Some((code, message))) = ([Method::PATCH, Method::POST, Method::PUT].contains(method), refused) {
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
            ("PATCH", None) => (200, self.applied(kind, body)),
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

/// A resource of a Workshop.
pub(crate) fn child(workshop: &Value) -> Value {
    json!({ "metadata": {
        "name": workshop["metadata"]["name"], "namespace": "workshops", "uid": "child", "resourceVersion": "1",
        "ownerReferences": [{
            "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "name": workshop["metadata"]["name"],
            "uid": workshop["metadata"]["uid"],
        }],
    }})
}

/// A cluster with all resources of a Workshop. Its pod has no status.
pub(crate) fn with_children(workshop: &Value) -> Cluster {
    with_routes(workshop).listed("pods", &pod_object(&json!({})))
}

/// A cluster with the Service and the Ingress of a Workshop, and no pod.
pub(crate) fn with_routes(workshop: &Value) -> Cluster {
    route_kinds().fold(Cluster::default(), |cluster, kind| cluster.listed(kind, &child(workshop)))
}

/// The kinds of the objects of a workload, without the pod.
pub(crate) fn route_kinds() -> impl Iterator<Item = &'static str> {
    plurals().filter(|kind| *kind != "pods")
}

/// The requests that delete a workload.
pub(crate) fn deletes() -> Vec<String> {
    plurals().map(|kind| format!("DELETE {kind}")).collect()
}

/// Returns the statuses that the operator wrote.
pub(crate) fn statuses(calls: &[Call]) -> impl Iterator<Item = &Value> {
    calls.iter().filter(|(what, _)| what == "PATCH workshops/status").map(|(_, body)| &body["status"])
}

/// A clock that begins at a given time. It advances with tokio's time, which tests pause, and by `step` with each
/// reading.
#[derive(Debug)]
struct Since {
    from: Timestamp,
    began: Instant,
    step: Duration,
    readings: AtomicU32,
}

impl Since {
    fn new(from: Timestamp, step: Duration) -> Self {
        Self { from, began: Instant::now(), step, readings: AtomicU32::new(0) }
    }
}

impl Clock for Since {
    fn now(&self) -> Timestamp {
        let readings = self.readings.fetch_add(1, Ordering::Relaxed);
        self.from.checked_add(self.began.elapsed() + self.step * readings).unwrap()
    }
}

#[derive(Debug)]
struct Zeros;

impl Entropy for Zeros {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(0);
    }
}
