//! Telling about a Workshop that came into another phase: an Event, a count, a line in the log.

use kube::Resource;
use kube::runtime::events::{Event, EventType, Recorder};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};

use crate::context::Context;

/// Tells about it, if it is new. Best effort: an Event that cannot be written changes nothing.
pub(crate) async fn tell(context: &Context, workshop: &Workshop, status: &WorkshopStatus) {
    let before = workshop.status.as_ref();
    let same = before.is_some_and(|before| before.phase == status.phase && before.reason == status.reason);
    if same {
        return;
    }
    context.metrics.came_into(status.phase, status.reason.as_deref());
    let name = workshop.metadata.name.as_deref().unwrap_or_default();
    tracing::info!(workshop = name, phase = ?status.phase, reason = status.reason, "phase");
    let event = Event {
        type_: if status.phase == Phase::Failed { EventType::Warning } else { EventType::Normal },
        reason: format!("{:?}", status.phase),
        note: note(status),
        action: "Reconcile".to_owned(),
        secondary: None,
    };
    // A recorder remembers what it told for minutes, to count repetitions. A phase that is come into is told once.
    let recorder = Recorder::new(context.client.clone(), context.reporter.clone());
    if let Err(error) = recorder.publish(&event, &workshop.object_ref(&())).await {
        tracing::warn!(workshop = name, %error, "an Event could not be written");
    }
}

fn note(status: &WorkshopStatus) -> Option<String> {
    match (&status.message, &status.url) {
        (Some(message), _) => {
            let reason = status.reason.as_deref().unwrap_or_default();
            Some(format!("{reason}: {message}").chars().take(1000).collect())
        }
        (None, Some(url)) => Some(format!("It answers at {url}")),
        (None, None) => None,
    }
}
