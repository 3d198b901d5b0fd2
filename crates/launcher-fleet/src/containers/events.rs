//! Follows the engine's events, and wakes the supervisors of the workshops.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::sleep;

use super::workload::Workload;
use crate::machine::Registry;

/// Pause before the next connection to an engine that has ended the stream of events.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// Wakes the supervisor of a workshop for each event of its containers, and all supervisors after a lost connection.
/// Ends when the fleet is closed.
pub(super) async fn follow_events(registry: Weak<Registry<Workload>>) {
    while let Some(open) = registry.upgrade() {
        let context = Arc::clone(&open.context);
        let mut events = context.engine.events(&context.data_dir.id);
        // Events may have been lost before this connection.
        open.workloads().iter().for_each(|workload| workload.wake());
        drop(open);
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = context.closing().cancelled() => return,
            };
            match event {
                Some(Ok(event)) => {
                    let Some(open) = registry.upgrade() else { return };
                    if let Some(workload) = open.workload(&event.workshop) {
                        workload.wake();
                    }
                }
                Some(Err(error)) => {
                    tracing::warn!(%error, "following the container engine's events failed, connecting again");
                    break;
                }
                None => break,
            }
        }
        tokio::select! {
            () = sleep(RECONNECT_DELAY) => {}
            () = context.closing().cancelled() => return,
        }
    }
}
