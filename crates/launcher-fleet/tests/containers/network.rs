//! The fleet's bridge network.

use std::collections::HashMap;

use launcher_fleet::engine::{EngineError, EngineKind};

use super::support::{TestFleet, docker};

fn labels(fleet: &str) -> HashMap<String, String> {
    HashMap::from([("workshoplauncher.dev/fleet".to_owned(), fleet.to_owned())])
}

#[tokio::test]
async fn network_is_created_once() {
    let fleet = TestFleet::new().await;
    let name = fleet.network();
    let ensure = || fleet.engine.ensure_network(&name, labels(&fleet.id));
    let (first, second, third) = tokio::join!(ensure(), ensure(), ensure());
    assert_eq!((first, second, third), (Ok(()), Ok(()), Ok(())));

    let networks = docker().list_networks(None).await.unwrap();
    assert_eq!(networks.iter().filter(|network| network.name.as_ref() == Some(&name)).count(), 1);
    let found = docker().inspect_network(&name, None).await.unwrap();
    assert_eq!(found.driver.as_deref(), Some("bridge"));
    if fleet.engine.info().await.unwrap().kind == EngineKind::Docker {
        let connects = &found.options.unwrap()["com.docker.network.bridge.enable_icc"];
        assert_eq!(connects, "false");
    }
}

#[tokio::test]
async fn network_of_another_fleet_is_a_conflict() {
    let fleet = TestFleet::new().await;
    let name = fleet.network();
    fleet.engine.ensure_network(&name, labels("another")).await.unwrap();
    let error = fleet.engine.ensure_network(&name, labels(&fleet.id)).await.unwrap_err();
    assert!(matches!(&error, EngineError::Conflict(message) if message.contains(&name)), "{error:?}");
}
