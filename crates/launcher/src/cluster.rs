//! The connection to the Kubernetes cluster, for `launcher serve` and `launcher operator`.

use std::time::Duration;

use kube::{Client, Config};

/// Read timeout. A connection without data for this long is dead, because watches are renewed every minute.
const SILENCE: Duration = Duration::from_secs(75);

/// Reasons why the cluster cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    /// Its address or credentials cannot be found.
    #[error("the cluster cannot be found: {0}; run in a pod with a service account, or set KUBECONFIG")]
    NotFound(#[from] kube::config::InferConfigError),
    /// Address and credentials were found, but cannot be used.
    #[error("the Kubernetes client cannot be created: {0}; check KUBECONFIG, or the pod's service account")]
    Client(#[from] kube::Error),
}

/// Returns a client for the cluster of KUBECONFIG, `~/.kube/config` or the pod's service account, and the default
/// namespace of that configuration. It sends no request.
pub(crate) async fn connect() -> Result<(Client, String), ClusterError> {
    let mut config = Config::infer().await?;
    config.read_timeout = Some(SILENCE);
    config.reset_reader_on_write = true;
    let namespace = config.default_namespace.clone();
    Ok((Client::try_from(config)?, namespace))
}
