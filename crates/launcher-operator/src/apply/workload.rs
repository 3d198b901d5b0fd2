//! Applies the Deployment without restarting a workshop in use. [`crate::rollout`] decides what to apply.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use super::error::ApplyError;
use super::object::ensure as apply;
use crate::apply_cache::{Entry, Version};
use crate::context::Context;
use crate::identifiers::FIELD_MANAGER;
use crate::rollout::{Rollout, annotations, decide, has_annotations};

/// Applies the Deployment: completely, or everything except the pod template.
pub(super) async fn ensure(context: &Context, mut wanted: Deployment, has_been_ready: bool) -> Result<(), ApplyError> {
    let name = wanted.name_any();
    let seen = context.children.deployment(&context.settings.namespace, &name);
    let (live, is_watched) = match seen {
        Some(seen) => (Some(seen.metadata.clone()), true),
        // The watch selects by labels. A Deployment that has lost a label is missing in the cache but may exist: read
        // it from the API server.
        None if has_been_ready => (find(context, &name).await?, false),
        None => (None, false),
    };
    let rollout = decide(live.as_ref(), &wanted.metadata, has_been_ready);
    let annotations = annotations(rollout, live.as_ref(), &wanted.metadata);
    match (rollout, live) {
        (Rollout::AllButTemplate, Some(live)) => {
            let is_up_to_date = is_watched && has_annotations(&live, &annotations);
            wanted.metadata.annotations = Some(annotations);
            if is_up_to_date && context.apply_cache.is_unchanged(&key(&name), &version_by_generation(&live)) {
                return Ok(());
            }
            patch_all_but_template(context, &wanted).await
        }
        _ => {
            wanted.metadata.annotations = Some(annotations);
            apply(context, &wanted, version_by_generation, &context.children.deployments).await
        }
    }
}

/// Returns the uid and the generation. Unlike the resource version, the generation of a Deployment does not change with
/// its status.
fn version_by_generation(metadata: &ObjectMeta) -> Version {
    (metadata.uid.clone(), metadata.generation.map(|generation| generation.to_string()))
}

/// Reads the metadata of the Deployment from the API server. It uses a list with a field selector, because the
/// operator's Role does not allow `get` for Deployments.
async fn find(context: &Context, name: &str) -> Result<Option<ObjectMeta>, ApplyError> {
    let api: Api<Deployment> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let listed = api.list_metadata(&ListParams::default().fields(&format!("metadata.name={name}"))).await;
    let found = listed.map_err(|source| failed(name, source))?;
    Ok(found.items.into_iter().next().map(|object| object.metadata))
}

/// Patches the fields of the Deployment that do not restart the pod: everything except the pod template.
async fn patch_all_but_template(context: &Context, wanted: &Deployment) -> Result<(), ApplyError> {
    let Deployment { metadata, spec, status: _ } = wanted;
    let strategy = spec.strategy.as_ref().and_then(|strategy| strategy.type_.as_ref());
    let patch = json!({
        "metadata": { "labels": metadata.labels, "annotations": metadata.annotations },
        "spec": {
            "replicas": spec.replicas,
            "revisionHistoryLimit": spec.revision_history_limit,
            "strategy": { "type": strategy, "rollingUpdate": null },
        },
    });
    let name = wanted.name_any();
    context.fence.check()?;
    let api: Api<Deployment> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let patched = api.patch_metadata(&name, &params, &Patch::Merge(&patch)).await;
    let patched = patched.map_err(|source| failed(&name, source))?;
    context.apply_cache.record(key(&name), Entry::new(&patch, version_by_generation(&patched.metadata)));
    Ok(())
}

fn key(name: &str) -> (String, String) {
    (Deployment::kind(&()).into_owned(), name.to_owned())
}

fn failed(name: &str, source: kube::Error) -> ApplyError {
    ApplyError::Apply { kind: Deployment::kind(&()).into_owned(), name: name.to_owned(), source }
}
