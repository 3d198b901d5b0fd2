//! Removes containers that belong to no Workshop: an interrupted creation or an earlier launcher left them.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::sleep;

use super::engine::{Engine, FoundContainer};
use super::workload::Workload;
use crate::machine::Registry;

/// Interval of the searches.
const INTERVAL: Duration = Duration::from_mins(5);

/// Removes the orphans that were found at the start, and searches for others until the fleet is closed.
pub(super) async fn remove_orphans(registry: Weak<Registry<Workload>>, found: Vec<FoundContainer>) {
    let mut orphans = found;
    while let Some(open) = registry.upgrade() {
        let context = Arc::clone(&open.context);
        drop(open);
        let search = async {
            remove(&context.engine, orphans).await;
            sleep(INTERVAL).await;
            context.engine.list(&context.data_dir.id).await
        };
        let found = tokio::select! {
            found = search => found,
            () = context.closing().cancelled() => return,
        };
        orphans = found.unwrap_or_else(|error| {
            tracing::debug!(%error, "searching orphaned containers failed, trying again later");
            Vec::new()
        });
        let Some(open) = registry.upgrade() else { return };
        // After the list: the Workshop of each listed container that is no orphan exists, or is being deleted.
        let uids: HashSet<_> =
            open.workloads().iter().filter_map(|workload| workload.stored_record().workshop().metadata.uid).collect();
        orphans.retain(|container| !uids.contains(&container.uid));
    }
}

async fn remove(engine: &Engine, orphans: Vec<FoundContainer>) {
    for FoundContainer { name, workshop, .. } in orphans {
        tracing::warn!(container = name, workshop, "removing orphaned container");
        if let Err(error) = engine.remove(&name).await {
            tracing::warn!(container = name, %error, "removing orphaned container failed, trying again later");
        }
    }
}
