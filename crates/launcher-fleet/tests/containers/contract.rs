//! The container fleet follows the contract of all fleets.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use launcher_domain::clock::SystemClock;
use launcher_domain::identity::TrustedHeader;
use launcher_fleet::{ContainerFleet, ContainerSettings, Fleet, FleetEvent, OriginSettings};
use launcher_process::stop::Stop;
use launcher_testkit::fleet_contract::{FleetHarness, assert_fleet_contract, contract_workshop};
use launcher_workshop::{Phase, Workshop};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::support::{POLL_INTERVAL, in_time, socket};

/// Images of the test server: the sidecar, and an app that serves HTTP.
const SIDECAR_IMAGE: &str = "localhost/workshop-launcher/sidecar:test";
const APP_IMAGE: &str = "localhost/workshop-launcher/quick:test";

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
        let opened = open(self.home.path()).await;
        *self.open.lock().unwrap() = Some(opened);
        self.fleet()
    }

    async fn open_other(&self) -> Arc<dyn Fleet> {
        Arc::new(open(self.other.path()).await)
    }

    fn workshop(&self, name: &str) -> Workshop {
        let mut workshop = contract_workshop(name);
        APP_IMAGE.clone_into(&mut workshop.spec.image);
        workshop
    }

    /// Does nothing, because the container fleet itself brings its Workshops to each phase.
    async fn bring_about(&self, _name: &str, _phase: Phase) {}
}

async fn open(data_dir: &Path) -> ContainerFleet {
    let origins = OriginSettings {
        public_origin: "http://localhost:8000".parse().unwrap(),
        workshop_domain: "localhost".to_owned(),
        trusted_header: TrustedHeader::default(),
        proxy_secret: None,
        require_authentication: true,
        session_cookie_prefix: "_oauth2_proxy".to_owned(),
    };
    let settings = ContainerSettings {
        data_dir: data_dir.to_owned(),
        origins,
        engine_socket: socket(),
        sidecar_image: SIDECAR_IMAGE.to_owned(),
        run_as_user: NonZeroU32::new(1000).unwrap(),
        internet: true,
        start_timeout: Duration::from_secs(60),
        stop_grace: Duration::from_secs(1),
    };
    ContainerFleet::open(settings, Arc::new(SystemClock), Stop::new()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn container_fleet_follows_fleet_contract() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let opened = open(home.path()).await;
    let directories = Directories { home, other, open: Mutex::new(Some(opened)) };
    assert_fleet_contract(&directories).await;
    let open = directories.open.lock().unwrap().clone().unwrap();
    // The last rules do not wait for the end of their Workshops.
    in_time(async {
        while !matches!(open.watch().next().await, Some(FleetEvent::Relisted(workshops)) if workshops.is_empty()) {
            sleep(POLL_INTERVAL).await;
        }
    })
    .await;
    open.close().await;
}
