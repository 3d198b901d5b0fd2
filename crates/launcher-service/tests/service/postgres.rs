//! Behaviour of the service that only occurs with a PostgreSQL server.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use launcher_service::{Launcher, Limits, ServiceError};
use launcher_store::Store;
use launcher_testkit::{FakeFleet, TestClock};
use tokio::time::{pause, resume, timeout};

use crate::measured;
use crate::proxy::{Proxy, SOCKET, folder_of};
use crate::server::FreshDatabase;

/// Probe timeout of a kubelet.
const PROBE: Duration = Duration::from_secs(5);

/// Returns the line of the metric `launcher_ready`.
fn launcher_ready(launcher: &Launcher) -> String {
    measured(launcher).lines().find(|line| line.starts_with("launcher_ready ")).unwrap().to_owned()
}

#[tokio::test]
async fn silent_database_fails_readiness_before_probe_timeout() {
    let database = FreshDatabase::create().await;
    let mut proxy = Proxy::new(&database.url());
    let store = Store::open(&proxy.url).await.unwrap();
    let clock = Arc::new(TestClock::default());
    let fleet = FakeFleet::new(clock.clone(), false);
    let launcher = crate::launcher(&store, &fleet, &clock, Limits::default(), None);
    launcher.ready().await.unwrap();
    assert_eq!(launcher_ready(&launcher), "launcher_ready 1");

    proxy.shut().await;
    // The socket accepts connections but never answers.
    let _silence = UnixListener::bind(Path::new(folder_of(&proxy.url)).join(SOCKET)).unwrap();
    // The paused clock advances to the timeout at once.
    pause();
    let answer = timeout(PROBE, launcher.ready()).await.unwrap();
    resume();
    assert!(matches!(answer, Err(ServiceError::Unavailable(_))), "{answer:?}");
    assert_eq!(launcher_ready(&launcher), "launcher_ready 0");
}
