//! Interface that the test of each adapter implements.

use std::sync::Arc;

use async_trait::async_trait;
use launcher_fleet::Fleet;
use launcher_workshop::{Phase, Workshop, labels};
use serde_json::json;

/// An adapter under test: one fleet with its data, which all rules share.
#[async_trait]
pub trait FleetHarness: Send + Sync {
    /// Returns the open fleet.
    fn fleet(&self) -> Arc<dyn Fleet>;

    /// Closes the fleet and opens it again with the same data. Takes the caller's handle, because some adapters allow
    /// only one open fleet for their data. An adapter whose data is on a server or in memory only connects again.
    async fn reopen(&self, fleet: Arc<dyn Fleet>) -> Arc<dyn Fleet>;

    /// Opens a fleet with other data: another directory, namespace or cluster.
    async fn open_other(&self) -> Arc<dyn Fleet>;

    /// Returns a Workshop that this fleet accepts and can run: [`contract_workshop`], with an image and a command that
    /// exist for the adapter.
    fn workshop(&self, name: &str) -> Workshop;

    /// Brings an existing Workshop into `Running` or `Expired`. If the adapter runs workloads, this does nothing, and
    /// the rule waits for the status. Otherwise the test writes the status itself.
    async fn bring_about(&self, name: &str, phase: Phase);
}

/// Returns a Workshop with the launcher's labels that runs for an hour at most and needs few resources.
#[must_use]
pub fn contract_workshop(name: &str) -> Workshop {
    let spec = json!({
        "owner": "alice@example.org", "image": "example.org/app:1", "appType": "custom", "port": 8888,
        "env": { "GREETING": "hello" }, "securityProfile": "restricted", "lifetimeSeconds": 3600,
        "resources": { "cpuRequest": "5m", "cpuLimit": "1", "memoryRequest": "16Mi", "memoryLimit": "64Mi" },
    });
    let mut workshop = Workshop::new(name, serde_json::from_value(spec).unwrap());
    workshop.metadata.labels = Some(labels());
    workshop
}
