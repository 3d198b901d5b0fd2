//! For `launcher doctor`: looks at a cluster with the launcher's own rights, and changes nothing.

mod definition;
mod operator;
mod rights;

use http::{Request, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use k8s_openapi::api::core::v1::Namespace;
use kube::client::Body;
use kube::{Api, Client, ResourceExt};

use super::refusal::{code, refusal};
use crate::port::FleetError;

pub use definition::Definition;
pub use operator::{Leader, Waiting};

/// A namespace with Workshops that is looked at.
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

/// What an API server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiServer {
    /// As in `v1.34.4`.
    pub version: String,
    /// The time on its clock, in whole seconds.
    pub clock: Option<Timestamp>,
}

impl KubernetesExamination {
    /// The Workshops of this namespace. Nothing is asked of the cluster yet.
    #[must_use]
    pub fn new(client: Client, namespace: &str) -> Self {
        Self { client, namespace: namespace.to_owned() }
    }

    /// The API server, if it knows these credentials.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] with what is wrong.
    pub async fn api_server(&self) -> Result<ApiServer, FleetError> {
        let request = Request::get("/version").body(Body::empty()).map_err(|error| unavailable(&error))?;
        let answer = self.client.send(request).await.map_err(|error| refusal(&error))?;
        let clock = answer.headers().get(header::DATE).and_then(|date| date.to_str().ok()).and_then(read_date);
        let version = self.client.apiserver_version().await.map_err(|error| refusal(&error))?;
        Ok(ApiServer { version: version.git_version, clock })
    }

    /// The identity of the fleet, as [`Fleet::identity`](crate::Fleet::identity) has it; `None` when there is no such
    /// namespace.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] with what is wrong.
    pub async fn identity(&self) -> Result<Option<String>, FleetError> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        match namespaces.get(&self.namespace).await {
            Ok(namespace) => Ok(Some(super::identity(&self.namespace, &namespace.uid().unwrap_or_default()))),
            Err(error) if code(&error) == Some(404) => Ok(None),
            Err(error) => Err(refusal(&error)),
        }
    }
}

fn read_date(date: &str) -> Option<Timestamp> {
    rfc2822::parse(date).ok().map(|zoned| zoned.timestamp())
}

fn unavailable(error: &dyn std::error::Error) -> FleetError {
    FleetError::Unavailable(error.to_string())
}
