//! The watch of the Workshops as fleet events.

use std::time::Duration;

use futures_util::future::ready;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch_all};
use kube::{Api, ResourceExt};
use launcher_workshop::Workshop;

use super::Guarded;
use crate::port::FleetEvent;

/// Streams all Workshops, then each change, without end. After an interruption it logs, waits and lists again.
pub(super) fn watch(api: Api<Guarded>, lasts: Duration) -> BoxStream<'static, FleetEvent> {
    let seconds = u32::try_from(lasts.as_secs()).unwrap_or(u32::MAX);
    to_fleet_events(watch_all(api, watcher::Config::default().timeout(seconds)).default_backoff()).boxed()
}

/// Converts watch events; a list becomes one event when it is complete.
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
                tracing::warn!(%error, "Workshop watch interrupted, retrying");
                None
            }
        })
    })
}

/// Returns the Workshop if it is readable. An unreadable one must not be terminated, so it counts as neither present
/// nor gone.
fn readable(object: Guarded) -> Option<Workshop> {
    let name = object.name_any();
    match object.0 {
        Ok(mut workshop) => {
            workshop.metadata.managed_fields = None;
            Some(workshop)
        }
        Err(unreadable) => {
            tracing::warn!(workshop = %name, error = %unreadable.error, "skipping unreadable Workshop");
            None
        }
    }
}
