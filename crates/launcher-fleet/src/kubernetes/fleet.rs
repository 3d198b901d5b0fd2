//! The adapter of [`Fleet`] for Kubernetes.

use std::sync::Arc;

use async_trait::async_trait;
use either::Either;
use futures_util::future::ready;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{Namespace, PersistentVolumeClaim};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, Preconditions};
use kube::core::{DeserializeGuard, PartialObjectMeta};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch_all};
use kube::{Api, Client, ResourceExt};
use launcher_domain::SecretValues;
use launcher_workshop::{MANAGED_BY_LABEL, Workshop, is_managed};

use super::error::{status_code, to_fleet_error};
use super::secret::create_secret;
use crate::port::{Archives, Deletion, Fleet, FleetError, FleetEvent, GONE, SavedFiles, SourceChecks, validate_volume};
use crate::source_check::SourceChecker;

/// The fleet of one namespace. Cheap to clone.
#[derive(Clone)]
pub struct KubernetesFleet {
    pub(super) client: Client,
    pub(super) namespace: String,
    workshops: Api<Workshop>,
    /// Source of the saved files with which workshops can start.
    pub(super) saved_files: Option<Arc<dyn SavedFiles>>,
    source_checks: Option<SourceChecker>,
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
        Self { client, namespace: namespace.to_owned(), workshops, saved_files: None, source_checks: None }
    }

    /// Lets workshops start with saved files. Without a source, the fleet refuses such workshops.
    #[must_use]
    pub fn with_saved_files(self, saved_files: Option<Arc<dyn SavedFiles>>) -> Self {
        Self { saved_files, ..self }
    }

    /// Lets the launcher check course material, from its own pod.
    #[must_use]
    pub fn with_source_checks(self, source_checks: Option<SourceChecker>) -> Self {
        Self { source_checks, ..self }
    }

    /// Reads a Workshop, which may be unreadable, from the API server. `None` if it does not exist.
    async fn get_guarded(&self, name: &str) -> Result<Option<Guarded>, FleetError> {
        self.guarded().get_opt(name).await.map_err(to_fleet_error)
    }

    fn guarded(&self) -> Api<Guarded> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    fn claims(&self) -> Api<PersistentVolumeClaim> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Reads the PersistentVolumeClaim of a volume; `None` if it does not exist.
    ///
    /// # Errors
    /// [`FleetError::Refused`]: the name is not one of a volume, or the operator did not create the claim.
    pub(super) async fn claim(
        &self,
        name: &str,
    ) -> Result<Option<PartialObjectMeta<PersistentVolumeClaim>>, FleetError> {
        validate_volume(name)?;
        let found = self.claims().get_metadata_opt(name).await.map_err(to_fleet_error)?;
        if found.as_ref().is_some_and(|found| !is_managed(found)) {
            let problem = format!("the PersistentVolumeClaim {name} lacks the label managed-by: {MANAGED_BY_LABEL}");
            return Err(FleetError::Refused(problem));
        }
        Ok(found)
    }
}

#[async_trait]
impl Fleet for KubernetesFleet {
    /// Uses server-side apply: overrides changes of the spec by other writers, and keeps fields that only other writers
    /// set.
    /// Creates the Secret after the Workshop, as its dependent: the pod waits for it, and the cluster deletes it with the
    /// Workshop. After a crash in between, the launcher applies the Workshop again.
    async fn apply_with_secrets(&self, workshop: &Workshop, secrets: &SecretValues) -> Result<Workshop, FleetError> {
        let params = PatchParams::apply(MANAGED_BY_LABEL).force();
        let applied = self.workshops.patch(&workshop.name_any(), &params, &Patch::Apply(workshop)).await;
        let error = match applied {
            Ok(applied) => {
                create_secret(self.client.clone(), &self.namespace, &applied, secrets).await?;
                return Ok(applied);
            }
            Err(error) => error,
        };
        // The API server answers 409 if no Workshop has this name any more, and 422 if a new Workshop has it. Other
        // causes give the same codes: read the Workshop again and compare its uid.
        let uid = workshop.uid().filter(|_| matches!(status_code(&error), Some(409 | 422)));
        if uid.is_some() && self.get_guarded(&workshop.name_any()).await?.and_then(|found| found.uid()) != uid {
            return Err(FleetError::Unavailable(GONE.to_owned()));
        }
        Err(to_fleet_error(error))
    }

    /// Deletes in the foreground: the Workshop exists with a deletion timestamp until its pod is gone. A missing
    /// Workshop therefore means that nothing of it runs.
    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let exactly = Preconditions { uid: uid.map(str::to_owned), resource_version: None };
        let params = DeleteParams::foreground().preconditions(exactly);
        match self.workshops.delete(name, &params).await {
            Ok(Either::Left(_)) => Ok(Deletion::InProgress),
            Ok(Either::Right(_)) => Ok(Deletion::Gone),
            Err(error) if status_code(&error) == Some(404) => Ok(Deletion::Gone),
            // 409 has two causes: a new Workshop has this name, or another conflict. Read the Workshop again and
            // compare its uid.
            Err(error) if status_code(&error) == Some(409) => match self.get_guarded(name).await? {
                Some(object) if uid.is_none() || object.uid().as_deref() == uid => Err(to_fleet_error(error)),
                _ => Ok(Deletion::Gone),
            },
            Err(error) => Err(to_fleet_error(error)),
        }
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        let Some(object) = self.get_guarded(name).await? else { return Ok(None) };
        match object.0 {
            Ok(workshop) => Ok(Some(workshop)),
            Err(unreadable) => Err(FleetError::Refused(format!("the Workshop cannot be read: {}", unreadable.error))),
        }
    }

    /// Identity of the namespace. A namespace with the same name in another cluster is another fleet. A recreated
    /// namespace is another fleet, too.
    async fn identity(&self) -> Result<String, FleetError> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace = namespaces.get(&self.namespace).await.map_err(to_fleet_error)?;
        // List once, so that a missing Workshop CRD fails here. Otherwise the service would wait for the watch forever.
        self.guarded().list(&ListParams::default().limit(1)).await.map_err(to_fleet_error)?;
        Ok(identity_of(&self.namespace, &namespace))
    }

    /// Deletes the PersistentVolumeClaim. The cluster removes it, and by its reclaim policy the files, when no pod uses it
    /// any more. Reads the claim first, and deletes exactly this one: a claim that the operator did not create stays.
    async fn delete_volume(&self, name: &str) -> Result<(), FleetError> {
        let Some(found) = self.claim(name).await? else { return Ok(()) };
        if found.metadata.deletion_timestamp.is_some() {
            return Ok(());
        }
        let exactly = Preconditions { uid: found.uid(), resource_version: None };
        match self.claims().delete(name, &DeleteParams::default().preconditions(exactly)).await {
            Ok(_) => Ok(()),
            Err(error) if status_code(&error) == Some(404) => Ok(()),
            // 409: another claim has this name now. The retry reads it.
            Err(error) => Err(to_fleet_error(error)),
        }
    }

    fn archives(&self) -> Option<&dyn Archives> {
        Some(self)
    }

    fn source_checks(&self) -> Option<&dyn SourceChecks> {
        self.source_checks.as_ref().map(|checker| checker as &dyn SourceChecks)
    }

    /// When a request fails, the stream retries it after a backoff; if changes could be lost, it lists all Workshops again.
    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        // The API server closes a request after a minute, and the next one continues from the same resource version.
        let config = watcher::Config::default().timeout(60);
        to_fleet_events(watch_all(self.guarded(), config).default_backoff()).boxed()
    }
}

/// Converts watch events to fleet events. It collects the Workshops of a list, and sends them as one event.
fn to_fleet_events(
    events: impl Stream<Item = Result<Event<Guarded>, watcher::Error>> + Send + 'static,
) -> impl Stream<Item = FleetEvent> + Send + 'static {
    let mut listed = Vec::new();
    events.filter_map(move |event| {
        ready(match event {
            Ok(Event::Init) => {
                listed.clear();
                None
            }
            Ok(Event::InitApply(object)) => {
                listed.extend(readable(object));
                None
            }
            Ok(Event::InitDone) => Some(FleetEvent::Relisted(std::mem::take(&mut listed))),
            Ok(Event::Apply(object)) => readable(object).map(Box::new).map(FleetEvent::Applied),
            Ok(Event::Delete(object)) => readable(object).map(Box::new).map(FleetEvent::Deleted),
            Err(error) => {
                tracing::warn!(%error, "watching Workshops failed, retrying");
                None
            }
        })
    })
}

/// Returns the Workshop, or `None` if it cannot be parsed. The stream omits an unreadable Workshop: the service then
/// neither updates nor terminates it.
fn readable(object: Guarded) -> Option<Workshop> {
    let name = object.name_any();
    match object.0 {
        Ok(mut workshop) => {
            workshop.metadata.managed_fields = None;
            Some(workshop)
        }
        Err(unreadable) => {
            tracing::warn!(workshop = %name, error = %unreadable.error, "Workshop is unreadable, ignoring its changes");
            None
        }
    }
}

/// A Workshop, or the error of parsing it. One unreadable Workshop must not stop the watch of the other Workshops.
pub(super) type Guarded = DeserializeGuard<Workshop>;

/// Returns the identity of a namespace. The uid distinguishes it from other namespaces with the same name.
pub(super) fn identity_of(name: &str, namespace: &Namespace) -> String {
    format!("namespace {name} {}", namespace.uid().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Mutex;

    use futures_util::stream;
    use http::{Method, Request, Response};
    use http_body_util::BodyExt;
    use kube::client::Body;
    use serde_json::{Value, json};
    use tower::service_fn;

    use super::*;

    const VOLUME: &str = "work-abcdefghij";

    /// Requests that an API server received: method and body.
    type Calls = Arc<Mutex<Vec<(Method, Value)>>>;

    /// A fleet whose API server has this claim, or none, and answers deletions with this status code.
    fn fleet(claim: Option<Value>, deletion: u16) -> (KubernetesFleet, Calls) {
        let calls = Calls::default();
        let recorded = calls.clone();
        let service = service_fn(move |request: Request<Body>| {
            let (recorded, claim) = (recorded.clone(), claim.clone());
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                recorded.lock().unwrap().push((head.method.clone(), serde_json::from_slice(&body).unwrap_or_default()));
                let status = |code: u16| {
                    let reason = if code == 404 { "NotFound" } else { "Unknown" };
                    json!({ "kind": "Status", "apiVersion": "v1", "code": code, "message": "no", "reason": reason })
                };
                let (code, answer) = match (head.method, claim) {
                    (Method::GET, Some(claim)) => (200, claim),
                    (Method::GET, None) => (404, status(404)),
                    _ => (deletion, status(deletion)),
                };
                let answer = Body::from(answer.to_string().into_bytes());
                Ok::<_, Infallible>(Response::builder().status(code).body(answer).unwrap())
            }
        });
        (KubernetesFleet::new(Client::new(service, "workshops"), "workshops"), calls)
    }

    fn claim(labels: Value) -> Value {
        json!({
            "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
            "metadata": { "name": VOLUME, "uid": "claim", "labels": labels },
        })
    }

    fn ours() -> Value {
        claim(json!({ "app": "workshop", "managed-by": "workshop-launcher" }))
    }

    fn methods(calls: &Calls) -> Vec<Method> {
        calls.lock().unwrap().iter().map(|(method, _)| method.clone()).collect()
    }

    #[tokio::test]
    async fn claim_of_the_operator_is_deleted_by_uid() {
        for code in [200, 404] {
            let (fleet, calls) = fleet(Some(ours()), code);
            fleet.delete_volume(VOLUME).await.unwrap();
            assert_eq!(methods(&calls), [Method::GET, Method::DELETE]);
            assert_eq!(calls.lock().unwrap()[1].1["preconditions"]["uid"], "claim");
        }
    }

    #[tokio::test]
    async fn claim_that_is_gone_or_being_deleted_is_not_deleted_again() {
        let mut leaving = ours();
        leaving["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z".into();
        for claim in [None, Some(leaving)] {
            let (fleet, calls) = fleet(claim, 500);
            fleet.delete_volume(VOLUME).await.unwrap();
            assert_eq!(methods(&calls), [Method::GET]);
        }
    }

    #[tokio::test]
    async fn foreign_claim_and_invalid_name_are_refused() {
        for labels in [Value::Null, json!({ "managed-by": "Helm" })] {
            let (fleet, calls) = fleet(Some(claim(labels)), 200);
            assert!(matches!(fleet.delete_volume(VOLUME).await, Err(FleetError::Refused(_))));
            assert_eq!(methods(&calls), [Method::GET]);
        }
        let (fleet, calls) = fleet(Some(ours()), 200);
        assert!(matches!(fleet.delete_volume("database").await, Err(FleetError::Refused(_))));
        assert_eq!(methods(&calls), Vec::<Method>::new());
    }

    /// A Workshop of this name and uid.
    fn workshop(name: &str, uid: &str) -> Value {
        json!({
            "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop",
            "metadata": { "name": name, "namespace": "workshops", "uid": uid, "resourceVersion": "1" },
            "spec": {
                "owner": "alice@example.org", "image": "app:1", "appType": "custom", "port": 8888,
                "resources": { "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" },
                "securityProfile": "restricted", "lifetimeSeconds": 3600,
            },
        })
    }

    /// A Workshop whose spec cannot be parsed.
    fn unreadable() -> Value {
        let mut workshop = workshop("lab-a", "1");
        workshop["spec"]["port"] = "eighty".into();
        workshop
    }

    #[tokio::test]
    async fn refused_change_of_a_workshop_that_is_gone_is_no_refusal_of_its_spec() {
        let known: Workshop = serde_json::from_value(workshop("lab-a", "1")).unwrap();
        for code in [409, 422] {
            for live in [None, Some(workshop("lab-a", "2"))] {
                let (fleet, _) = fleet(live, code);
                let error = fleet.apply(&known).await.unwrap_err();
                assert!(matches!(&error, FleetError::Unavailable(problem) if problem == GONE), "{code}: {error}");
            }
        }
        for live in [workshop("lab-a", "1"), unreadable()] {
            let (fleet, _) = fleet(Some(live), 422);
            assert!(matches!(fleet.apply(&known).await, Err(FleetError::Refused(_))), "its spec is refused");
        }
    }

    #[tokio::test]
    async fn deletion_that_conflicts_has_ended_only_if_the_workshop_is_gone() {
        let deleted = async |live: Option<Value>, uid: Option<&str>| {
            let (fleet, _) = fleet(live, 409);
            fleet.delete("lab-a", uid).await
        };
        for live in [None, Some(workshop("lab-a", "2"))] {
            assert!(matches!(deleted(live, Some("1")).await, Ok(Deletion::Gone)));
        }
        for live in [workshop("lab-a", "1"), unreadable()] {
            assert!(matches!(deleted(Some(live.clone()), Some("1")).await, Err(FleetError::Unavailable(_))));
            assert!(matches!(deleted(Some(live), None).await, Err(FleetError::Unavailable(_))));
        }
    }

    #[tokio::test]
    async fn unreadable_workshop_is_not_a_missing_one() {
        let (fleet, _) = fleet(Some(unreadable()), 200);
        assert!(matches!(fleet.get("lab-a").await, Err(FleetError::Refused(_))));
    }

    #[tokio::test]
    async fn relist_has_only_the_readable_workshops_of_the_last_list() {
        let object = |workshop: Value| serde_json::from_value::<Guarded>(workshop).unwrap();
        let events = [
            Event::Init,
            Event::InitApply(object(workshop("lab-gone", "1"))),
            // The list was interrupted, and begins again.
            Event::Init,
            Event::InitApply(object(unreadable())),
            Event::InitApply(object(workshop("lab-b", "2"))),
            Event::InitDone,
            Event::Apply(object(unreadable())),
            Event::Delete(object(workshop("lab-b", "2"))),
            Event::Init,
            Event::InitDone,
        ];
        let events: Vec<_> = to_fleet_events(stream::iter(events.map(Ok))).collect().await;
        let known: Workshop = serde_json::from_value(workshop("lab-b", "2")).unwrap();
        let deleted = FleetEvent::Deleted(Box::new(known.clone()));
        assert_eq!(events, [FleetEvent::Relisted(vec![known]), deleted, FleetEvent::Relisted(Vec::new())]);
    }

    #[tokio::test]
    async fn conflicting_deletion_is_retried_by_the_caller() {
        for code in [403, 409, 500] {
            let (fleet, _) = fleet(Some(ours()), code);
            assert!(matches!(fleet.delete_volume(VOLUME).await, Err(FleetError::Unavailable(_))));
        }
    }
}
