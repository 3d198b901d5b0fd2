//! The local fleet follows the contract of all fleets.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use launcher_fleet::{Fleet, LocalFleet};
use launcher_testkit::fleet_contract::{FleetHarness, assert_fleet_contract, contract_workshop};
use launcher_workshop::{Phase, Workshop};

use crate::support::{Home, server};

/// A data directory with an open fleet, and a second data directory for another fleet.
struct Directories {
    home: Home,
    other: Home,
    /// The open fleet of `home`; `None` while the fleet is being reopened.
    open: Mutex<Option<LocalFleet>>,
}

impl Directories {
    fn new() -> Self {
        let home = Home::new();
        let open = Mutex::new(Some(home.open()));
        Self { home, other: Home::new(), open }
    }
}

#[async_trait]
impl FleetHarness for Directories {
    fn fleet(&self) -> Arc<dyn Fleet> {
        Arc::new(self.open.lock().unwrap().clone().unwrap())
    }

    async fn reopen(&self, fleet: Arc<dyn Fleet>) -> Arc<dyn Fleet> {
        let open = self.open.lock().unwrap().take().unwrap();
        open.stop().await;
        // The data directory stays locked until the last clone of the fleet is dropped.
        drop((fleet, open));
        *self.open.lock().unwrap() = Some(self.home.open());
        self.fleet()
    }

    async fn open_other(&self) -> Arc<dyn Fleet> {
        Arc::new(self.other.open())
    }

    fn workshop(&self, name: &str) -> Workshop {
        let mut workshop = contract_workshop(name);
        workshop.spec.command = server(name).spec.command;
        workshop
    }

    /// Does nothing, because the local fleet itself brings its Workshops to each phase.
    async fn bring_about(&self, _name: &str, _phase: Phase) {}
}

#[tokio::test]
async fn local_fleet_follows_fleet_contract() {
    let directories = Directories::new();
    assert_fleet_contract(&directories).await;
    let open = directories.open.lock().unwrap().clone().unwrap();
    open.stop().await;
}
