//! What only a server does.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::Limits;
use launcher_service::{Launcher, ServiceError};
use launcher_store::Store;
use launcher_testkit::{FakeFleet, TestClock};
use tokio::time::timeout;

use crate::measured;
use crate::proxy::{Proxy, SOCKET, folder_of};
use crate::server::FreshDatabase;

/// A kubelet waits no longer.
const PROBE: Duration = Duration::from_secs(5);

/// What the metric says.
fn launcher_ready(launcher: &Launcher) -> String {
    measured(launcher).lines().find(|line| line.starts_with("launcher_ready ")).unwrap().to_owned()
}

#[tokio::test]
async fn a_database_that_falls_silent_is_noted_before_anybody_hangs_up() {
    let database = FreshDatabase::create().await;
    let mut proxy = Proxy::new(&database.url());
    let store = Store::open(&proxy.url).await.unwrap();
    let clock = Arc::new(TestClock::default());
    let fleet = FakeFleet::new(clock.clone(), false);
    let launcher = crate::launcher(&store, &fleet, &clock, Limits::default());
    launcher.ready().await.unwrap();
    assert_eq!(launcher_ready(&launcher), "launcher_ready 1");

    proxy.shut().await;
    // Connections are taken, and nobody ever greets.
    let _silence = UnixListener::bind(Path::new(folder_of(&proxy.url)).join(SOCKET)).unwrap();
    let answer = timeout(PROBE, launcher.ready()).await.unwrap();
    assert!(matches!(answer, Err(ServiceError::Unavailable(_))), "{answer:?}");
    assert_eq!(launcher_ready(&launcher), "launcher_ready 0");
}
