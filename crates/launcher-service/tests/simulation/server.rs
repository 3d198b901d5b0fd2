//! In-memory API server. It supports only the requests that launcher and operator send.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use kube::Client;
use kube::client::Body;
use kube::client::retry::RetryPolicy;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::time::sleep;
use tower::retry::RetryLayer;
use tower::{BoxError, ServiceBuilder, service_fn};

use crate::faults::{Fate, FaultInjector};
use crate::objects::{Objects, list};
use crate::request::Asked;
use crate::seeded::Time;
use crate::trace::Trace;
use crate::watching;

/// Read timeout of the clients of launcher and operator: they close a connection that receives no data for this time.
const SILENCE: Duration = Duration::from_secs(75);

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// The simulated API server. Clones share one state.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    objects: Arc<Mutex<Objects>>,
    /// Latest version of the objects. Each watch waits for its next change.
    pub(crate) news: watch::Sender<u64>,
    pub(crate) faults: Arc<FaultInjector>,
    pub(crate) time: Time,
    trace: Trace,
}

impl Server {
    pub(crate) fn new(seed: u64, time: Time, trace: Trace) -> Self {
        let faults = Arc::new(FaultInjector::new(seed));
        let server = Self { objects: Arc::default(), news: watch::Sender::new(0), faults, time, trace };
        let namespace = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "workshops"}});
        server.change(|objects| objects.create("namespaces", namespace, time.now())).unwrap();
        server
    }

    pub(crate) fn look(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap()
    }

    /// Changes objects, and notifies the watches.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Objects) -> T) -> T {
        let (outcome, version) = {
            let mut objects = self.look();
            (change(&mut objects), objects.version)
        };
        self.news.send_if_modified(|latest| std::mem::replace(latest, version) != version);
        outcome
    }

    /// Returns a client for the program of this name, configured like its real client.
    pub(crate) fn client(&self, program: &str) -> Client {
        let (server, program) = (self.clone(), program.to_owned());
        let service = service_fn(move |request: Request<Body>| {
            let (server, program) = (server.clone(), program.clone());
            async move { server.take(program, request).await }
        });
        let retries = RetryLayer::new(RetryPolicy::server_retry());
        Client::new(ServiceBuilder::new().layer(retries).service(service), "workshops")
    }

    /// Handles a request, even if the client has disconnected.
    async fn take(self, program: String, request: Request<Body>) -> Result<Answer, BoxError> {
        let asked = Asked::read(request).await?;
        let about = format!("{program} {}", asked.about());
        if asked.verb == "watch" {
            let fate = self.faults.watch(&about);
            return Ok(watching::answer(self, asked, fate));
        }
        let fate = self.faults.fate(&about);
        let is_lease = asked.kind == "leases" || asked.kind == "events";
        if fate != Fate::Normal || (asked.verb != "list" && asked.verb != "get" && !is_lease) {
            self.trace.say(&format!("{about}: {fate:?}"));
        }
        let (answers, answer) = oneshot::channel();
        tokio::spawn(async move {
            if let Some(outcome) = self.bring_about(&asked, fate).await {
                drop(answers.send(outcome));
            } else {
                sleep(SILENCE).await; // simulated time
                drop(answers);
            }
        });
        answer.await.unwrap_or_else(|_| broken())
    }

    async fn bring_about(&self, asked: &Asked, fate: Fate) -> Option<Result<Answer, BoxError>> {
        match fate {
            Fate::Normal => Some(Ok(self.done(asked))),
            Fate::Refused(code) => Some(Ok(refusal(code))),
            Fate::DoneAndRefused(code) => {
                self.done(asked);
                Some(Ok(refusal(code)))
            }
            Fate::Broken => Some(broken()),
            Fate::DoneAndBroken => {
                self.done(asked);
                Some(broken())
            }
            Fate::DoneLate(late) => {
                sleep(late).await; // simulated time
                Some(Ok(self.done(asked)))
            }
            Fate::AnsweredLate(late) => {
                let answer = self.done(asked);
                sleep(late).await; // simulated time
                Some(Ok(answer))
            }
            Fate::NeverAnswered => None,
            Fate::DoneNeverAnswered => {
                self.done(asked);
                None
            }
        }
    }

    fn done(&self, asked: &Asked) -> Answer {
        let Asked { verb, kind, name, part, body, .. } = asked;
        let now = self.time.now();
        let outcome = self.change(|objects| match *verb {
            "list" => Ok(Arc::new(list(&selected(objects, asked), objects.version))),
            "get" => objects.get(kind, name).cloned().ok_or(404),
            "create" if kind == "events" => Ok(Arc::new(body.clone())),
            "create" => objects.create(kind, body.clone(), now),
            "replace" => objects.replace(kind, name, body.clone()),
            "apply" => objects.apply(kind, name, *part, body, now),
            "delete" => objects.delete(kind, name, body, now).map(|left| {
                let gone = || json!({"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 200});
                left.unwrap_or_else(|| Arc::new(gone()))
            }),
            "log" => Err(404),
            _ => Err(405),
        });
        match outcome {
            Ok(value) => answer(200, &value),
            Err(409) if *verb == "create" => {
                let mut exists = status(409);
                exists["reason"] = "AlreadyExists".into();
                answer(409, &exists)
            }
            Err(code) => refusal(code),
        }
    }
}

fn selected(objects: &Objects, asked: &Asked) -> Vec<Arc<Value>> {
    let all = if asked.kind == "events" { Vec::new() } else { objects.of(&asked.kind) };
    all.into_iter().filter(|object| asked.selects(object)).collect()
}

pub(crate) fn answer(code: u16, value: &Value) -> Answer {
    let body = Full::new(Bytes::from(value.to_string())).map_err(|never| match never {}).boxed_unsync();
    Response::builder().status(code).header("content-type", "application/json").body(body).unwrap()
}

/// Builds an answer with a streamed body.
pub(crate) fn streamed(bodies: impl futures_util::Stream<Item = Bytes> + Send + 'static) -> Answer {
    let frames = bodies.map(|bytes| Ok::<_, io::Error>(http_body::Frame::data(bytes)));
    Response::new(StreamBody::new(frames).boxed_unsync())
}

/// Builds the error body of an API server.
pub(crate) fn status(code: u16) -> Value {
    let reason = match code {
        404 => "NotFound",
        409 => "Conflict",
        410 => "Expired",
        422 => "Invalid",
        429 => "TooManyRequests",
        504 => "Timeout",
        _ => "InternalError",
    };
    let message = format!("fault injected by the simulation: {code}");
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    })
}

fn refusal(code: u16) -> Answer {
    let mut answer = answer(code, &status(code));
    if code == 429 {
        answer.headers_mut().insert("retry-after", http::HeaderValue::from_static("1"));
    }
    answer
}

fn broken() -> Result<Answer, BoxError> {
    Err(io::Error::from(io::ErrorKind::ConnectionReset).into())
}
