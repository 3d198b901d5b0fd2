//! `GET /fragments/events`: notifies an open page of changes. The page then reloads its content.
//!
//! The events contain no state, so missed, repeated or extra events do no harm: the page always loads the latest list.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, StreamExt, future, stream};
use http::HeaderMap;
use launcher_domain::Caller;
use launcher_service::ListedInstance;
use serde::Deserialize;

use crate::extract::last_event_id;
use crate::pages::Query;
use crate::problem::Problem;
use crate::state::Call;

/// Name of the event, as in the `hx-trigger` of the pages.
const CHANGED: &str = "workshops-changed";
/// Keep-alive interval. Proxies close a stream without data after a minute.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Selects the instances whose changes the page needs.
#[derive(Debug, Deserialize)]
pub(crate) struct EventsQuery {
    /// `all`: all instances that the caller may see. A name: this instance. Otherwise: the caller's own instances.
    #[serde(default)]
    of: String,
}

pub(crate) async fn stream(
    call: Call,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let open = call.streams.open(&call.caller)?;
    let last_event_id = last_event_id(&headers);
    let feed = call.launcher.subscribe(&call.caller, last_event_id);
    // A new stream begins with an event: an instance may have ended after the page was loaded, and no later event would
    // report it.
    let first = stream::iter(last_event_id.is_none().then(|| Event::default().event(CHANGED).data("connected")));
    let caller = call.caller.clone();
    let changes = feed
        .filter(move |event| future::ready(concerns(&query.of, &caller, &event.listed)))
        .map(|event| Event::default().id(event.id.to_string()).event(CHANGED).data(&event.listed.instance.k8s_name));
    Ok(Sse::new(open.until_stop(&call, first.chain(changes))).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

fn concerns(of: &str, caller: &Caller, listed: &ListedInstance) -> bool {
    match of {
        "all" => true,
        "" => listed.instance.owner_email == *caller.email(),
        name => listed.instance.k8s_name == name,
    }
}
