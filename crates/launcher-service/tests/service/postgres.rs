//! Behaviour of the service that only occurs with a PostgreSQL server.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::Limits;
use launcher_service::{LaunchRequest, Launcher, ServiceError};
use launcher_store::Store;
use launcher_testkit::{FakeFleet, TestClock, eventually};
use sqlx::{AnyConnection, Connection, Executor, Row};
use tokio::time::{pause, resume, timeout};
use tokio_util::sync::CancellationToken;

use crate::proxy::{Proxy, SOCKET, folder_of};
use crate::server::FreshDatabase;
use crate::{caller, draft, measured};

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

/// Returns the number of rows that still contain their settings after a round of upkeep.
async fn inline_after_upkeep(launcher: &Launcher, connection: &mut AnyConnection) -> i64 {
    // Add unused settings. Upkeep purges them after it has migrated rows, so the migration is over when they are gone.
    let unused = "INSERT INTO template_settings (settings_hash, settings) VALUES ('unused', '{}')";
    connection.execute(unused).await.unwrap();
    let stop = CancellationToken::new();
    let loops = tokio::spawn({
        let (launcher, stop) = (launcher.clone(), stop.clone());
        async move { launcher.run(stop).await }
    });
    eventually(async || {
        let unused = "SELECT 1 FROM template_settings WHERE settings_hash = 'unused'";
        connection.fetch_optional(unused).await.unwrap().is_none().then_some(())
    })
    .await;
    stop.cancel();
    loops.await.unwrap();
    let inline = "SELECT count(*) FROM workshop_instances WHERE settings_hash IS NULL";
    connection.fetch_one(inline).await.unwrap().get(0)
}

#[tokio::test]
async fn settings_migration_waits_for_launchers_of_earlier_version() {
    let database = FreshDatabase::create().await;
    let store = Store::open(&database.url()).await.unwrap();
    let clock = Arc::new(TestClock::default());
    let fleet = FakeFleet::new(clock.clone(), false);
    let launcher = crate::launcher(&store, &fleet, &clock, Limits::default(), None);
    let template = launcher.create_template(&caller("admin"), draft("Jupyter")).await.unwrap().template_id;
    launcher.launch(&caller("alice"), template, &LaunchRequest::default()).await.unwrap();
    let mut connection = AnyConnection::connect(&database.url()).await.unwrap();
    let earlier =
        "UPDATE workshop_instances SET settings_hash = NULL, settings = (SELECT settings FROM template_settings)";
    connection.execute(earlier).await.unwrap();

    assert_eq!(inline_after_upkeep(&launcher, &mut connection).await, 1);
    clock.advance(Duration::from_secs(600));
    assert_eq!(inline_after_upkeep(&launcher, &mut connection).await, 0);
    connection.close().await.unwrap();
    store.close().await;
}
