//! Builds the init container that delays the app until the cluster enforces the pod's network policies. Some network
//! plugins enforce them only a moment after the pod has its address. Until then, an app could reach other pods, the
//! kubelet and the API server.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Container, SecurityContext};
use launcher_workshop::app::SIDECAR_REQUESTS;

use super::limits::{amounts, restricted};
use super::literal::variables;
use super::sidecar::sidecar_user;
use crate::settings::OperatorSettings;

/// The name of the init container.
pub const ISOLATION_CONTAINER: &str = "isolation";
/// Exit code of `launcher-sidecar wait-isolated` if the pod can still connect to the API server at the timeout.
pub const NOT_ISOLATED: i32 = 3;

/// Builds the init container. It waits at most `most` until it cannot connect to the API server any more, because the
/// network policies forbid that connection.
pub(super) fn container(settings: &OperatorSettings, most: Duration) -> Container {
    let timeout = ("SERVICE_ISOLATION_TIMEOUT".to_owned(), most.as_secs().to_string());
    Container {
        name: ISOLATION_CONTAINER.to_owned(),
        image: Some(settings.sidecar.image.clone()),
        image_pull_policy: Some(settings.pull_policy.as_str().to_owned()),
        args: Some(vec!["wait-isolated".to_owned()]),
        env: Some(variables([timeout].into())),
        // The same requests as the sidecar's. The init container ends before the sidecar starts, so these requests do
        // not increase the pod's requests.
        resources: Some(amounts(SIDECAR_REQUESTS, ["1", "32Mi"])),
        security_context: Some(SecurityContext {
            read_only_root_filesystem: Some(true),
            ..restricted(sidecar_user(settings))
        }),
        ..Container::default()
    }
}
