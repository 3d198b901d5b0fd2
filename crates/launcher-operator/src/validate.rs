//! Validates a Workshop. The failure of an invalid Workshop names the invalid field.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use launcher_domain::{AppType, EmailAddress, FailureDetail, FailureReason, SecurityProfile, names};
use launcher_workshop::app::{ValidSpec, invalid};
use launcher_workshop::{Workshop, WorkshopResources};

/// A validated Workshop. Only [`validate`] creates it. Later steps of a reconcile use it instead of the raw spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// Name of the Workshop. Its Deployment, Service and Ingress have the same name, and its host begins with it.
    pub name: String,
    /// Namespace of the Workshop and its resources.
    pub namespace: String,
    /// Owner reference for each resource. It makes Kubernetes delete the resource with the Workshop.
    pub owner_reference: OwnerReference,
    /// E-mail address of the owner, the only user that the sidecar admits.
    pub owner: EmailAddress,
    /// The app's image.
    pub image: String,
    /// App type.
    pub app_type: AppType,
    /// Port of the app.
    pub port: u16,
    /// Replaces the image's entry point when not empty.
    pub command: Vec<String>,
    /// Replaces the preset's arguments when not empty. A preset is the default for the app type and image.
    pub args: Vec<String>,
    /// Environment from the template.
    pub env: BTreeMap<String, String>,
    /// Requests and limits of the app.
    pub resources: WorkshopResources,
    /// Security profile of the app.
    pub profile: SecurityProfile,
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
    let ValidSpec { owner, image, app_type, port, command, args, env, resources, profile } =
        ValidSpec::parse(&workshop.spec)?;
    Ok(Validated {
        name,
        namespace,
        owner_reference,
        owner,
        image,
        app_type,
        port,
        command,
        args,
        env,
        resources,
        profile,
    })
}

/// True if this time has passed. `None` means "never".
#[must_use]
pub fn has_passed(time: Option<Timestamp>, now: Timestamp) -> bool {
    time.is_some_and(|time| time <= now)
}

fn ensure(holds: bool, detail: FailureDetail) -> Result<(), FailureReason> {
    if holds { Ok(()) } else { Err(invalid(detail)) }
}
