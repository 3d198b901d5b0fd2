use std::sync::Arc;

use launcher_domain::clock::SystemEntropy;
use launcher_domain::{Clock, TemplatePolicy};
use launcher_service::{ClaimError, Launcher, Limits};
use launcher_store::Store;
use launcher_testkit::FakeFleet;
use sqlx::{AnyConnection, Connection, Executor};

use crate::{World, caller, database};

#[tokio::test]
async fn database_of_other_fleet_is_refused() {
    let world = World::new().await;
    world.launcher.claim_fleet().await.unwrap();
    world.launcher.claim_fleet().await.unwrap();
    let other = FakeFleet::named("another", world.clock.clone());
    let clock: Arc<dyn Clock> = world.clock.clone();
    let elsewhere = Launcher::new(
        world.store.clone(),
        Arc::new(other),
        clock,
        Arc::new(SystemEntropy),
        Limits::default(),
        TemplatePolicy::default(),
        None,
    );
    let refused = elsewhere.claim_fleet().await.unwrap_err();
    assert!(matches!(refused, ClaimError::AnotherFleet { .. }), "{refused}");
}

#[tokio::test]
async fn new_database_is_refused_when_fleet_has_workshops() {
    let world = World::new().await;
    world.running(&caller("alice")).await;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&format!("sqlite:{}", directory.path().join("typo.db").display())).await.unwrap();
    let clock: Arc<dyn Clock> = world.clock.clone();
    let mistaken = Launcher::new(
        store,
        Arc::new(world.fleet.clone()),
        clock,
        Arc::new(SystemEntropy),
        Limits::default(),
        TemplatePolicy::default(),
        None,
    );
    let refused = mistaken.claim_fleet().await.unwrap_err();
    assert!(matches!(refused, ClaimError::NewDatabase { workshops: 1 }), "{refused}");
    assert_eq!(world.fleet.names().len(), 1);
}

/// The test holds SQLite's write lock. If the claim wrote, it would wait for the lock until the busy timeout, and fail.
#[tokio::test]
async fn claim_of_bound_database_needs_no_write_lock() {
    let mut world = World::new().await;
    world.launcher.claim_fleet().await.unwrap();
    world.stop().await;
    let mut writer = AnyConnection::connect(&database(&world.directory)).await.unwrap();
    writer.execute("BEGIN IMMEDIATE").await.unwrap();
    world.launcher.claim_fleet().await.unwrap();
    writer.execute("ROLLBACK").await.unwrap();
    writer.close().await.unwrap();
}
