//! `/events`: the event stream.

use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use http::HeaderMap;
use http::header::CACHE_CONTROL;
use utoipa_axum::routes;

use crate::extract::last_event_id;
use crate::problem::{Problem, ProblemCode};
use crate::routes::Routes;
use crate::routes::instances::WorkshopInstanceResponse;
use crate::state::Call;

/// Delay after which clients reconnect when a stream has ended.
pub(super) const RETRY: Duration = Duration::from_secs(2);
/// Keep-alive interval. Proxies close a stream without data after a minute.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) fn routes() -> Routes {
    vec![routes!(follow_instances)]
}

/// Follow instances
///
/// Server-sent events: each change of the caller's instances; for an administrator, of all instances. The event is
/// `instance`, and its data is a WorkshopInstanceResponse. With `Last-Event-ID`, the stream resumes after that event.
/// Without it, the stream starts with all live instances. When the service stops, the stream ends: connect again.
#[utoipa::path(get, path = "/events", operation_id = "followInstances", tag = "instances",
    params(("Last-Event-ID" = Option<String>, Header,
            description = "The `id` of the last event that the client received.")),
    responses((status = 200, description = "The stream.", body = String, content_type = "text/event-stream")),
    extensions(("x-problems" = json!([ProblemCode::TooManyStreams]))))]
pub(crate) async fn follow_instances(call: Call, headers: HeaderMap) -> Result<Response, Problem> {
    let open = call.streams.open(&call.caller)?;
    // Return an error if the database is unavailable, because the stream would end at once.
    call.launcher.ready().await?;
    let feed = call.launcher.subscribe(&call.caller, last_event_id(&headers));
    let launcher = call.launcher.clone();
    let changes = feed.map(move |event| {
        let body = WorkshopInstanceResponse::new(&launcher, &event.listed);
        let named = Event::default().event("instance").id(event.id.to_string());
        named.json_data(body).unwrap_or_else(|_| Event::default().comment("an instance could not be written"))
    });
    let first = stream::iter([Event::default().retry(RETRY)]);
    let events = Sse::new(open.until_stop(&call, first.chain(changes)));
    Ok(([(CACHE_CONTROL, "no-store")], events.keep_alive(KeepAlive::new().interval(KEEP_ALIVE))).into_response())
}
