//! Merges a template's pod template into the pod that the operator builds. The operator's values take precedence. Pure.
//!
//! Lists are merged by the names of their entries. Where both sides set a field or an entry, the operator's side wins.
//! A pod template therefore never changes the sidecar, security contexts, `DISABLE_AUTH` and the operator's labels.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Container, PodSecurityContext, PodSpec, ResourceRequirements, VolumeMount};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_workshop::pod_template::{APP_CONTAINER, PodTemplate};

pub(super) fn merge_metadata(own: ObjectMeta, template: &PodTemplate) -> ObjectMeta {
    ObjectMeta {
        labels: merged(own.labels, &template.labels),
        annotations: merged(own.annotations, &template.annotations),
        ..own
    }
}

pub(super) fn merge_spec(own: PodSpec, template: &PodTemplate) -> PodSpec {
    let wanted = template.spec.clone();
    let own_volumes: BTreeSet<String> = own.volumes.iter().flatten().map(|volume| volume.name.clone()).collect();
    let app = own.containers.iter().find(|container| container.name == APP_CONTAINER).cloned();
    let names: BTreeSet<String> =
        own.containers.iter().chain(own.init_containers.iter().flatten()).map(|own| own.name.clone()).collect();
    let init = wanted.init_containers.into_iter().flatten().filter(|container| !names.contains(&container.name));
    let init = init.filter_map(|container| Some(init_container(container, app.as_ref()?, &own_volumes))).collect();
    let addition = wanted.containers.into_iter().find(|container| container.name == APP_CONTAINER);
    let containers = own.containers.into_iter().map(|container| match &addition {
        Some(addition) if container.name == APP_CONTAINER => merge_app(container, addition.clone(), &own_volumes),
        _ => container,
    });
    PodSpec {
        containers: containers.collect(),
        // The operator's init container is the first one: it waits for the network policies.
        init_containers: appended(own.init_containers, init),
        volumes: by_name(own.volumes, wanted.volumes, |volume| &volume.name),
        node_selector: merged(own.node_selector, &wanted.node_selector.unwrap_or_default()),
        tolerations: appended(own.tolerations, wanted.tolerations.unwrap_or_default()),
        affinity: own.affinity.or(wanted.affinity),
        runtime_class_name: own.runtime_class_name.or(wanted.runtime_class_name),
        priority_class_name: own.priority_class_name.or(wanted.priority_class_name),
        service_account_name: own.service_account_name.or(wanted.service_account_name),
        image_pull_secrets: by_name(own.image_pull_secrets, wanted.image_pull_secrets, |secret| &secret.name),
        security_context: merge_security_context(own.security_context, wanted.security_context),
        ..own
    }
}

/// Adds environment, volume mounts and extended resources to the app's container.
fn merge_app(own: Container, addition: Container, own_volumes: &BTreeSet<String>) -> Container {
    let path = |mount: &VolumeMount| mount.mount_path.trim_end_matches('/').to_owned();
    let own_paths: BTreeSet<String> = own.volume_mounts.iter().flatten().map(path).collect();
    let is_free = |mount: &VolumeMount| !own_volumes.contains(&mount.name) && !own_paths.contains(&path(mount));
    let mounts = addition.volume_mounts.into_iter().flatten().filter(is_free);
    Container {
        env: by_name(own.env, addition.env, |variable| &variable.name),
        env_from: appended(own.env_from, addition.env_from.unwrap_or_default()),
        volume_mounts: appended(own.volume_mounts, mounts.collect()),
        resources: merge_resources(own.resources, addition.resources),
        ..own
    }
}

/// Returns an init container of the pod template, with the app's security context, CPU and memory.
fn init_container(wanted: Container, app: &Container, own_volumes: &BTreeSet<String>) -> Container {
    let mounts = wanted
        .volume_mounts
        .map(|mounts| mounts.into_iter().filter(|mount| !own_volumes.contains(&mount.name)).collect());
    Container {
        name: wanted.name,
        image: wanted.image,
        image_pull_policy: app.image_pull_policy.clone(),
        command: wanted.command,
        args: wanted.args,
        working_dir: wanted.working_dir,
        env: wanted.env,
        env_from: wanted.env_from,
        volume_mounts: mounts,
        resources: app.resources.clone(),
        security_context: app.security_context.clone(),
        ..Container::default()
    }
}

fn merge_resources(
    own: Option<ResourceRequirements>,
    wanted: Option<ResourceRequirements>,
) -> Option<ResourceRequirements> {
    let Some(wanted) = wanted else { return own };
    let own = own.unwrap_or_default();
    let amounts = |own: Option<BTreeMap<String, Quantity>>, wanted: Option<BTreeMap<String, Quantity>>| {
        merged(own, &wanted.unwrap_or_default())
    };
    let (limits, requests) = (amounts(own.limits, wanted.limits), amounts(own.requests, wanted.requests));
    Some(ResourceRequirements { limits, requests, claims: own.claims })
}

/// Adds the groups of the pod template.
fn merge_security_context(
    own: Option<PodSecurityContext>,
    wanted: Option<PodSecurityContext>,
) -> Option<PodSecurityContext> {
    let Some(wanted) = wanted else { return own };
    let own = own.unwrap_or_default();
    Some(PodSecurityContext {
        fs_group: own.fs_group.or(wanted.fs_group),
        fs_group_change_policy: own.fs_group_change_policy.or(wanted.fs_group_change_policy),
        supplemental_groups: own.supplemental_groups.or(wanted.supplemental_groups),
        supplemental_groups_policy: own.supplemental_groups_policy.or(wanted.supplemental_groups_policy),
        ..own
    })
}

/// Returns the entries of both maps. For equal keys, `own` wins.
fn merged<T: Clone>(own: Option<BTreeMap<String, T>>, wanted: &BTreeMap<String, T>) -> Option<BTreeMap<String, T>> {
    if wanted.is_empty() {
        return own;
    }
    let mut all = wanted.clone();
    all.extend(own.unwrap_or_default());
    Some(all)
}

/// Appends the entries of `wanted` whose names `own` does not have.
fn by_name<T>(own: Option<Vec<T>>, wanted: Option<Vec<T>>, name: fn(&T) -> &String) -> Option<Vec<T>> {
    let names: BTreeSet<String> = own.iter().flatten().map(|entry| name(entry).clone()).collect();
    let added = wanted.into_iter().flatten().filter(|entry| !names.contains(name(entry))).collect();
    appended(own, added)
}

/// Appends entries. Keeps an absent list absent if there is nothing to append.
fn appended<T>(own: Option<Vec<T>>, added: Vec<T>) -> Option<Vec<T>> {
    if added.is_empty() {
        return own;
    }
    let mut all = own.unwrap_or_default();
    all.extend(added);
    Some(all)
}
