//! Asserts that the scriptable fleet follows the contract of all fleets. Tests that use it are then also valid for the
//! other fleets.

use std::sync::Arc;

use async_trait::async_trait;
use launcher_fleet::Fleet;
use launcher_testkit::fleet_contract::{FleetHarness, assert_fleet_contract, contract_workshop};
use launcher_testkit::{FakeFleet, TestClock};
use launcher_workshop::{Phase, Workshop};

/// The scriptable fleet runs nothing: the test writes each status.
struct Scripted(FakeFleet);

#[async_trait]
impl FleetHarness for Scripted {
    fn fleet(&self) -> Arc<dyn Fleet> {
        Arc::new(self.0.clone())
    }

    async fn reopen(&self, _fleet: Arc<dyn Fleet>) -> Arc<dyn Fleet> {
        self.fleet()
    }

    async fn open_other(&self) -> Arc<dyn Fleet> {
        Arc::new(FakeFleet::named("other", Arc::default()))
    }

    fn workshop(&self, name: &str) -> Workshop {
        contract_workshop(name)
    }

    async fn bring_about(&self, name: &str, phase: Phase) {
        if phase == Phase::Expired { self.0.expire(name) } else { self.0.ready(name) }
    }
}

#[tokio::test]
async fn scriptable_fleet_follows_fleet_contract() {
    assert_fleet_contract(&Scripted(FakeFleet::new(Arc::new(TestClock::default()), false))).await;
}
