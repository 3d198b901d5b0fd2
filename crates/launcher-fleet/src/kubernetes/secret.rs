//! The Secret with the secret launch parameters of a Workshop.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use launcher_domain::SecretValues;
use launcher_workshop::{MANAGED_BY_LABEL, Workshop, parameter_key, parameters_secret};

use super::error::status_code;
use crate::port::FleetError;

/// Creates the Secret of a stored Workshop, unless it exists. The cluster deletes it with the Workshop, also if the
/// Workshop is already gone: the owner reference has its uid.
///
/// # Errors
/// [`FleetError`]; the caller should retry. The error does not contain the values.
pub(super) async fn create_secret(
    client: Client,
    namespace: &str,
    workshop: &Workshop,
    secrets: &SecretValues,
) -> Result<(), FleetError> {
    if secrets.is_empty() {
        return Ok(());
    }
    let api: Api<Secret> = Api::namespaced(client, namespace);
    let secret = secret(workshop, secrets);
    match api.create(&PostParams::default(), &secret).await {
        Ok(_) => Ok(()),
        // The values of a Workshop never change.
        Err(error) if status_code(&error) == Some(409) => Ok(()),
        Err(error) => Err(unavailable(&error, &parameters_secret(&workshop.name_any()))),
    }
}

/// Returns an error without the message of the API server, which could contain a value.
fn unavailable(error: &kube::Error, name: &str) -> FleetError {
    let problem = match status_code(error) {
        Some(403) => "the API server answered 403 (is deploy/rbac.yaml applied?)".to_owned(),
        Some(code) => format!("the API server answered {code}"),
        None => "the API server cannot be reached".to_owned(),
    };
    FleetError::Unavailable(format!("the Secret {name} cannot be created: {problem}"))
}

fn secret(workshop: &Workshop, secrets: &SecretValues) -> Secret {
    let labels = BTreeMap::from([("managed-by".to_owned(), MANAGED_BY_LABEL.to_owned())]);
    let data = secrets.reveal_all().map(|(name, value)| (parameter_key(name), value.to_owned()));
    Secret {
        metadata: ObjectMeta {
            name: Some(parameters_secret(&workshop.name_any())),
            labels: Some(labels),
            // A Workshop in foreground deletion waits for the Secret: a resumed workshop has the same name and needs another.
            owner_references: workshop
                .owner_ref(&())
                .map(|owner| vec![OwnerReference { block_owner_deletion: Some(true), ..owner }]),
            ..ObjectMeta::default()
        },
        immutable: Some(true),
        string_data: Some(data.collect()),
        ..Secret::default()
    }
}

#[cfg(test)]
mod tests;
