//! Policy of this installation: the names that a Workshop's pod template may use, and the length of a Workshop's name.
//!
//! A changed policy applies to new pods only. A Workshop that has been ready keeps the pod that it has. If that pod is
//! gone, the Workshop fails. [`permitted`] also keeps a forbidden pod template out of every pod that the operator builds.

use k8s_openapi::api::core::v1::Pod;
use launcher_domain::material_source::is_kubernetes_secret;
use launcher_domain::names::is_volume_name;
use launcher_domain::{FailureDetail, FailureReason, FieldError, FieldRule, PodTemplateKind};
use launcher_workshop::app::invalid;
use launcher_workshop::pod_template::PodTemplate;
use launcher_workshop::{Workshop, is_parameters_secret};

use crate::settings::OperatorSettings;
use crate::validate::{Validated, pod_template_detail, validate};

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
/// A failure with the code `InvalidSpec`. Its message names the first wrong field.
pub(crate) fn admit(
    workshop: &Workshop,
    settings: &OperatorSettings,
    pods: &[Pod],
) -> Result<Validated, FailureReason> {
    let validated = validate(workshop)?;
    match violation(&validated, settings) {
        Some(detail) if !has_been_ready(workshop, pods) => Err(invalid(detail)),
        _ => Ok(validated),
    }
}

fn has_been_ready(workshop: &Workshop, pods: &[Pod]) -> bool {
    workshop.status.as_ref().is_some_and(|status| status.ready_at.is_some()) && !pods.is_empty()
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
    for (name, value) in template.spec().node_selector.iter().flatten() {
        if settings.node_selector.get(name).is_some_and(|own| own != value) {
            errors.push(reserved(format!("/spec/nodeSelector/{}", name.replace('/', "~1")), name));
        }
    }
    errors
}
