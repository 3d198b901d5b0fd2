//! Reports a phase change of a Workshop with a metric and a log entry, and its result with a Kubernetes Event.

use kube::Resource;
use kube::runtime::events::{Event, EventType, Recorder};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};

use crate::context::Context;

/// Reports the phase if it has changed. If writing the Event fails, this only logs the error.
pub(crate) async fn notify(context: &Context, workshop: &Workshop, status: &WorkshopStatus) {
    let before = workshop.status.as_ref();
    let same = before.is_some_and(|before| before.phase == status.phase && before.reason == status.reason);
    if same {
        return;
    }
    context.metrics.record_transition(status.phase, status.reason.as_deref());
    let name = workshop.metadata.name.as_deref().unwrap_or_default();
    tracing::info!(workshop = name, phase = ?status.phase, reason = status.reason, "Workshop phase changed");
    // The scheduler and the kubelet already report the steps of the first start, with Events of the pod.
    if matches!(status.phase, Phase::Pending | Phase::Starting) && status.ready_at.is_none() {
        return;
    }
    let event = Event {
        type_: if status.phase == Phase::Failed { EventType::Warning } else { EventType::Normal },
        reason: format!("{:?}", status.phase),
        note: note(status),
        action: "Reconcile".to_owned(),
        secondary: None,
    };
    // Use a new recorder for each Event. A shared recorder would keep all Events in memory for minutes to count
    // repetitions, but a phase change does not repeat.
    let recorder = Recorder::new(context.client.clone(), context.reporter.clone());
    if let Err(error) = recorder.publish(&event, &workshop.object_ref(&())).await {
        tracing::warn!(workshop = name, %error, "writing the Event of a phase change failed");
    }
}

fn note(status: &WorkshopStatus) -> Option<String> {
    match (&status.message, &status.report.url) {
        (Some(message), _) => {
            let reason = status.reason.as_deref().unwrap_or_default();
            Some(format!("{reason}: {message}").chars().take(1000).collect())
        }
        (None, Some(url)) => Some(format!("The app answers at {url}")),
        (None, None) => None,
    }
}
