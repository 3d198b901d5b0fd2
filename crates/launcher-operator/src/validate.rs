//! Validates a Workshop. The failure of an invalid Workshop names the invalid field.
//!
//! The policy of the installation limits the names that a Workshop's pod template may use, and the length of a Workshop's
//! name. A changed policy applies to new pods only. A Workshop that has been ready keeps the pod that it has. If that pod is
//! gone, the Workshop fails. [`permitted`] also keeps a forbidden pod template out of every pod that the operator builds.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use launcher_domain::material_source::is_kubernetes_secret;
use launcher_domain::names::is_volume_name;
use launcher_domain::{FailureCode, FailureDetail, FailureReason, FieldError, FieldRule, PodTemplateKind, names};
use launcher_workshop::app::{ValidSpec, ensure, invalid};
use launcher_workshop::lifecycle::was_ready;
use launcher_workshop::pod_template::PodTemplate;
use launcher_workshop::{Workshop, WorkshopSpec, is_parameters_secret};

use crate::settings::OperatorSettings;

/// Reason why saved files cannot be placed without the image of the program.
const NO_PROGRAM: &str = "this installation has no program that places them. Ask the administrator to set \
                          SERVICE_MATERIAL_IMAGE of the operator";

/// A validated Workshop. Only [`validate`] creates it. Later steps of a reconcile use it instead of the raw spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// Name of the Workshop. The objects of its workload have the same name, and its host begins with it.
    pub name: String,
    pub namespace: String,
    /// Owner reference for each resource. It makes Kubernetes delete the resource with the Workshop.
    pub owner_reference: OwnerReference,
    /// Owner, app, resources and security profile.
    pub spec: ValidSpec,
    /// Partial spec of the pod. The policy may forbid it.
    pub pod_template: Option<PodTemplate>,
    /// Expiry. `None` if it depends on the time at which the workshop is first ready.
    pub expiry: Option<Timestamp>,
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
    let is_placeable = spec.snapshot.is_some() && spec.crash_safe_directory.is_some();
    ensure(spec.restore.is_none() || is_placeable, FailureDetail::SpecRestore)?;
    let pod_template = pod_template(&workshop.spec)?;
    let expiry = workshop.spec.expiry(workshop.status.as_ref().and_then(|status| status.ready_at));
    Ok(Validated { name, namespace, owner_reference, spec, pod_template, expiry })
}

fn pod_template_detail(error: &FieldError) -> FailureDetail {
    FailureDetail::SpecPodTemplate { pointer: error.pointer.clone(), error: error.detail() }
}

fn pod_template(spec: &WorkshopSpec) -> Result<Option<PodTemplate>, FailureReason> {
    let Some(source) = &spec.pod_template else { return Ok(None) };
    let secrets = spec.secret_env.iter().map(|name| (name.clone(), String::new()));
    let variables = spec.env.clone().into_iter().chain(secrets).collect();
    PodTemplate::parse(source, &variables).map(Some).or_else(|errors| match errors.first() {
        Some(error) => Err(invalid(pod_template_detail(error))),
        None => Ok(None),
    })
}

/// True if this time has passed. `None` means "never".
#[must_use]
pub fn has_passed(time: Option<Timestamp>, now: Timestamp) -> bool {
    time.is_some_and(|time| time <= now)
}

/// Returns the pod template of a Workshop if the policy allows it.
pub(crate) fn permitted<'a>(workshop: &'a Validated, settings: &OperatorSettings) -> Option<&'a PodTemplate> {
    workshop.pod_template.as_ref().filter(|template| violations(template, settings).is_empty())
}

/// True if the policy does not allow the pod template of a Workshop. The operator then builds no next pod for it.
pub(crate) fn is_forbidden(workshop: &Validated, settings: &OperatorSettings) -> bool {
    workshop.pod_template.is_some() && permitted(workshop, settings).is_none()
}

/// Validates a Workshop, and checks its name and its pod template against the policy unless the Workshop has been ready
/// and has one of these `pods`: a changed policy ends no running workshop.
///
/// # Errors
/// A failure with the code `InvalidSpec`, whose message names the first wrong field; or `FilesNotRestored` if the operator has
/// no program that places saved files. Without them, the app would start empty.
pub(crate) fn admit(
    workshop: &Workshop,
    settings: &OperatorSettings,
    pods: &[Pod],
) -> Result<Validated, FailureReason> {
    let validated = validate(workshop)?;
    if was_ready(workshop) && !pods.is_empty() {
        return Ok(validated);
    }
    if validated.spec.restore.is_some() && settings.material_image.is_none() {
        let detail = FailureDetail::RestoreFailed { error: NO_PROGRAM.to_owned() };
        return Err(FailureReason::new(FailureCode::FilesNotRestored, Some(detail)));
    }
    violation(&validated, settings).map_or(Ok(validated), |detail| Err(invalid(detail)))
}

fn violation(workshop: &Validated, settings: &OperatorSettings) -> Option<FailureDetail> {
    let most = settings.max_name_length();
    if workshop.name.len() > most {
        return Some(FailureDetail::SpecNameLength { most: most.to_string() });
    }
    let error = violations(workshop.pod_template.as_ref()?, settings).into_iter().next()?;
    Some(pod_template_detail(&error))
}

fn violations(template: &PodTemplate, settings: &OperatorSettings) -> Vec<FieldError> {
    let mut errors = template.forbidden(&settings.pod_template_allow);
    let reserved =
        |pointer, name: &str| FieldError::new(pointer, FieldRule::PodTemplateReserved { name: name.to_owned() });
    // No entry of the policy opens these Secrets: an app could forge the identity header, or the site's certificate.
    let own_secrets = [&settings.proxy_secret_name, &settings.ingress_tls_secret];
    for reference in template.references() {
        // A pod template must not mount the files of one user into the workshops of others.
        if reference.kind == PodTemplateKind::PersistentVolumeClaim && is_volume_name(&reference.name) {
            errors.push(reserved(reference.pointer, &reference.name));
            continue;
        }
        // Nor the secret launch parameters of one user, nor the passwords of private course material.
        let is_own = own_secrets.iter().any(|own| own.as_ref() == Some(&reference.name));
        let is_of_launcher = is_own || is_parameters_secret(&reference.name) || is_kubernetes_secret(&reference.name);
        if reference.kind == PodTemplateKind::Secret && is_of_launcher {
            errors.push(reserved(reference.pointer, &reference.name));
        }
    }
    for (name, value) in template.spec.node_selector.iter().flatten() {
        if settings.node_selector.get(name).is_some_and(|own| own != value) {
            errors.push(reserved(format!("/spec/nodeSelector/{}", name.replace('/', "~1")), name));
        }
    }
    errors
}
