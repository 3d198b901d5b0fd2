//! `kubernetes-contract KUBECONFIG OTHER_KUBECONFIG IMAGE`: checks on a real API server that the Kubernetes fleet
//! follows the contract of all fleets. Uses the default namespaces of two kubeconfig files. An operator must run in the
//! first namespace. IMAGE must serve HTTP on $PORT with the argument `serve`. Exits with an error if a rule is broken.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a check that cannot go on fails")]

use std::sync::Arc;

use async_trait::async_trait;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use launcher_fleet::{Fleet, KubernetesFleet};
use launcher_testkit::fleet_contract::{FleetHarness, assert_fleet_contract, contract_workshop};
use launcher_workshop::{Phase, Workshop};

struct Cluster {
    config: Config,
    other: Config,
    image: String,
}

impl Cluster {
    /// Connects to the default namespace of a configuration.
    fn connect(config: &Config) -> Arc<dyn Fleet> {
        let client = Client::try_from(config.clone()).unwrap();
        Arc::new(KubernetesFleet::new(client, &config.default_namespace))
    }
}

#[async_trait]
impl FleetHarness for Cluster {
    fn fleet(&self) -> Arc<dyn Fleet> {
        Self::connect(&self.config)
    }

    async fn reopen(&self, _fleet: Arc<dyn Fleet>) -> Arc<dyn Fleet> {
        self.fleet()
    }

    async fn open_other(&self) -> Arc<dyn Fleet> {
        Self::connect(&self.other)
    }

    fn workshop(&self, name: &str) -> Workshop {
        let mut workshop = contract_workshop(name);
        workshop.spec.image.clone_from(&self.image);
        workshop.spec.args = vec!["serve".to_owned()];
        workshop
    }

    /// Does nothing, because the operator writes the status.
    async fn bring_about(&self, _name: &str, _phase: Phase) {}
}

async fn read(path: &str) -> Config {
    let file = Kubeconfig::read_from(path).unwrap();
    Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap()
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kubeconfig, other, image] = arguments.as_slice() else {
        panic!("usage: kubernetes-contract KUBECONFIG OTHER_KUBECONFIG IMAGE")
    };
    let cluster = Cluster { config: read(kubeconfig).await, other: read(other).await, image: image.clone() };
    assert_fleet_contract(&cluster).await;
}
