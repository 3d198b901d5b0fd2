//! The container fleet follows the contract of all fleets.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use launcher_fleet::{ContainerFleet, Fleet};
use launcher_testkit::fleet_contract::{FleetHarness, assert_fleet_contract, contract_workshop};
use launcher_workshop::{Phase, Workshop};
use tempfile::TempDir;

use crate::support::fleet::{APP_IMAGE, open, settings, until_empty};

/// A data directory with an open fleet, and a second data directory for another fleet.
struct Directories {
    home: TempDir,
    other: TempDir,
    /// The open fleet of `home`; `None` while the fleet is being reopened.
    open: Mutex<Option<ContainerFleet>>,
}

#[async_trait]
impl FleetHarness for Directories {
    fn fleet(&self) -> Arc<dyn Fleet> {
        Arc::new(self.open.lock().unwrap().clone().unwrap())
    }

    async fn reopen(&self, fleet: Arc<dyn Fleet>) -> Arc<dyn Fleet> {
        let closed = self.open.lock().unwrap().take().unwrap();
        closed.close().await;
        // The data directory stays locked until the last clone of the fleet is dropped.
        drop((fleet, closed));
        let opened = open(settings(self.home.path())).await;
        *self.open.lock().unwrap() = Some(opened);
        self.fleet()
    }

    async fn open_other(&self) -> Arc<dyn Fleet> {
        Arc::new(open(settings(self.other.path())).await)
    }

    fn workshop(&self, name: &str) -> Workshop {
        let mut workshop = contract_workshop(name);
        APP_IMAGE.clone_into(&mut workshop.spec.image);
        workshop
    }

    /// Does nothing, because the container fleet itself brings its Workshops to each phase.
    async fn bring_about(&self, _name: &str, _phase: Phase) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn container_fleet_follows_fleet_contract() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let opened = open(settings(home.path())).await;
    let directories = Directories { home, other, open: Mutex::new(Some(opened)) };
    assert_fleet_contract(&directories).await;
    let open = directories.open.lock().unwrap().clone().unwrap();
    // The last rules do not wait for the end of their Workshops.
    until_empty(&open).await;
    open.close().await;
}
