//! Admission: limits on the requests in flight of each caller, and on the bytes of all bodies held in memory.
//!
//! A request keeps its reservation until the last byte of its response has left the program, so slow readers count too.

mod callers;
mod guarded_body;
mod limits;

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::identity::Identity;
use crate::problem::{Problem, ProblemCode};
use crate::settings::ApiSettings;
use callers::{Callers, InFlight};
use guarded_body::GuardedBody;
use limits::{LARGE_RESPONSE, REQUEST_BYTES, RESPONSE_BYTES};

pub use limits::BUFFERED_BYTES;
pub(crate) use limits::MAX_BODY_BYTES;

/// Request slots and memory in use. Clones share the counts.
#[derive(Debug, Clone)]
pub(crate) struct Admission {
    callers: Callers,
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
            callers: Callers::default(),
            requests: Arc::new(Semaphore::new(REQUEST_BYTES)),
            responses: Arc::new(Semaphore::new(RESPONSE_BYTES)),
        }
    }
}

/// Admits a request if its caller has a free request slot and the memory budgets have room. The request keeps its slot
/// and its memory until the response is sent.
pub(crate) async fn admit(
    State(admission): State<Admission>,
    State(settings): State<Arc<ApiSettings>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(identity) = request.extensions().get::<Identity>() else {
        return Problem::internal("the admission middleware is not behind the identity middleware").into_response();
    };
    let in_flight = match admission.callers.enter(&identity.caller) {
        Ok(in_flight) => in_flight,
        Err(problem) => return problem.into_response(),
    };
    let limit = limits::body_limit(&request, &settings.base_path);
    let Ok(_body) = reserve(&admission.requests, expected_bytes(&request, limit)) else {
        return overloaded().into_response();
    };
    DefaultBodyLimit::max(limit).apply(&mut request);
    request.extensions_mut().insert(BodyLimit(limit));
    let response = next.run(request).await;
    hold_until_sent(&admission.responses, response, in_flight)
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
fn hold_until_sent(budget: &Arc<Semaphore>, response: Response, in_flight: InFlight) -> Response {
    if is_event_stream(&response) {
        // `streams.rs` limits event streams, so an event stream keeps no slot.
        return response;
    }
    let is_shared = response.extensions().get::<Shared>().is_some();
    let bytes = response.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let counted = if is_shared || bytes < LARGE_RESPONSE { 0 } else { bytes };
    // A response that is larger than the whole budget reserves the whole budget.
    match reserve(budget, counted.min(RESPONSE_BYTES)) {
        Ok(memory) => response.map(|body| Body::new(GuardedBody::new(body, (in_flight, memory)))),
        Err(problem) => problem.into_response(),
    }
}

fn is_event_stream(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}
