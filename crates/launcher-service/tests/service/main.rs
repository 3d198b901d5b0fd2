//! The use cases and the loops, with a real database and a fleet controlled by the test.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod activities;
mod claim;
mod class_board;
mod class_bulk;
mod class_files;
mod classes;
#[path = "../../../launcher-store/tests/conformance/copies.rs"]
mod copies;
mod crashes;
mod drift;
mod ending;
mod errors;
mod faults;
mod feed;
mod hands;
mod images;
mod launching;
mod limits;
mod namespaces;
mod overview;
mod parameters;
mod patience;
#[cfg(feature = "test-postgres")]
mod postgres;
#[cfg(feature = "test-postgres")]
#[expect(
    dead_code,
    clippy::expect_used,
    reason = "these tests close the proxy and never freeze it; the panic names a missing server"
)]
#[path = "../../../launcher-store/tests/conformance/proxy.rs"]
mod proxy;
mod refusals;
mod restarting;
mod resuming;
#[cfg(feature = "test-postgres")]
#[expect(clippy::expect_used, reason = "the panic names a missing server")]
#[path = "../../../launcher-store/tests/conformance/server.rs"]
mod server;
mod snapshots;
mod suspending;
mod template_workshops;
mod templates;
mod traces;
mod volumes;

use std::sync::Arc;

use launcher_domain::clock::SystemEntropy;
use launcher_domain::{AdminList, Caller, EmailAddress, Instance, InstanceState, JsonObject, Template, TemplatePolicy};
use launcher_service::{LaunchRequest, Launcher, Limits, Snapshots};
use launcher_store::Store;
use launcher_testkit::{FakeFleet, TestClock, eventually, memory_folder};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use sqlx::{AnyConnection, Connection};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A service with running loops. Dropping it stops the loops.
struct World {
    launcher: Launcher,
    store: Store,
    fleet: FakeFleet,
    clock: Arc<TestClock>,
    loops: Option<(CancellationToken, JoinHandle<()>)>,
    limits: Limits,
    snapshots: Option<Snapshots>,
    directory: TempDir,
}

fn caller(name: &str) -> Caller {
    let email = EmailAddress::parse(&format!("{name}@example.org")).unwrap();
    AdminList::parse("admin@example.org").unwrap().caller(email)
}

/// Returns a template, as an admin writes it.
fn body(name: &str) -> JsonObject {
    with(JsonObject::new(), &json!({ "name": name, "app_type": "custom", "image": "x", "port": 8000 }))
}

/// Replaces or adds fields of a template.
fn with(mut body: JsonObject, fields: &Value) -> JsonObject {
    body.extend(fields.as_object().unwrap().clone());
    body
}

impl World {
    async fn new() -> Self {
        Self::with(Limits::default()).await
    }

    async fn with(limits: Limits) -> Self {
        let directory = memory_folder();
        let store = Store::open(&database(&directory)).await.unwrap();
        let clock = Arc::new(TestClock::default());
        let fleet = FakeFleet::new(clock.clone(), false);
        let launcher = launcher(&store, &fleet, &clock, limits, None);
        let mut world = Self { launcher, store, fleet, clock, loops: None, limits, snapshots: None, directory };
        world.start();
        world
    }

    /// Starts the loops.
    fn start(&mut self) {
        let stop = CancellationToken::new();
        let (launcher, token) = (self.launcher.clone(), stop.clone());
        self.loops = Some((stop, tokio::spawn(async move { launcher.run(token).await })));
    }

    /// Aborts the loops at an arbitrary point, like a kill of the process. Then creates a service that has the same
    /// database and no state in memory.
    async fn kill(&mut self) {
        if let Some((_, task)) = self.loops.take() {
            task.abort();
            drop(task.await);
        }
        self.launcher = launcher(&self.store, &self.fleet, &self.clock, self.limits, self.snapshots.clone());
    }

    /// Stops the loops gracefully: steps in progress are completed.
    async fn stop(&mut self) {
        if let Some((stop, task)) = self.loops.take() {
            stop.cancel();
            task.await.unwrap();
        }
    }

    async fn template(&self) -> Template {
        self.launcher.create_template(&caller("admin"), &body("Jupyter")).await.unwrap()
    }

    async fn launch(&self, who: &Caller) -> Instance {
        let template = self.template().await;
        self.launcher.launch(who, template.template_id, &LaunchRequest::default()).await.unwrap().listed.instance
    }

    /// Launches an instance and waits until it runs.
    async fn running(&self, who: &Caller) -> Instance {
        let name = self.launch(who).await.k8s_name;
        self.workshop(&name).await;
        self.fleet.ready(&name);
        self.until(&name, InstanceState::Running).await
    }

    /// Waits until the fleet has the Workshop with this name.
    async fn workshop(&self, name: &str) -> launcher_workshop::Workshop {
        eventually(async || self.fleet.workshop(name)).await
    }

    /// Waits until the fleet has applied all rows.
    async fn everything_told(&self) {
        let told = async || self.store.dispatch_pending(0, 1).await.unwrap().instances.is_empty().then_some(());
        eventually(told).await;
    }

    /// Copies an instance `count` times, as if other users had launched it. Returns the names in the order of the
    /// launches. The loops see the copies at the next change.
    async fn copy_instance(&self, name: &str, count: u32) -> Vec<String> {
        copies::copy_instance(&database(&self.directory), name, count).await
    }

    /// Makes a row unreadable, like a faulty change of the database by another program.
    async fn damage(&self, name: &str) {
        let mut connection = AnyConnection::connect(&database(&self.directory)).await.unwrap();
        let broken = "INSERT INTO template_settings (settings_hash, settings) VALUES ('broken', '{')";
        sqlx::query(broken).execute(&mut connection).await.unwrap();
        let damage = "UPDATE workshop_instances SET settings_hash = 'broken' WHERE k8s_name = $1";
        sqlx::query(damage).bind(name.to_owned()).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    /// Removes the uid of the Workshop from a row, as if the fleet's answer was not recorded yet.
    async fn forget_uid(&self, name: &str) {
        let mut connection = AnyConnection::connect(&database(&self.directory)).await.unwrap();
        let forget = "UPDATE workshop_instances SET workshop_uid = NULL WHERE k8s_name = $1";
        sqlx::query(forget).bind(name.to_owned()).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    /// Waits until the instance is in this state.
    async fn until(&self, name: &str, state: InstanceState) -> Instance {
        let admin = caller("admin");
        eventually(async || {
            let instance = self.launcher.instance(&admin, name).await.unwrap().instance;
            (instance.state == state).then_some(instance)
        })
        .await
    }
}

/// Returns the metrics as text.
fn measured(launcher: &Launcher) -> String {
    let (mut registry, mut text) = (Registry::default(), String::new());
    launcher.register_metrics(&mut registry);
    encode(&mut text, &registry).unwrap();
    text
}

fn database(directory: &TempDir) -> String {
    format!("sqlite:{}", directory.path().join("launcher.db").display())
}

fn launcher(
    store: &Store,
    fleet: &FakeFleet,
    clock: &Arc<TestClock>,
    limits: Limits,
    snapshots: Option<Snapshots>,
) -> Launcher {
    let (entropy, policy) = (Arc::new(SystemEntropy), TemplatePolicy::default());
    Launcher::new(store.clone(), Arc::new(fleet.clone()), clock.clone(), entropy, limits, policy, snapshots)
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some((stop, _)) = &self.loops {
            stop.cancel();
        }
    }
}
