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
        // The values of a Workshop never change. Another 409 is a conflict, for example of a quota: nothing is created.
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
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
mod tests {
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

    use http::{Method, Request, Response};
    use http_body_util::BodyExt;
    use kube::client::Body;
    use serde_json::{Value, json};
    use tower::service_fn;

    use super::*;
    use crate::kubernetes::KubernetesFleet;
    use crate::port::Fleet;

    const SECRET: &str = "hunter2-unique";

    /// Requests that an API server received: method, path and body.
    type Calls = Arc<Mutex<Vec<(Method, String, Value)>>>;

    /// A fleet whose API server stores every Workshop with the uid `1`, and answers the creation of Secrets with this status
    /// code and reason. Its errors repeat the sent body.
    fn fleet(code: u16, reason: &'static str) -> (KubernetesFleet, Calls) {
        let calls = Calls::default();
        let recorded = calls.clone();
        let service = service_fn(move |request: Request<Body>| {
            let recorded = recorded.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                let body: Value = serde_json::from_slice(&body).unwrap_or_default();
                let path = head.uri.path().to_owned();
                let (code, answer) = if path.ends_with("/secrets") && code != 201 {
                    let message = format!("no: {body}");
                    (
                        code,
                        json!({ "kind": "Status", "apiVersion": "v1", "code": code, "message": message, "reason": reason }),
                    )
                } else {
                    let mut stored = body.clone();
                    stored["metadata"]["uid"] = json!("1");
                    (200, stored)
                };
                recorded.lock().unwrap().push((head.method, path, body));
                let answer = Body::from(answer.to_string().into_bytes());
                Ok::<_, Infallible>(Response::builder().status(code).body(answer).unwrap())
            }
        });
        (KubernetesFleet::new(Client::new(service, "workshops"), "workshops"), calls)
    }

    fn workshop() -> Workshop {
        let spec = json!({
            "owner": "alice@example.org", "image": "x", "appType": "custom", "port": 8000, "secretEnv": ["TOKEN"],
            "resources": { "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" },
            "securityProfile": "restricted", "lifetimeSeconds": 60,
        });
        Workshop::new("lab-a", serde_json::from_value(spec).unwrap())
    }

    fn secrets() -> SecretValues {
        [("TOKEN".to_owned(), SECRET.to_owned())].into_iter().collect()
    }

    #[tokio::test]
    async fn secret_is_created_after_its_owner_the_workshop() {
        let (fleet, calls) = fleet(201, "");
        fleet.apply_with_secrets(&workshop(), &secrets()).await.unwrap();
        let calls = calls.lock().unwrap();
        let [(first, workshops, workshop), (second, path, secret)] = &calls[..] else { panic!("{calls:?}") };
        assert_eq!((first, second), (&Method::PATCH, &Method::POST));
        assert!(workshops.ends_with("/namespaces/workshops/workshops/lab-a"), "{workshops}");
        assert_eq!(path, "/api/v1/namespaces/workshops/secrets");
        assert!(!workshop.to_string().contains(SECRET), "{workshop}");
        assert_eq!(secret["metadata"]["name"], "lab-a-parameters");
        let owner = &secret["metadata"]["ownerReferences"][0];
        assert_eq!((&owner["kind"], &owner["name"], &owner["uid"]), (&json!("Workshop"), &json!("lab-a"), &json!("1")));
        assert_eq!(owner["blockOwnerDeletion"], true, "a resumed workshop of the same name gets another Secret");
        assert_eq!(
            (&secret["stringData"], &secret["immutable"]),
            (&json!({ "parameter.TOKEN": SECRET }), &json!(true))
        );
    }

    #[tokio::test]
    async fn workshop_without_secrets_needs_no_secret() {
        let (fleet, calls) = fleet(403, "Forbidden");
        fleet.apply(&workshop()).await.unwrap();
        assert_eq!(calls.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn existing_secret_stays() {
        let (fleet, calls) = fleet(409, "AlreadyExists");
        fleet.apply_with_secrets(&workshop(), &secrets()).await.unwrap();
        assert_eq!(calls.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn refused_secret_is_retried_and_its_error_has_no_value() {
        for (code, reason) in
            [(400, "BadRequest"), (403, "Forbidden"), (409, "Conflict"), (422, "Invalid"), (500, "InternalError")]
        {
            let (fleet, _) = fleet(code, reason);
            let error = fleet.apply_with_secrets(&workshop(), &secrets()).await.unwrap_err();
            assert!(matches!(error, FleetError::Unavailable(_)), "{error}");
            let text = error.to_string();
            assert!(text.contains("lab-a-parameters") && text.contains(&code.to_string()), "{text}");
            assert!(!text.contains(SECRET), "{text}");
            assert_eq!(text.contains("rbac.yaml"), code == 403, "{text}");
        }
    }
}
