//! Asserts on the in-memory API server that the Kubernetes fleet follows the contract of all fleets.

use std::sync::Arc;

use async_trait::async_trait;
use launcher_fleet::{Fleet, KubernetesFleet};
use launcher_testkit::fleet_contract::{FleetHarness, assert_fleet_contract, contract_workshop};
use launcher_testkit::running_status;
use launcher_workshop::{Phase, Workshop};
use serde_json::json;

use crate::objects::{Part, is_leaving, text};
use crate::seeded::Time;
use crate::server::Server;
use crate::trace::Trace;

const NAMESPACE: &str = "workshops";
const OTHER_NAMESPACE: &str = "others";

/// An API server without an operator: the test writes each status.
struct ApiServer(Server);

impl ApiServer {
    fn new() -> Self {
        let time = Time::begins();
        let server = Server::new(0, time, Trace::new(time, false));
        let other = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": OTHER_NAMESPACE}});
        server.change(|objects| objects.create("namespaces", other, time.now())).unwrap();
        Self(server)
    }

    fn connect(&self, namespace: &str) -> Arc<dyn Fleet> {
        Arc::new(KubernetesFleet::new(self.0.client("launcher"), namespace))
    }

    /// Garbage collector: removes each terminating Workshop at once, because Workshops have no dependents in this test.
    async fn collect(server: Server) {
        let mut news = server.news.subscribe();
        while news.changed().await.is_ok() {
            server.change(|objects| {
                for workshop in objects.of("workshops").iter().filter(|one| is_leaving(one)) {
                    objects.remove("workshops", text(workshop, "/metadata/name"));
                }
            });
        }
    }
}

#[async_trait]
impl FleetHarness for ApiServer {
    fn fleet(&self) -> Arc<dyn Fleet> {
        self.connect(NAMESPACE)
    }

    async fn reopen(&self, _fleet: Arc<dyn Fleet>) -> Arc<dyn Fleet> {
        self.fleet()
    }

    async fn open_other(&self) -> Arc<dyn Fleet> {
        self.connect(OTHER_NAMESPACE)
    }

    fn workshop(&self, name: &str) -> Workshop {
        contract_workshop(name)
    }

    async fn bring_about(&self, name: &str, phase: Phase) {
        let now = self.0.time.now();
        let status = match phase {
            Phase::Running => json!(running_status(name, now)),
            _ => json!({"phase": phase}),
        };
        let body = json!({"status": status});
        self.0.change(|objects| objects.apply("workshops", name, Part::Status, &body, now)).unwrap();
    }
}

#[tokio::test]
async fn kubernetes_fleet_follows_fleet_contract() {
    let server = ApiServer::new();
    let collector = tokio::spawn(ApiServer::collect(server.0.clone()));
    assert_fleet_contract(&server).await;
    collector.abort();
}
