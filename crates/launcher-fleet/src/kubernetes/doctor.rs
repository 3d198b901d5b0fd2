//! For `launcher doctor`: examines a cluster with the launcher's own rights, without changing it.

mod definition;
mod operator;
mod rights;

use http::{Request, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use k8s_openapi::api::core::v1::Namespace;
use kube::client::Body;
use kube::{Api, Client, ResourceExt};

use super::error::{status_code, to_fleet_error};
use crate::port::FleetError;

pub use definition::Definition;
pub use operator::{Leader, PendingWorkshops};

/// The examined namespace with Workshops.
#[derive(Clone)]
pub struct KubernetesExamination {
    client: Client,
    namespace: String,
}

impl std::fmt::Debug for KubernetesExamination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KubernetesExamination").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

/// Version and clock of an API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiServer {
    /// The version, as in `v1.34.4`.
    pub version: String,
    /// The time of its clock, in whole seconds.
    pub clock: Option<Timestamp>,
}

impl KubernetesExamination {
    /// Creates the examination of this namespace without contacting the cluster.
    #[must_use]
    pub fn new(client: Client, namespace: &str) -> Self {
        Self { client, namespace: namespace.to_owned() }
    }

    /// Returns the API server's version and clock, if it accepts these credentials.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] with the cause.
    pub async fn api_server(&self) -> Result<ApiServer, FleetError> {
        let request = Request::get("/version").body(Body::empty()).map_err(|error| unavailable(&error))?;
        let answer = self.client.send(request).await.map_err(|error| to_fleet_error(&error))?;
        let clock = answer.headers().get(header::DATE).and_then(|date| date.to_str().ok()).and_then(read_date);
        let version = self.client.apiserver_version().await.map_err(|error| to_fleet_error(&error))?;
        Ok(ApiServer { version: version.git_version, clock })
    }

    /// The identity of the fleet, as in [`Fleet::identity`](crate::Fleet::identity); `None` if the namespace does not
    /// exist.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] with the cause.
    pub async fn identity(&self) -> Result<Option<String>, FleetError> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        match namespaces.get(&self.namespace).await {
            Ok(namespace) => Ok(Some(super::identity(&self.namespace, &namespace.uid().unwrap_or_default()))),
            Err(error) if status_code(&error) == Some(404) => Ok(None),
            Err(error) => Err(to_fleet_error(&error)),
        }
    }
}

fn read_date(date: &str) -> Option<Timestamp> {
    rfc2822::parse(date).ok().map(|zoned| zoned.timestamp())
}

fn unavailable(error: &dyn std::error::Error) -> FleetError {
    FleetError::Unavailable(error.to_string())
}
