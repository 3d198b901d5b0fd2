//! Watches the Workshops of a namespace, and converts the watch events to fleet events.

use std::time::Duration;

use futures_util::future::ready;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch_all};
use kube::{Api, ResourceExt};
use launcher_workshop::Workshop;

use super::resource::Guarded;
use crate::port::FleetEvent;

/// Streams the list of all Workshops, then each change, without end. When a request fails, the stream retries it after
/// a backoff; if changes could be lost, it lists all Workshops again.
pub(super) fn watch(api: Api<Guarded>, lasts: Duration) -> BoxStream<'static, FleetEvent> {
    let seconds = u32::try_from(lasts.as_secs()).unwrap_or(u32::MAX);
    to_fleet_events(watch_all(api, watcher::Config::default().timeout(seconds)).default_backoff()).boxed()
}

/// Converts watch events to fleet events. It collects the Workshops of a list, and sends them as one event.
fn to_fleet_events(
    events: impl Stream<Item = Result<Event<Guarded>, watcher::Error>> + Send + 'static,
) -> impl Stream<Item = FleetEvent> + Send + 'static {
    let mut listed = Vec::new();
    events.filter_map(move |event| {
        ready(match event {
            Ok(Event::Init) => {
                listed.clear();
                None
            }
            Ok(Event::InitApply(object)) => {
                listed.extend(readable(object));
                None
            }
            Ok(Event::InitDone) => Some(FleetEvent::Relisted(std::mem::take(&mut listed))),
            Ok(Event::Apply(object)) => readable(object).map(Box::new).map(FleetEvent::Applied),
            Ok(Event::Delete(object)) => readable(object).map(Box::new).map(FleetEvent::Deleted),
            Err(error) => {
                tracing::warn!(%error, "watching Workshops failed, retrying");
                None
            }
        })
    })
}

/// Returns the Workshop, or `None` if it cannot be parsed. The stream omits an unreadable Workshop: the service then
/// neither updates nor terminates it.
fn readable(object: Guarded) -> Option<Workshop> {
    let name = object.name_any();
    match object.0 {
        Ok(mut workshop) => {
            workshop.metadata.managed_fields = None;
            Some(workshop)
        }
        Err(unreadable) => {
            tracing::warn!(workshop = %name, error = %unreadable.error, "Workshop is unreadable, ignoring its changes");
            None
        }
    }
}
