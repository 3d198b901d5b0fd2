//! Admission: limits on the requests in flight and the event streams of each caller, and on the bytes of all bodies
//! held in memory.
//!
//! A request keeps its reservation until the last byte of its response has left the program, so slow readers count too.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http::header::CONTENT_TYPE;
use http_body::{Frame, SizeHint};
use launcher_domain::sync::lock;
use launcher_domain::{Caller, EmailAddress};
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::identity::Identity;
use crate::problem::{Problem, ProblemCode};
use crate::state::{AppState, Call};

/// Request slots and memory in use. Clones share the counts.
#[derive(Debug, Clone)]
pub(crate) struct Admission {
    callers: Slots,
    requests: Arc<Semaphore>,
    responses: Arc<Semaphore>,
}

/// Maximum size of a request's body, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimit(pub(crate) usize);

/// Marks a response whose bytes are in memory only once for all clients. Such a response needs no reservation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared;

impl Default for Admission {
    fn default() -> Self {
        Self {
            callers: Slots::default(),
            requests: Arc::new(Semaphore::new(REQUEST_BYTES)),
            responses: Arc::new(Semaphore::new(RESPONSE_BYTES)),
        }
    }
}

/// Admits a request if its caller has a free request slot and the memory budgets have room. The request keeps its slot
/// and its memory until the response is sent.
pub(crate) async fn admit(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let Some(identity) = request.extensions().get::<Identity>() else {
        return Problem::internal("the admission middleware is not behind the identity middleware").into_response();
    };
    let Some(in_flight) = state.admission.callers.take(&identity.caller, MAX_IN_FLIGHT) else {
        let detail = format!("You have {MAX_IN_FLIGHT} requests in flight. Wait until one is answered.");
        return Problem::new(ProblemCode::TooManyRequests, detail).into_response();
    };
    let limit = body_limit(&request, &state.settings.base_path);
    let Ok(_body) = reserve(&state.admission.requests, expected_bytes(&request, limit)) else {
        return overloaded().into_response();
    };
    DefaultBodyLimit::max(limit).apply(&mut request);
    request.extensions_mut().insert(BodyLimit(limit));
    let response = next.run(request).await;
    hold_until_sent(&state.admission.responses, response, in_flight)
}

/// Returns the maximum number of bytes of a request's body that the service holds in memory.
fn expected_bytes(request: &Request, limit: usize) -> usize {
    let announced = request.body().size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
    announced.unwrap_or(limit).min(limit)
}

/// Reserves bytes of a budget, or fails if too few are left. Never waits, because a waiting request would hold memory
/// too.
fn reserve(budget: &Arc<Semaphore>, bytes: usize) -> Result<Option<OwnedSemaphorePermit>, Problem> {
    if bytes == 0 {
        return Ok(None);
    }
    let bytes = u32::try_from(bytes).map_err(|_| overloaded())?;
    Arc::clone(budget).try_acquire_many_owned(bytes).map(Some).map_err(|_| overloaded())
}

fn overloaded() -> Problem {
    let detail = "The requests and responses in flight use all reserved memory. Try again in a moment.";
    Problem::new(ProblemCode::Overloaded, detail)
}

/// Keeps the caller's slot and the memory of a large response until the bytes of the response are sent.
fn hold_until_sent(budget: &Arc<Semaphore>, response: Response, in_flight: Slot) -> Response {
    if is_event_stream(&response) {
        // `Streams` limits event streams, so an event stream keeps no slot.
        return response;
    }
    let is_shared = response.extensions().get::<Shared>().is_some();
    let bytes = response.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let counted = if is_shared || bytes < LARGE_RESPONSE { 0 } else { bytes };
    // A response that is larger than the whole budget reserves the whole budget.
    match reserve(budget, counted.min(RESPONSE_BYTES)) {
        Ok(memory) => response.map(|body| Body::new(GuardedBody { body, guard: Arc::new((in_flight, memory)) })),
        Err(problem) => problem.into_response(),
    }
}

fn is_event_stream(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Maximum number of in-flight requests of one caller, without event streams. Ten tabs that load at the same time need
/// fewer.
const MAX_IN_FLIGHT: usize = 64;

/// Counts the slots that each person has taken in this process. People without a slot have no entry.
#[derive(Debug, Clone, Default)]
struct Slots(Arc<Mutex<HashMap<EmailAddress, usize>>>);

/// One slot of a person. It counts until it is dropped.
#[derive(Debug)]
struct Slot {
    slots: Slots,
    email: EmailAddress,
}

impl Slots {
    /// Takes a slot; `None` if the caller already has `most`.
    fn take(&self, caller: &Caller, most: usize) -> Option<Slot> {
        let mut slots = lock(&self.0);
        let taken = slots.entry(caller.email().clone()).or_default();
        if *taken >= most {
            return None;
        }
        *taken += 1;
        Some(Slot { slots: self.clone(), email: caller.email().clone() })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut slots = lock(&self.slots.0);
        if let Some(taken) = slots.get_mut(&self.email) {
            *taken -= 1;
            if *taken == 0 {
                slots.remove(&self.email);
            }
        }
    }
}

/// Slot and memory of a response.
type Guard = Arc<(Slot, Option<OwnedSemaphorePermit>)>;

/// A body that keeps a guard until the server has written its last byte. Dropping the guard at the end of the body would
/// be too early, because the server still queues bytes then.
#[derive(Debug)]
struct GuardedBody {
    body: Body,
    guard: Guard,
}

/// Bytes of the body, which keep the guard until the server has written them.
struct GuardedBytes {
    bytes: Bytes,
    _guard: Guard,
}

impl AsRef<[u8]> for GuardedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        let guarded = |bytes| Bytes::from_owner(GuardedBytes { bytes, _guard: Arc::clone(&self.guard) });
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(guarded))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

const KIB: usize = 1024;

/// Memory budget for the request bodies of all requests together.
const REQUEST_BYTES: usize = 8 * KIB * KIB;
/// Memory budget for the large responses to all requests together.
const RESPONSE_BYTES: usize = 24 * KIB * KIB;
/// Size in bytes from which a response counts as large. The limit on connections bounds the memory of smaller
/// responses.
const LARGE_RESPONSE: usize = 8 * KIB;

/// Maximum memory held by request bodies and large responses.
pub const BUFFERED_BYTES: usize = REQUEST_BYTES + RESPONSE_BYTES;

/// Maximum size of a template in a request body, as JSON or as the editor's form.
pub(crate) const MAX_BODY_BYTES: usize = 256 * KIB;
/// Maximum body of the bulk form in the admins' list, with one entry for each of 500 instances.
const BULK_BYTES: usize = 64 * KIB;
/// Maximum body of the form with the addresses of a class: 1,000 addresses with names.
const ROSTER_BYTES: usize = 256 * KIB;
/// Maximum body of the forms with the roster of a class: an exported table of 1,000 people in UTF-16 with their grades, or the
/// changes of 1,000 members.
const UPLOAD_BYTES: usize = 512 * KIB;
/// Maximum body of the form with a class in a file: some templates of the maximum size, or hundreds of usual ones.
const CLASS_FILE_BYTES: usize = KIB * KIB;
/// Maximum body of a class: a description of 4,000 characters, each with up to 12 bytes in a form, and addresses of teachers.
const CLASS_BYTES: usize = 96 * KIB;
/// Maximum body of a message to a class: 500 characters, each with up to 12 bytes.
const MESSAGE_BYTES: usize = 8 * KIB;
/// Maximum body of the forms of pages with a long return path: the path of a list with its filter, encoded twice.
const RETURN_BYTES: usize = 8 * KIB;
/// Maximum body of a launch: 10 parameters of 1,000 characters, the URL of a repository with 2,048 characters, and its
/// reference and folder with 255, as a form with up to 12 bytes for each character.
const LAUNCH_BYTES: usize = 160 * KIB;
/// Maximum body of all other routes. Such a body contains at most a key, an expiry or a short return path.
const SMALL_BYTES: usize = KIB;

/// Returns the maximum size of a request's body, in bytes. Routes that read no body ignore it.
fn body_limit(request: &Request, base_path: &str) -> usize {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let resource = path.strip_prefix(base_path).unwrap_or(path).trim_end_matches('/');
    match resource {
        "/templates"
        | "/templates/{template_id}"
        | "/classes/{class}/templates"
        | "/classes/{class}/templates/{template_id}"
        | "/templates/check-material"
        | "/admin/templates"
        | "/admin/templates/{template_id}" => MAX_BODY_BYTES,
        "/admin/instances/bulk" => BULK_BYTES,
        "/admin/templates/{template_id}/workshops" => ROSTER_BYTES,
        "/classes/{class}/members" | "/classes/{class}/members/apply" => UPLOAD_BYTES,
        "/import/class" => CLASS_FILE_BYTES,
        "/classes" | "/classes/{class}" | "/classes/{class}/edit" => CLASS_BYTES,
        "/templates/{template_id}/launch"
        | "/classes/{class}/templates/{template_id}/launch"
        | "/launch/{template_id}" => LAUNCH_BYTES,
        "/classes/{class}/message" => MESSAGE_BYTES,
        "/language" | "/instances/{k8s_name}/end" | "/classes/{class}/members/{email}/edit" => RETURN_BYTES,
        _ => SMALL_BYTES,
    }
}

/// Maximum number of open streams of one person, because a script might open streams in a loop. Each stream costs a task,
/// and work for every event. A browser tab has one stream, so regular use stays below.
const MAX_STREAMS: usize = 32;

/// Counts the open streams of each person.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    of: Slots,
    all: Gauge,
}

/// One open stream. It counts until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenStream {
    all: Gauge,
    _slot: Slot,
}

impl Streams {
    pub(crate) fn new(all: Gauge) -> Self {
        Self { of: Slots::default(), all }
    }

    /// Counts one more open stream of the caller.
    ///
    /// # Errors
    /// 429 if the caller already has [`MAX_STREAMS`] open streams.
    pub(crate) fn open(&self, caller: &Caller) -> Result<OpenStream, Problem> {
        let Some(slot) = self.of.take(caller, MAX_STREAMS) else {
            let detail = format!("You have {MAX_STREAMS} open event streams. Close one first.");
            return Err(Problem::new(ProblemCode::TooManyStreams, detail));
        };
        self.all.inc();
        Ok(OpenStream { all: self.all.clone(), _slot: slot })
    }
}

impl OpenStream {
    /// Passes events on until the server stops. The stream counts as open until it is dropped.
    pub(crate) fn until_stop<S: Stream>(
        self,
        call: &Call,
        events: S,
    ) -> impl Stream<Item = Result<S::Item, Infallible>> + use<S> {
        let stop = call.process.stop.clone().cancelled_owned();
        events.take_until(stop).map(move |event| {
            // This reference moves the stream's slot into the closure.
            let _ = &self;
            Ok(event)
        })
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.all.dec();
    }
}
