//! Creates, updates and deletes the resources of a Workshop. Server-side apply is idempotent. The pod is only created
//! and deleted, never changed.

use futures_util::future::join_all;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{ApiResource, Patch};
use kube::{Resource, ResourceExt};
use launcher_workshop::is_managed;
use serde_json::{Value, json};

use crate::build::{KINDS, Kind, Manifests};
use crate::context::Context;
use crate::memory::{Id, LastApply};
use crate::metadata::{FOREGROUND, creation, deletion_of, is_owned_by, merge, only, server_side_apply};
use crate::settings::Exposure;
use crate::workload::{Plan, plan};
pub(crate) use refusal::ApplyError;

pub(crate) mod annotations;
pub(crate) mod deletion;
pub(crate) mod refusal;

/// Result of [`apply`]. Only [`apply`] creates it, so no status is derived without an apply.
pub(crate) struct Applied {
    /// URL for the owner; `None` if the Workshop is not exposed.
    pub(crate) url: Option<String>,
    pub(crate) exposure: Exposure,
    /// Creation of the workload: of its first object beside the pod; `None` until one is in the watch cache.
    pub(crate) created: Option<Timestamp>,
}

/// Applies all resources of a Workshop that has these pods in the watch cache. Pods and time must be the ones by which the
/// reconcile decided whether it needs a live read. Returns the result of the objects beside the pod separately: the pod exists
/// also without them.
pub(crate) async fn apply(
    context: &Context,
    name: &str,
    uid: &str,
    built: &Manifests,
    pods: &[Pod],
    now: Timestamp,
) -> Result<(Applied, Result<(), ApplyError>), ApplyError> {
    let Manifests { pod, claim, others, url } = built;
    let plan = plan(pods, &pod.metadata, now);
    if let (Plan::Create, Some(claim)) = (plan, claim) {
        ensure_claim(context, name, uid, claim).await?;
    }
    ensure_pod(context, uid, pod, plan).await?;
    let seen = context.children.others(&context.settings.namespace, name);
    let owned = seen.iter().flatten().filter(|seen| is_owned_by(seen, uid));
    let created = owned.filter_map(|seen| Some(seen.creation_timestamp.as_ref()?.0)).min();
    let applied = Applied { url: url.clone(), exposure: context.settings.exposure(), created };
    let mut done = Ok(());
    for (kind, seen) in KINDS.iter().zip(seen).rev() {
        done = done.and(match others.get(kind.name) {
            Some(wanted) => ensure_object(context, Id { name, uid }, kind, wanted, seen).await,
            None => delete_object(context, uid, &(kind.resource)(), seen).await,
        });
    }
    Ok((applied, done))
}

/// Deletes all resources of a Workshop that are in the watch cache, at the same time. Does not wait for the garbage
/// collector, which deletes only resources that the cache does not have. If one deletion fails, the others still happen.
pub(crate) async fn remove(context: &Context, name: &str, uid: &str) -> Result<(), ApplyError> {
    let deletions = context.children.all(&context.settings.namespace, name);
    let deletions = deletions.map(async |(resource, seen)| delete_object(context, uid, &resource, seen).await);
    join_all(deletions).await.into_iter().collect::<Result<(), _>>()?;
    context.memory.forget(uid);
    Ok(())
}

/// Applies an object. Sends no request if the memory shows that the object, as `seen`, is unchanged since its last apply.
async fn ensure_object(
    context: &Context,
    id: Id<'_>,
    kind: &Kind,
    wanted: &Value,
    seen: Option<ObjectMeta>,
) -> Result<(), ApplyError> {
    let last = seen.map(|seen| LastApply::new(wanted, &seen));
    if last.is_some_and(|last| context.memory.is_applied(id.uid, kind.name, last)) {
        return Ok(());
    }
    context.fence.check()?;
    let applied = context.untyped(&(kind.resource)()).patch(id.name, &server_side_apply(), &Patch::Apply(wanted)).await;
    let applied = applied.map_err(ApplyError::apply(kind.name, id.name))?;
    context.memory.record_applied(id, kind.name, LastApply::new(wanted, &applied.metadata));
    Ok(())
}

/// Deletes an object if the Workshop with this uid owns it. An object of another Workshop with the same name stays.
async fn delete_object(
    context: &Context,
    uid: &str,
    resource: &ApiResource,
    seen: Option<ObjectMeta>,
) -> Result<(), ApplyError> {
    match seen {
        Some(metadata) if is_owned_by(&metadata, uid) => delete_exactly(context, resource, &metadata).await,
        _ => Ok(()),
    }
}

/// Deletes the object with this metadata in the background, unless it is being deleted.
///
/// If the garbage collector was faster, it has deleted the object in the foreground, for example a Service because of its
/// EndpointSlices. It then needs minutes when many Workshops end. This deletion removes such an object at once.
async fn delete_exactly(context: &Context, resource: &ApiResource, metadata: &ObjectMeta) -> Result<(), ApplyError> {
    let waits_for_collector = metadata.finalizers.iter().flatten().any(|finalizer| finalizer == FOREGROUND);
    if metadata.deletion_timestamp.is_some() && !waits_for_collector {
        return Ok(());
    }
    context.fence.check()?;
    let name = metadata.name.as_deref().unwrap_or_default();
    match context.untyped(resource).delete(name, &deletion_of(metadata)).await {
        Ok(_) => Ok(()),
        // Only 404 means that the object is gone. A conflict (409) means that a new object has this name: the retry
        // checks its owner.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(source) => Err(ApplyError::delete(&resource.kind, name)(source)),
    }
}

/// Creates the claim of a volume that no other pod uses, unless the claim exists. The claim is read first: if a quota is used up, the API server refuses the
/// creation of a claim that exists with 403, not 409.
async fn ensure_claim(
    context: &Context,
    workshop: &str,
    uid: &str,
    wanted: &PersistentVolumeClaim,
) -> Result<(), ApplyError> {
    let volume = wanted.name_any();
    check_unused(context, &volume, workshop, uid)?;
    let claims = context.api::<PersistentVolumeClaim>();
    let found = claims.get_metadata_opt(&volume).await;
    match found.map_err(ApplyError::read(&PersistentVolumeClaim::kind(&()), &volume))? {
        // Refuse a claim that the operator did not create: a Workshop could mount, for example, the launcher's database.
        Some(found) if !is_managed(&found) => Err(ApplyError::ForeignClaim { name: volume }),
        Some(_) => Ok(()),
        None => {
            context.fence.check()?;
            let created = claims.create(&creation(), wanted).await;
            created.map_err(ApplyError::apply(&PersistentVolumeClaim::kind(&()), &volume))?;
            tracing::info!(workshop, volume, "created the PersistentVolumeClaim");
            Ok(())
        }
    }
}

/// Two pods must not use one volume at the same time: apps such as JupyterLab expect to be alone with their files.
fn check_unused(context: &Context, volume: &str, workshop: &str, uid: &str) -> Result<(), ApplyError> {
    let user = context.children.other_user(volume, uid);
    match user.or_else(|| context.memory.reserve(Id { name: workshop, uid }, volume)) {
        None => Ok(()),
        Some(user) => Err(ApplyError::VolumeInUse { volume: volume.to_owned(), user }),
    }
}

/// Creates or deletes the pod, as the plan says.
async fn ensure_pod(context: &Context, uid: &str, wanted: &Pod, plan: Plan<'_>) -> Result<(), ApplyError> {
    match plan {
        Plan::Keep => Ok(()),
        Plan::Create => create_pod(context, uid, wanted).await,
        Plan::Delete(pod) => {
            tracing::info!(
                workshop = %wanted.name_any(),
                "replacing the pod: it has ended, or the Workshop changed or is restarted"
            );
            delete_exactly(context, &ApiResource::erase::<Pod>(&()), &pod.metadata).await
        }
    }
}

/// Creates the pod. The pod has the name of its Workshop: if it exists already, unknown to the watch cache, the API
/// server creates no second pod. It answers 409, or 403 if a quota or an admission rule would refuse the second pod.
async fn create_pod(context: &Context, uid: &str, wanted: &Pod) -> Result<(), ApplyError> {
    context.fence.check()?;
    let source = match context.api::<Pod>().create(&creation(), wanted).await {
        Ok(_) => return Ok(()),
        Err(source) => source,
    };
    let may_exist = matches!(&source, kube::Error::Api(status) if matches!(status.code, 403 | 409));
    if may_exist && adopt_pod(context, uid, &wanted.metadata).await? {
        return Ok(());
    }
    Err(ApplyError::apply(&Pod::kind(&()), &wanted.name_any())(source))
}

/// Restores the labels of an existing pod of this Workshop. Without them, the pod is missing in the watch cache or in the
/// Service. Returns false if no pod of this Workshop exists.
async fn adopt_pod(context: &Context, uid: &str, wanted: &ObjectMeta) -> Result<bool, ApplyError> {
    let name = wanted.name.as_deref().unwrap_or_default();
    let kind = Pod::kind(&());
    let failed = ApplyError::apply(&kind, name);
    let pods = context.api::<Pod>();
    let listed = pods.list_metadata(&only(name)).await;
    let found = listed.map_err(&failed)?.items.into_iter().find(|found| is_owned_by(&found.metadata, uid));
    let Some(found) = found else { return Ok(false) };
    let is_labelled = |(key, value)| found.labels().get(key) == Some(value);
    if !wanted.labels.iter().flatten().all(is_labelled) {
        context.fence.check()?;
        let patch = json!({ "metadata": { "uid": found.metadata.uid, "labels": wanted.labels } });
        pods.patch_metadata(name, &merge(), &Patch::Merge(&patch)).await.map_err(failed)?;
    }
    Ok(true)
}
