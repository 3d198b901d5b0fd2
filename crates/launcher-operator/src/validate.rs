//! Validates a Workshop. The failure of an invalid Workshop names the invalid field.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use launcher_domain::{FailureDetail, FailureReason, FieldError, names};
use launcher_workshop::app::{ValidSpec, invalid};
use launcher_workshop::pod_template::PodTemplate;
use launcher_workshop::{Workshop, WorkshopSpec};

/// A validated Workshop. Only [`validate`] creates it. Later steps of a reconcile use it instead of the raw spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// Name of the Workshop. Its pod, Service and Ingress have the same name, and its host begins with it.
    pub name: String,
    /// Namespace of the Workshop and its resources.
    pub namespace: String,
    /// Owner reference for each resource. It makes Kubernetes delete the resource with the Workshop.
    pub owner_reference: OwnerReference,
    /// Owner, app, resources and security profile.
    pub spec: ValidSpec,
    /// Partial spec of the pod. The policy may forbid it.
    pub pod_template: Option<PodTemplate>,
    /// Last requested restart of the Workshop.
    pub restarted_at: Option<Timestamp>,
    /// Expiry. `None` if it depends on the time at which the workshop is first ready.
    pub expiry: Option<Timestamp>,
    /// Lifetime after the workshop was first ready, in seconds.
    pub lifetime_seconds: u32,
}

/// Validates a Workshop.
///
/// # Errors
/// A failure with the code `InvalidSpec`. Its message names the field and the valid values.
pub fn validate(workshop: &Workshop) -> Result<Validated, FailureReason> {
    let name = workshop.name_any();
    ensure(names::is_k8s_name(&name), FailureDetail::SpecName)?;
    let owner = workshop.controller_owner_ref(&()).ok_or_else(|| invalid(FailureDetail::SpecUid))?;
    // `blockOwnerDeletion` makes a foreground deletion keep the Workshop until this resource is gone.
    let owner_reference = OwnerReference { block_owner_deletion: Some(true), ..owner };
    let namespace = workshop.namespace().ok_or_else(|| invalid(FailureDetail::SpecNamespace))?;
    let spec = ValidSpec::parse(&workshop.spec)?;
    let pod_template = pod_template(&workshop.spec)?;
    let WorkshopSpec { restarted_at, lifetime_seconds, .. } = workshop.spec;
    let expiry = workshop.spec.expiry(workshop.status.as_ref().and_then(|status| status.ready_at));
    Ok(Validated { name, namespace, owner_reference, spec, pod_template, restarted_at, expiry, lifetime_seconds })
}

/// Returns the detail of a failure because of a field of the pod template.
pub(crate) fn pod_template_detail(error: &FieldError) -> FailureDetail {
    FailureDetail::SpecPodTemplate { pointer: error.pointer.clone(), error: error.detail() }
}

fn pod_template(spec: &WorkshopSpec) -> Result<Option<PodTemplate>, FailureReason> {
    let Some(source) = &spec.pod_template else { return Ok(None) };
    let first = |errors: Vec<FieldError>| errors.into_iter().next();
    let secrets = spec.secret_env.iter().map(|name| (name.clone(), String::new()));
    let variables = spec.env.clone().into_iter().chain(secrets).collect();
    match PodTemplate::parse(source, &variables).map_err(first) {
        Ok(template) => Ok(Some(template)),
        Err(Some(error)) => Err(invalid(pod_template_detail(&error))),
        Err(None) => Ok(None),
    }
}

/// True if the Workshop has expired. With a planned snapshot, the grace period must be over, too.
pub(crate) fn has_expired(workshop: &Workshop, now: Timestamp) -> bool {
    let ready_at = workshop.status.as_ref().and_then(|status| status.ready_at);
    has_passed(workshop.spec.end(ready_at), now)
}

/// True if this time has passed. `None` means "never".
#[must_use]
pub fn has_passed(time: Option<Timestamp>, now: Timestamp) -> bool {
    time.is_some_and(|time| time <= now)
}

fn ensure(holds: bool, detail: FailureDetail) -> Result<(), FailureReason> {
    if holds { Ok(()) } else { Err(invalid(detail)) }
}
