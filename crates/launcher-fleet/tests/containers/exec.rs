//! Programs that run in a container beside its main process.

use launcher_fleet::engine::EngineError;

use super::support::{TestFleet, host_config};
use bollard::models::HostConfig;

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|&word| word.to_owned()).collect()
}

/// Starts a container as the fleet starts a sidecar: an unprivileged user without capabilities.
async fn sidecar(fleet: &TestFleet) -> String {
    let name = fleet.name("sidecar");
    let mut body = fleet.body(&["/bin/sleep", "1000"]);
    body.user = Some("65532".to_owned());
    body.host_config = Some(HostConfig {
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        readonly_rootfs: Some(true),
        ..host_config()
    });
    fleet.engine.create(&name, body).await.unwrap();
    fleet.engine.start(&name).await.unwrap();
    name
}

#[tokio::test]
async fn privileged_program_is_root_with_network_administration() {
    let fleet = TestFleet::new().await;
    let name = sidecar(&fleet).await;
    let script = "id -u; grep CapEff /proc/self/status; echo problem >&2; exit 3";

    let outcome = fleet.engine.exec_privileged(&name, &words(&["/bin/sh", "-c", script])).await.unwrap();

    assert_eq!(outcome.exit_code, 3, "{outcome:?}");
    let lines: Vec<&str> = outcome.output.lines().collect();
    assert!(lines.contains(&"0") && lines.contains(&"problem"), "{outcome:?}");
    let capabilities = lines.iter().find_map(|line| line.strip_prefix("CapEff:")).unwrap().trim();
    let capabilities = u64::from_str_radix(capabilities, 16).unwrap();
    assert_ne!(capabilities & (1 << 12), 0, "CAP_NET_ADMIN is missing: {outcome:?}");
}

#[tokio::test]
async fn output_is_limited_to_its_first_characters() {
    let fleet = TestFleet::new().await;
    let name = sidecar(&fleet).await;
    let script = "seq 100000; exit 1";
    let outcome = fleet.engine.exec_privileged(&name, &words(&["/bin/sh", "-c", script])).await.unwrap();
    assert_eq!((outcome.exit_code, outcome.output.len()), (1, 2000));
    assert!(outcome.output.starts_with("1\n2\n"));
}

#[tokio::test]
async fn missing_program_and_stopped_container_are_errors() {
    let fleet = TestFleet::new().await;
    let name = sidecar(&fleet).await;
    let outcome = fleet.engine.exec_privileged(&name, &words(&["/no-such-program"])).await;
    assert!(matches!(outcome, Err(EngineError::CommandNotStarted(_))), "{outcome:?}");

    fleet.engine.stop(&name, std::time::Duration::ZERO).await.unwrap();
    let outcome = fleet.engine.exec_privileged(&name, &words(&["/bin/id"])).await;
    assert!(matches!(outcome, Err(EngineError::Conflict(_))), "{outcome:?}");
    let outcome = fleet.engine.exec_privileged(&fleet.name("none"), &words(&["/bin/id"])).await;
    assert!(matches!(outcome, Err(EngineError::NotFound(_))), "{outcome:?}");
}
