//! The connection to the Kubernetes cluster, for `launcher serve` and `launcher operator`.

use std::time::Duration;

use kube::{Client, Config};

/// Read timeout. Watches are renewed every minute, so a connection without data for longer is dead.
const SILENCE: Duration = Duration::from_secs(75);

/// Checks that no namespace of classes is the main one.
pub(crate) fn check_namespaces(main: &str, of_classes: &[String]) -> Result<(), String> {
    if !of_classes.iter().any(|namespace| namespace == main) {
        return Ok(());
    }
    Err(format!(
        "SERVICE_CLASS_NAMESPACES names {main}, the namespace of all other workshops; name only other namespaces"
    ))
}

/// Returns a client for the cluster of KUBECONFIG, `~/.kube/config` or the pod's service account, and the default
/// namespace of that configuration. Sends no request.
pub(crate) async fn connect() -> Result<(Client, String), String> {
    let mut config = Config::infer().await.map_err(|error| {
        format!("the cluster cannot be found: {error}; run in a pod with a service account, or set KUBECONFIG")
    })?;
    config.read_timeout = Some(SILENCE);
    config.reset_reader_on_write = true;
    let namespace = config.default_namespace.clone();
    let client = Client::try_from(config).map_err(|error| {
        format!("the Kubernetes client cannot be created: {error}; check KUBECONFIG, or the pod's service account")
    })?;
    Ok((client, namespace))
}
