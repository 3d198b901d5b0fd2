//! Admission: limits on the requests in flight of each caller, and on the bytes of all bodies held in memory.
//!
//! A reservation lasts until the last byte of the response has left the program, so slow readers count too.

mod callers;
mod guarded_body;
mod route;

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::identity::Identity;
use crate::problem::{Problem, ProblemCode};
use crate::state::AppState;
use callers::{Callers, InFlight};
use guarded_body::GuardedBody;
pub(crate) use route::MAX_BODY_BYTES;

const KIB: usize = 1024;
/// Memory budget for the bodies of all requests together, in bytes.
const REQUEST_BYTES: usize = 8 * KIB * KIB;
/// Memory budget for the large responses of all requests together, in bytes.
const RESPONSE_BYTES: usize = 24 * KIB * KIB;
/// Size from which a response counts as large, in bytes. The number of connections bounds the smaller ones.
const LARGE_RESPONSE: usize = 8 * KIB;

/// Maximum memory held by request bodies and large responses, in bytes.
pub const BUFFERED_BYTES: usize = REQUEST_BYTES + RESPONSE_BYTES;

/// Memory and request slots in use.
#[derive(Debug)]
pub(crate) struct Admission {
    callers: Callers,
    requests: Arc<Semaphore>,
    responses: Arc<Semaphore>,
}

/// Maximum size of a request's body, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimit(pub(crate) usize);

/// Marks a response whose bytes are in memory once, shared by all clients that read them.
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

/// Admits a request while the caller and the budgets have room, and holds its share until the response is sent.
pub(crate) async fn admit(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let Some(identity) = request.extensions().get::<Identity>() else {
        return Problem::internal("the admission middleware is not behind the identity middleware").into_response();
    };
    let admission = &state.admission;
    let in_flight = match admission.callers.enter(&identity.caller) {
        Ok(in_flight) => in_flight,
        Err(problem) => return problem.into_response(),
    };
    let limit = route::body_limit(&request, &state.settings.base_path);
    let Ok(_body) = reserve(&admission.requests, expected_bytes(&request, limit)) else {
        return overloaded().into_response();
    };
    DefaultBodyLimit::max(limit).apply(&mut request);
    request.extensions_mut().insert(BodyLimit(limit));
    let response = next.run(request).await;
    hold_until_sent(&admission.responses, response, in_flight)
}

/// Maximum bytes of a request's body that are held in memory.
fn expected_bytes(request: &Request, limit: usize) -> usize {
    let announced = request.body().size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
    announced.unwrap_or(limit).min(limit)
}

/// Takes bytes from a budget, or fails if too few are left. It never waits: a waiting request would hold memory too.
fn reserve(budget: &Arc<Semaphore>, bytes: usize) -> Result<Option<OwnedSemaphorePermit>, Problem> {
    if bytes == 0 {
        return Ok(None);
    }
    let bytes = u32::try_from(bytes).map_err(|_| overloaded())?;
    Arc::clone(budget).try_acquire_many_owned(bytes).map(Some).map_err(|_| overloaded())
}

fn overloaded() -> Problem {
    let detail = "The service holds as many bytes of requests and answers as it may. Try again in a moment.";
    Problem::new(ProblemCode::Overloaded, detail)
}

/// Ties the caller's slot and the memory of a large response to the bytes of the response.
fn hold_until_sent(budget: &Arc<Semaphore>, response: Response, in_flight: InFlight) -> Response {
    if is_event_stream(&response) {
        // `streams` limits event streams.
        return response;
    }
    let is_shared = response.extensions().get::<Shared>().is_some();
    let bytes = response.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let counted = if is_shared || bytes < LARGE_RESPONSE { 0 } else { bytes };
    // A response larger than the budget takes all of it.
    match reserve(budget, counted.min(RESPONSE_BYTES)) {
        Ok(memory) => response.map(|body| Body::new(GuardedBody::new(body, (in_flight, memory)))),
        Err(problem) => problem.into_response(),
    }
}

fn is_event_stream(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}
