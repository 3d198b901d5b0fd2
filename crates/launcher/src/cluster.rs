//! The connection to the Kubernetes cluster, for `launcher serve` and `launcher operator`.

use std::time::Duration;

use kube::{Client, Config};

/// Read timeout. Watches are renewed every minute, so a connection without data for longer is dead.
const SILENCE: Duration = Duration::from_secs(75);

/// Reasons why the cluster cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    /// The cluster's address or credentials cannot be found.
    #[error("the cluster cannot be found: {0}; run in a pod with a service account, or set KUBECONFIG")]
    NotFound(#[from] kube::config::InferConfigError),
    /// The cluster's address and credentials were found, but cannot be used.
    #[error("the Kubernetes client cannot be created: {0}; check KUBECONFIG, or the pod's service account")]
    Client(#[from] kube::Error),
    /// The namespace of all other workshops is also one of classes.
    #[error("SERVICE_CLASS_NAMESPACES names {0}, the namespace of all other workshops; name only other namespaces")]
    ClassNamespace(String),
}

/// Checks that no namespace of classes is the main one.
pub(crate) fn check_namespaces(main: &str, of_classes: &[String]) -> Result<(), ClusterError> {
    let is_main = of_classes.iter().any(|namespace| namespace == main);
    if is_main { Err(ClusterError::ClassNamespace(main.to_owned())) } else { Ok(()) }
}

/// Returns a client for the cluster of KUBECONFIG, `~/.kube/config` or the pod's service account, and the default
/// namespace of that configuration. Sends no request.
pub(crate) async fn connect() -> Result<(Client, String), ClusterError> {
    let mut config = Config::infer().await?;
    config.read_timeout = Some(SILENCE);
    config.reset_reader_on_write = true;
    let namespace = config.default_namespace.clone();
    Ok((Client::try_from(config)?, namespace))
}
