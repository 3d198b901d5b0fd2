//! Admission: how many requests of one caller, and how many bytes of all bodies, may be held in memory at a time.
//!
//! What is held counts until the last byte of the answer has left the program, so that a client that reads slowly counts
//! as well.

mod callers;
mod held;
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
use held::Held;
pub(crate) use route::MAX_BODY_BYTES;

const KIB: usize = 1024;
/// Memory for the bodies of all requests together, in bytes.
const REQUEST_BYTES: usize = 8 * KIB * KIB;
/// Memory for the large answers of all requests together, in bytes.
const RESPONSE_BYTES: usize = 24 * KIB * KIB;
/// Size from which an answer counts as large, in bytes. Smaller ones are bounded by the number of connections.
const LARGE_RESPONSE: usize = 8 * KIB;

/// Memory that request bodies and large answers hold at most, in bytes.
pub const BUFFERED_BYTES: usize = REQUEST_BYTES + RESPONSE_BYTES;

/// What is held in memory now.
#[derive(Debug)]
pub(crate) struct Admission {
    callers: Callers,
    requests: Arc<Semaphore>,
    responses: Arc<Semaphore>,
}

/// The most bytes that the body of a request may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimit(pub(crate) usize);

/// Marks an answer whose bytes are in memory once, however many clients read them.
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

/// Lets a request through while there is room for it, and keeps its room until it is answered.
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
    hold(&admission.responses, response, in_flight)
}

/// Bytes of a request's body that are held in memory at most.
fn expected_bytes(request: &Request, limit: usize) -> usize {
    let announced = request.body().size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
    announced.unwrap_or(limit).min(limit)
}

/// Takes so many bytes of a budget, if they are left. Nothing ever waits for them: whoever waited would hold memory, too.
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

/// Ties the caller's place and the memory of a large answer to the bytes of the answer.
fn hold(budget: &Arc<Semaphore>, response: Response, in_flight: InFlight) -> Response {
    if is_event_stream(&response) {
        // Streams are counted by themselves.
        return response;
    }
    let is_shared = response.extensions().get::<Shared>().is_some();
    let bytes = response.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let counted = if is_shared || bytes < LARGE_RESPONSE { 0 } else { bytes };
    // One that is larger than the budget is answered alone.
    match reserve(budget, counted.min(RESPONSE_BYTES)) {
        Ok(memory) => response.map(|body| Body::new(Held::new(body, (in_flight, memory)))),
        Err(problem) => problem.into_response(),
    }
}

fn is_event_stream(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}
