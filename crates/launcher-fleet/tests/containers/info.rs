//! Version and capacity of the engine.

use launcher_fleet::engine::{Engine, EngineError, EngineKind, Part};

use super::support::{IMAGE, TestFleet, docker, socket};

#[tokio::test]
async fn info_has_kind_version_and_capacity() {
    let info = Engine::connect(&socket()).unwrap().info().await.unwrap();

    let components = docker().version().await.unwrap().components.unwrap();
    let is_podman = components.iter().any(|component| component.name == "Podman Engine");
    assert_eq!(info.kind, if is_podman { EngineKind::Podman } else { EngineKind::Docker });
    assert!(info.version.contains('.'), "{}", info.version);
    assert!(info.memory_bytes > 100_000_000, "{}", info.memory_bytes);
    assert!(info.cpus >= 1);
    assert!(info.storage_driver.starts_with("overlay"), "{}", info.storage_driver);
}

#[tokio::test]
async fn disk_limit_is_tried_and_leaves_no_container() {
    let fleet = TestFleet::new().await;
    let labels = fleet.labels("disk-limit", "none", Part::App);
    // The test server has its files on ext4 or tmpfs, on which the overlay drivers have no quotas.
    let info = fleet.engine.info().await.unwrap();
    assert!(!fleet.engine.limits_disk(&info, IMAGE, labels.clone()).await.unwrap());
    if info.kind == EngineKind::Docker {
        let unknown = fleet.engine.limits_disk(&info, "localhost/launcher-engine-test:none", labels).await;
        assert!(matches!(unknown, Err(EngineError::NotFound(_))), "{unknown:?}");
    }
    assert_eq!(fleet.engine.list(&fleet.id).await.unwrap(), []);
}

#[test]
fn missing_socket_is_unreachable_with_advice() {
    let error = Engine::connect("/nonexistent/engine.sock".as_ref()).unwrap_err();
    assert!(matches!(error, EngineError::Unreachable { .. }) && error.is_temporary());
    let message = error.to_string();
    assert!(message.contains("/nonexistent/engine.sock") && message.contains("start the engine"), "{message}");
}
