//! The fleet's bridge network.

use std::collections::HashMap;

use bollard::models::NetworkCreateRequest;
use serde::Deserialize;

use super::{Engine, EngineError, LONG};
use crate::containers::names::FLEET_LABEL;

/// Option of Docker Engine's bridge networks: containers of the network may connect to each other.
const CONNECT_CONTAINERS: &str = "com.docker.network.bridge.enable_icc";

/// The fields of an inspected network.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Network {
    name: String,
    labels: Option<HashMap<String, String>>,
}

impl Engine {
    /// Creates a bridge network whose containers cannot connect to each other. If a network of the same fleet has this
    /// name, the call does nothing.
    ///
    /// Podman ignores the option: there, only the rules in each sidecar's network namespace separate the workshops.
    ///
    /// # Errors
    /// [`EngineError::Conflict`]: a network without this fleet's label has the name.
    pub async fn ensure_network(&self, name: &str, labels: HashMap<String, String>) -> Result<(), EngineError> {
        let _creation = self.network_creation.lock().await;
        match self.get(&format!("/networks/{name}")).await {
            Ok(found) => return check_owner(name, &found, &labels),
            Err(EngineError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
        let request = NetworkCreateRequest {
            name: name.to_owned(),
            driver: Some("bridge".to_owned()),
            options: Some(HashMap::from([(CONNECT_CONTAINERS.to_owned(), "false".to_owned())])),
            labels: Some(labels),
            ..NetworkCreateRequest::default()
        };
        self.limited(LONG, self.docker.create_network(request)).await.map(drop)
    }
}

fn check_owner(name: &str, found: &Network, labels: &HashMap<String, String>) -> Result<(), EngineError> {
    let owner = found.labels.as_ref().and_then(|labels| labels.get(FLEET_LABEL));
    if found.name == name && owner.is_some() && owner == labels.get(FLEET_LABEL) {
        return Ok(());
    }
    Err(EngineError::Conflict(format!("the network {name} does not belong to this launcher: remove this network")))
}
