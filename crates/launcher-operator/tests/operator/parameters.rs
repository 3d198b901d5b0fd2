//! Tests of secret launch parameters: variables of the app with values of a Secret.

use launcher_domain::FailureCode;
use launcher_operator::validate::validate;
use launcher_workshop::Workshop;
use serde_json::json;

use crate::support::{built, workshop};

/// Adds two secret variables to a Workshop.
pub(crate) fn with_secrets(workshop: &mut Workshop) {
    workshop.spec.secret_env = ["API_KEY", "TOKEN"].map(str::to_owned).into();
}

#[test]
fn only_the_app_gets_the_values_of_the_secret() {
    let pod = built(with_secrets).pod;
    let name = pod.metadata.name.clone().unwrap();
    let spec = serde_json::to_value(pod.spec.unwrap()).unwrap();
    let of_secret = |key: &str| {
        let secret =
            json!({ "name": format!("{name}-parameters"), "key": format!("parameter.{key}"), "optional": false });
        json!({ "name": key, "valueFrom": { "secretKeyRef": secret } })
    };
    let env = spec["containers"][0]["env"].as_array().unwrap();
    assert!(env.ends_with(&[of_secret("API_KEY"), of_secret("TOKEN")]), "{env:?}");
    assert_eq!(spec["containers"][0]["name"], "app");
    assert!(!spec["containers"][1].to_string().contains("-parameters"), "{spec}");
    assert!(!spec["volumes"].to_string().contains("-parameters"), "{spec}");
}

#[test]
fn invalid_name_of_a_secret_variable_fails_the_workshop() {
    for name in ["SERVICE_OWNER", "DISABLE_AUTH", "a b", ""] {
        let invalid = workshop(|workshop| workshop.spec.secret_env = vec![name.to_owned()]);
        assert_eq!(validate(&invalid).unwrap_err().code, FailureCode::InvalidSpec, "{name:?}");
    }
}

#[test]
fn variable_of_the_pod_template_cannot_replace_a_secret_one() {
    let container =
        json!({ "spec": { "containers": [{ "name": "app", "env": [{ "name": "TOKEN", "value": "x" }] }] } });
    let invalid = workshop(|workshop| {
        with_secrets(workshop);
        workshop.spec.pod_template = container.as_object().cloned();
    });
    assert_eq!(validate(&invalid).unwrap_err().code, FailureCode::InvalidSpec);
}
