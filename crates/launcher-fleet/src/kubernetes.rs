//! The fleet on Kubernetes: Workshops are custom resources of one namespace, and the operator runs them.

mod doctor;
mod error;
mod watch;

use std::time::Duration;

use async_trait::async_trait;
use either::Either;
use futures_util::stream::BoxStream;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, Preconditions};
use kube::core::DeserializeGuard;
use kube::{Api, Client, ResourceExt};
use launcher_workshop::{MANAGED_BY_LABEL, Workshop};

use crate::port::{Deletion, Fleet, FleetError, FleetEvent, GONE};
pub use doctor::{ApiServer, Definition, KubernetesExamination, Leader, PendingWorkshops};
use error::{status_code, to_fleet_error};

/// A Workshop, or the reason why it is unreadable: one unreadable Workshop must not stop the watch of the others.
type Guarded = DeserializeGuard<Workshop>;

/// Maximum duration of one watch request. The server then closes it, and the watch resumes at the same version.
const WATCH: Duration = Duration::from_secs(60);

/// The Workshops of one namespace. Clones share one fleet.
#[derive(Clone)]
pub struct KubernetesFleet {
    client: Client,
    namespace: String,
    workshops: Api<Workshop>,
}

impl std::fmt::Debug for KubernetesFleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KubernetesFleet").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

impl KubernetesFleet {
    /// Creates the fleet of this namespace without contacting the cluster.
    #[must_use]
    pub fn new(client: Client, namespace: &str) -> Self {
        let workshops = Api::namespaced(client.clone(), namespace);
        Self { client, namespace: namespace.to_owned(), workshops }
    }

    /// Reads a Workshop from the cluster; `None` if it certainly does not exist.
    async fn get_guarded(&self, name: &str) -> Result<Option<Guarded>, FleetError> {
        let guarded: Api<Guarded> = Api::namespaced(self.client.clone(), &self.namespace);
        guarded.get_opt(name).await.map_err(|error| to_fleet_error(&error))
    }
}

/// Identity of a namespace. The uid distinguishes it from others of the same name.
fn identity(namespace: &str, uid: &str) -> String {
    format!("namespace {namespace} {uid}")
}

#[async_trait]
impl Fleet for KubernetesFleet {
    /// Server-side apply: it overrides other writers of the spec, and keeps fields that others have added elsewhere.
    async fn apply(&self, workshop: &Workshop) -> Result<Workshop, FleetError> {
        let params = PatchParams::apply(MANAGED_BY_LABEL).force();
        let applied = self.workshops.patch(&workshop.name_any(), &params, &Patch::Apply(workshop)).await;
        let error = match applied {
            Ok(applied) => return Ok(applied),
            Err(error) => error,
        };
        // If the uid is gone, the API server answers with a conflict; if the name has a new uid, with "invalid". Other
        // causes give the same codes, so the Workshop is read again.
        let uid = workshop.uid().filter(|_| matches!(status_code(&error), Some(409 | 422)));
        if uid.is_some() && self.get_guarded(&workshop.name_any()).await?.and_then(|found| found.uid()) != uid {
            return Err(FleetError::Unavailable(GONE.to_owned()));
        }
        Err(to_fleet_error(&error))
    }

    /// Deletes in the foreground: the Workshop stays, marked, until all its resources are gone, so that "deleted" is
    /// true.
    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let exactly = Preconditions { uid: uid.map(str::to_owned), resource_version: None };
        let params = DeleteParams::foreground().preconditions(exactly);
        match self.workshops.delete(name, &params).await {
            Ok(Either::Left(_)) => Ok(Deletion::InProgress),
            Ok(Either::Right(_)) => Ok(Deletion::Gone),
            Err(error) if status_code(&error) == Some(404) => Ok(Deletion::Gone),
            // Either another Workshop of this name or another conflict, so the Workshop is read again.
            Err(error) if status_code(&error) == Some(409) => match self.get_guarded(name).await? {
                Some(object) if uid.is_none() || object.uid().as_deref() == uid => Err(to_fleet_error(&error)),
                _ => Ok(Deletion::Gone),
            },
            Err(error) => Err(to_fleet_error(&error)),
        }
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        let Some(object) = self.get_guarded(name).await? else { return Ok(None) };
        match object.0 {
            Ok(workshop) => Ok(Some(workshop)),
            Err(unreadable) => Err(FleetError::Refused(format!("it cannot be read: {}", unreadable.error))),
        }
    }

    /// Identity of the namespace. One of the same name in another cluster, or created again, is another fleet.
    async fn identity(&self) -> Result<String, FleetError> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace = namespaces.get(&self.namespace).await.map_err(|error| to_fleet_error(&error))?;
        // A cluster without the Workshop resource is detected here, before the service waits for a watch.
        let guarded: Api<Guarded> = Api::namespaced(self.client.clone(), &self.namespace);
        guarded.list(&ListParams::default().limit(1)).await.map_err(|error| to_fleet_error(&error))?;
        Ok(identity(&self.namespace, &namespace.uid().unwrap_or_default()))
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        watch::watch(Api::namespaced(self.client.clone(), &self.namespace), WATCH)
    }
}
