//! Containers that cannot be created or started, or that exceed their memory limit.

use std::time::Duration;

use bollard::models::HostConfig;
use launcher_fleet::Fleet;
use launcher_fleet::engine::{EngineError, EngineKind, Part};
use launcher_workshop::Phase;

use super::support::fleet::{clean_up, containers, open, script, wait_for, without_internet};
use super::support::{IMAGE, TestFleet, engine, host_config, until};

#[tokio::test]
async fn container_of_missing_image_is_not_created() {
    let fleet = TestFleet::new().await;
    let mut body = fleet.body(&["/bin/sh"]);
    body.image = Some("localhost/launcher-engine-test:none".to_owned());
    let error = fleet.engine.create(&fleet.name("app"), body).await.unwrap_err();
    assert!(matches!(&error, EngineError::ImageMissing { image, .. } if image.ends_with(":none")), "{error:?}");
    assert!(fleet.engine.has_image(IMAGE).await.unwrap());
}

#[tokio::test]
async fn command_that_cannot_be_executed_is_recognised() {
    let fleet = TestFleet::new().await;
    for command in ["no-such-program", "/bin/no-such-program", "/etc/passwd", "/etc"] {
        let name = fleet.name("app");
        fleet.engine.create(&name, fleet.body(&[command])).await.unwrap();
        let error = fleet.engine.start(&name).await.unwrap_err();
        let EngineError::CommandNotStarted(message) = &error else { panic!("{command}: {error:?}") };
        assert!(message.contains(command), "{message}");
        let state = fleet.state(&name).await;
        assert!(!state.running && !state.started, "{state:?}");
        fleet.engine.remove(&name).await.unwrap();
    }
}

#[tokio::test]
async fn start_of_missing_container_is_not_found() {
    let fleet = TestFleet::new().await;
    let error = fleet.engine.start(&fleet.name("app")).await.unwrap_err();
    assert!(matches!(error, EngineError::NotFound(_)), "{error:?}");
}

#[tokio::test]
async fn app_is_not_started_without_the_network_of_its_sidecar() {
    let fleet = TestFleet::new().await;
    let sidecar = fleet.name("sidecar");
    fleet.engine.create(&sidecar, fleet.body(&["/bin/no-such-program"])).await.unwrap();
    let mut body = fleet.body(&["/bin/sleep", "1000"]);
    body.host_config = Some(HostConfig { network_mode: Some(format!("container:{sidecar}")), ..host_config() });
    let app = fleet.name("app");
    fleet.engine.create(&app, body).await.unwrap();
    let error = fleet.engine.start(&app).await.unwrap_err();
    assert!(matches!(error, EngineError::Conflict(_) | EngineError::Other(_)), "{error:?}");
    assert!(!fleet.state(&app).await.started);
    fleet.engine.remove(&app).await.unwrap();
}

#[tokio::test]
async fn memory_limit_kills_the_container() {
    let fleet = TestFleet::new().await;
    let name = fleet.name("app");
    let mut body = fleet.body(&["/bin/sh", "-c", "x=a; while :; do x=$x$x; done"]);
    let memory = Some(32 * 1024 * 1024);
    body.host_config = Some(HostConfig { memory, memory_swap: memory, ..host_config() });
    fleet.engine.create(&name, body).await.unwrap();
    fleet.engine.start(&name).await.unwrap();
    let state = fleet.ended(&name).await;
    assert_eq!(state.exit_code, Some(137));
    // Podman 4.3 does not report it under cgroup v1.
    assert!(state.oom_killed || fleet.engine.info().await.unwrap().kind == EngineKind::Podman);
}

#[tokio::test]
async fn app_that_does_not_answer_fails_after_the_start_timeout() {
    let home = tempfile::tempdir().unwrap();
    let start_timeout = Duration::from_secs(2);
    let mut settings = without_internet(home.path());
    settings.machine.start_timeout = start_timeout;
    let fleet = open(settings).await;
    fleet.apply(&script("lab-a", "exec /bin/busybox sleep 1000")).await.unwrap();
    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await;
    assert_eq!(failed.reason.as_deref(), Some("start-timeout"), "{failed:?}");
    clean_up(fleet, ["lab-a"]).await;
}

#[tokio::test]
async fn start_timeout_says_on_which_address_the_app_listens() {
    let home = tempfile::tempdir().unwrap();
    let start_timeout = Duration::from_secs(3600);
    let mut settings = without_internet(home.path());
    settings.machine.start_timeout = start_timeout;
    let fleet = open(settings).await;
    fleet.apply(&script("lab-a", "exec /bin/busybox httpd -f -p 127.0.0.1:8001")).await.unwrap();
    // The sidecar looks at the sockets when the fleet asks if it is ready: the start timeout then runs.
    until(async || {
        let containers = containers(home.path()).await;
        let Some(sidecar) = containers.iter().find(|container| container.part == Part::Sidecar) else { return false };
        engine().log_tail(&sidecar.name).await.unwrap().unwrap_or_default().contains(" 127.0.0.1:8001")
    })
    .await;

    tokio::time::pause();
    tokio::time::advance(start_timeout).await; // simulated time
    tokio::time::resume();

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await;
    let message = failed.message.as_deref().unwrap();
    assert!(message.contains("The app listens on 127.0.0.1:8001, expected 127.0.0.1:"), "{failed:?}");
    assert_eq!((failed.reason.as_deref(), failed.retryable), (Some("start-timeout"), Some(false)));
    clean_up(fleet, ["lab-a"]).await;
}
