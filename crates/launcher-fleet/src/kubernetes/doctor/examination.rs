//! Reads the API server's version and clock, and the fleet identity of the examined namespace.

use http::{Request, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use k8s_openapi::api::core::v1::Namespace;
use kube::client::Body;
use kube::{Api, Client};

use crate::kubernetes::error::{status_code, to_fleet_error, unavailable};
use crate::kubernetes::resource::identity_of;
use crate::port::FleetError;

/// The namespace that `launcher doctor` examines.
#[derive(Clone)]
pub struct KubernetesExamination {
    pub(super) client: Client,
    pub(super) namespace: String,
}

impl std::fmt::Debug for KubernetesExamination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KubernetesExamination").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

/// Version and clock of an API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiServer {
    /// The Kubernetes version, for example `v1.34.4`.
    pub version: String,
    /// Time of the API server's clock, in whole seconds; `None` if its response has no readable `Date` header.
    pub clock: Option<Timestamp>,
}

impl KubernetesExamination {
    /// Creates the examination of this namespace without contacting the cluster.
    #[must_use]
    pub fn new(client: Client, namespace: &str) -> Self {
        Self { client, namespace: namespace.to_owned() }
    }

    /// Returns the API server's version and clock.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] with the cause, for example that the API server rejects the launcher's credentials.
    pub async fn api_server(&self) -> Result<ApiServer, FleetError> {
        let request = Request::get("/version").body(Body::empty()).map_err(|error| unavailable(&error))?;
        let answer = self.client.send(request).await.map_err(|error| to_fleet_error(&error))?;
        let clock = answer.headers().get(header::DATE).and_then(|date| date.to_str().ok()).and_then(read_date);
        let version = self.client.apiserver_version().await.map_err(|error| to_fleet_error(&error))?;
        Ok(ApiServer { version: version.git_version, clock })
    }

    /// Returns the fleet identity ([`Fleet::identity`](crate::Fleet::identity)), or `None` if the namespace does not
    /// exist.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] with the cause.
    pub async fn identity(&self) -> Result<Option<String>, FleetError> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        match namespaces.get(&self.namespace).await {
            Ok(namespace) => Ok(Some(identity_of(&self.namespace, &namespace))),
            Err(error) if status_code(&error) == Some(404) => Ok(None),
            Err(error) => Err(to_fleet_error(&error)),
        }
    }
}

fn read_date(date: &str) -> Option<Timestamp> {
    rfc2822::parse(date).ok().map(|zoned| zoned.timestamp())
}
