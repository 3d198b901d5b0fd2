//! The fleet on Kubernetes: Workshops are custom resources of one namespace, and the operator makes them run.

mod doctor;
mod refusal;
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
pub use doctor::{ApiServer, Definition, KubernetesExamination, Leader, Waiting};
use refusal::{code, refusal};

/// A Workshop, or what is wrong with it: one that cannot be read must not stop the watch of all others.
type Guarded = DeserializeGuard<Workshop>;

/// A watch is closed by the server after so long and taken up where it was.
const WATCH: Duration = Duration::from_secs(60);

/// The Workshops of one namespace. Clones are one fleet.
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
    /// The Workshops of this namespace. Nothing is asked of the cluster yet.
    #[must_use]
    pub fn new(client: Client, namespace: &str) -> Self {
        let workshops = Api::namespaced(client.clone(), namespace);
        Self { client, namespace: namespace.to_owned(), workshops }
    }

    /// What the cluster says of a Workshop, `None` when it certainly has none of this name.
    async fn look(&self, name: &str) -> Result<Option<Guarded>, FleetError> {
        let guarded: Api<Guarded> = Api::namespaced(self.client.clone(), &self.namespace);
        guarded.get_opt(name).await.map_err(|error| refusal(&error))
    }
}

/// What tells a namespace from all others, also from one of the same name.
fn identity(namespace: &str, uid: &str) -> String {
    format!("namespace {namespace} {uid}")
}

#[async_trait]
impl Fleet for KubernetesFleet {
    /// Server-side apply: whoever else has written to the spec loses, what others have added elsewhere stays.
    async fn apply(&self, workshop: &Workshop) -> Result<Workshop, FleetError> {
        let params = PatchParams::apply(MANAGED_BY_LABEL).force();
        let applied = self.workshops.patch(&workshop.name_any(), &params, &Patch::Apply(workshop)).await;
        let error = match applied {
            Ok(applied) => return Ok(applied),
            Err(error) => error,
        };
        // A uid that is not there any more is a conflict, and one that is another's now is invalid: only a look tells.
        let uid = workshop.uid().filter(|_| matches!(code(&error), Some(409 | 422)));
        if uid.is_some() && self.look(&workshop.name_any()).await?.and_then(|found| found.uid()) != uid {
            return Err(FleetError::Unavailable(GONE.to_owned()));
        }
        Err(refusal(&error))
    }

    /// In the foreground: the Workshop stays, marked, until everything below it is gone, so that its end is the end.
    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let exactly = Preconditions { uid: uid.map(str::to_owned), resource_version: None };
        let params = DeleteParams::foreground().preconditions(exactly);
        match self.workshops.delete(name, &params).await {
            Ok(Either::Left(_)) => Ok(Deletion::InProgress),
            Ok(Either::Right(_)) => Ok(Deletion::Gone),
            Err(error) if code(&error) == Some(404) => Ok(Deletion::Gone),
            // Another Workshop of this name, or a conflict of another kind: only a look tells.
            Err(error) if code(&error) == Some(409) => match self.look(name).await? {
                Some(object) if uid.is_none() || object.uid().as_deref() == uid => Err(refusal(&error)),
                _ => Ok(Deletion::Gone),
            },
            Err(error) => Err(refusal(&error)),
        }
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        let Some(object) = self.look(name).await? else { return Ok(None) };
        match object.0 {
            Ok(workshop) => Ok(Some(workshop)),
            Err(unreadable) => Err(FleetError::Refused(format!("it cannot be read: {}", unreadable.error))),
        }
    }

    /// The namespace itself: one of the same name in another cluster, or one that was made anew, is another fleet.
    async fn identity(&self) -> Result<String, FleetError> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace = namespaces.get(&self.namespace).await.map_err(|error| refusal(&error))?;
        // A cluster that does not know Workshops is found out here, before anybody waits for a watch of them.
        let guarded: Api<Guarded> = Api::namespaced(self.client.clone(), &self.namespace);
        guarded.list(&ListParams::default().limit(1)).await.map_err(|error| refusal(&error))?;
        Ok(identity(&self.namespace, &namespace.uid().unwrap_or_default()))
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        watch::watch(Api::namespaced(self.client.clone(), &self.namespace), WATCH)
    }
}
