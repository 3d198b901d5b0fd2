//! The cluster that the surroundings name, for `launcher serve` and `launcher operator` alike.

use std::time::Duration;

use kube::{Client, Config};

/// A connection on which nothing comes for so long is dead, whoever has swallowed its end: watches are taken up anew
/// every minute.
const SILENCE: Duration = Duration::from_secs(75);

/// Why there is no way to the cluster.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    /// Its address or credentials are nowhere to be found.
    #[error("the cluster cannot be found: {0}; run in a pod with a service account, or set KUBECONFIG")]
    NotFound(#[from] kube::config::InferConfigError),
    /// They were found, and cannot be used.
    #[error("the cluster's client cannot be made: {0}; look at KUBECONFIG, or at the pod's service account")]
    Client(#[from] kube::Error),
}

/// A client for the cluster that KUBECONFIG, `~/.kube/config` or the pod's service account names, and the namespace that
/// these name. Nothing is asked of it yet.
pub(crate) async fn connect() -> Result<(Client, String), ClusterError> {
    let mut config = Config::infer().await?;
    config.read_timeout = Some(SILENCE);
    config.reset_reader_on_write = true;
    let namespace = config.default_namespace.clone();
    Ok((Client::try_from(config)?, namespace))
}
