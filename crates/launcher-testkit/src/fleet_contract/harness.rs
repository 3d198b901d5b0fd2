//! Interface that the test of each adapter implements.

use std::sync::Arc;

use async_trait::async_trait;
use launcher_fleet::Fleet;
use launcher_workshop::{Phase, Workshop, WorkshopResources, WorkshopSpec, labels};

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
    let spec = WorkshopSpec {
        owner: "alice@example.org".to_owned(),
        image: "example.org/app:1".to_owned(),
        app_type: "custom".to_owned(),
        port: 8888,
        command: Vec::new(),
        args: Vec::new(),
        env: [("GREETING".to_owned(), "hello".to_owned())].into(),
        secret_env: Vec::new(),
        resources: WorkshopResources {
            cpu_request: "5m".to_owned(),
            cpu_limit: "1".to_owned(),
            memory_request: "16Mi".to_owned(),
            memory_limit: "64Mi".to_owned(),
        },
        security_profile: "restricted".to_owned(),
        pod_template: None,
        storage: None,
        crash_safe_directory: None,
        snapshot: None,
        material: None,
        lifetime_seconds: 3600,
        expires_at: None,
        restarted_at: None,
    };
    let mut workshop = Workshop::new(name, spec);
    workshop.metadata.labels = Some(labels());
    workshop
}
