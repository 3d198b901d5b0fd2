//! Applies the Deployment, without restarting a workshop that people work in: see [`crate::rollout`].

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use super::{ApplyError, Version};
use crate::FIELD_MANAGER;
use crate::context::Context;
use crate::rollout::{self, Rollout};

/// Creates, changes or keeps the Deployment.
pub(super) async fn ensure(context: &Context, wanted: Deployment, holds_work: bool) -> Result<(), ApplyError> {
    let name = wanted.name_any();
    let seen = context.children.deployment(&context.settings.namespace, &name);
    let (live, is_watched) = match seen {
        Some(seen) => (Some(seen.metadata.clone()), true),
        // The watch selects by labels: a Deployment that somebody has taken a label from may be there all the same.
        None if holds_work => (find(context, &name).await?, false),
        None => (None, false),
    };
    match rollout::decide(live.as_ref(), &wanted.metadata, holds_work) {
        Rollout::Keep if is_watched => Ok(()),
        Rollout::Keep | Rollout::Adopt => {
            let generation = live.and_then(|live| live.generation).unwrap_or_default();
            write_metadata(context, &wanted, generation).await
        }
        Rollout::Apply => apply(context, wanted, live.and_then(|live| live.generation)).await,
    }
}

async fn apply(context: &Context, wanted: Deployment, generation: Option<i64>) -> Result<(), ApplyError> {
    let wanted = rollout::at_generation(wanted, generation);
    let applied = super::ensure(context, &wanted, version_by_generation, &context.children.deployments).await?;
    // The spec has changed, and with it the generation, which is known only now.
    match applied.and_then(|applied| applied.metadata.generation) {
        Some(now) if generation.is_some_and(|before| before != now) => write_metadata(context, &wanted, now).await,
        _ => Ok(()),
    }
}

/// A Deployment's generation counts what is wanted of it, and not what its controller reports.
fn version_by_generation(metadata: &ObjectMeta) -> Version {
    (metadata.uid.clone(), metadata.generation.map(|generation| generation.to_string()))
}

/// The metadata of the Deployment as the API server has it. A list with a field selector: the operator's role has no
/// `get`.
async fn find(context: &Context, name: &str) -> Result<Option<ObjectMeta>, ApplyError> {
    let api: Api<Deployment> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let listed = api.list_metadata(&ListParams::default().fields(&format!("metadata.name={name}"))).await;
    let found = listed.map_err(|source| failed(name, source))?;
    Ok(found.items.into_iter().next().map(|object| object.metadata))
}

/// Writes labels and annotations, and nothing that would start another pod.
async fn write_metadata(context: &Context, wanted: &Deployment, generation: i64) -> Result<(), ApplyError> {
    let name = wanted.name_any();
    let metadata = json!({
        "labels": wanted.metadata.labels,
        "annotations": rollout::annotations(&wanted.metadata, generation),
    });
    context.fence.check()?;
    let api: Api<Deployment> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let patch = Patch::Merge(json!({ "metadata": metadata }));
    api.patch_metadata(&name, &params, &patch).await.map(drop).map_err(|source| failed(&name, source))
}

fn failed(name: &str, source: kube::Error) -> ApplyError {
    ApplyError::Apply { kind: Deployment::kind(&()).into_owned(), name: name.to_owned(), source }
}
