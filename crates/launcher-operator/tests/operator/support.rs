//! Test support: Workshops, built resources and settings.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_operator::OperatorSettings;
use launcher_operator::build::{Manifests, build};
use launcher_operator::validate::validate;
use launcher_process::settings::from_arguments;
use launcher_workshop::Workshop;
use serde_json::{Value, json};

/// A minimal valid Workshop, as YAML.
pub(crate) const MINIMAL: &str = "
apiVersion: workshoplauncher.dev/v1alpha1
kind: Workshop
metadata:
  name: intro-abcdefghij
  namespace: workshops
  uid: 0a1b2c3d-0000-4000-8000-000000000001
  creationTimestamp: 2026-01-01T12:00:00Z
spec:
  owner: alice@example.org
  image: registry.example.org/app:1
  appType: custom
  port: 8888
  resources: {cpuRequest: 100m, cpuLimit: '2', memoryRequest: 256Mi, memoryLimit: 2Gi}
  securityProfile: restricted
  lifetimeSeconds: 7200
";

pub(crate) fn workshop(change: impl FnOnce(&mut Workshop)) -> Workshop {
    let mut workshop: Workshop = serde_saphyr::from_str(MINIMAL).unwrap();
    change(&mut workshop);
    workshop
}

/// A running Workshop that was ready at 12:00 and expires at 13:00.
pub(crate) fn running() -> Value {
    let mut workshop = serde_json::to_value(workshop(|_| {})).unwrap();
    workshop["metadata"]["resourceVersion"] = "5".into();
    workshop["metadata"]["generation"] = 2.into();
    workshop["spec"]["expiresAt"] = "2026-01-01T13:00:00Z".into();
    workshop["status"] = json!({ "phase": "Running", "readyAt": "2026-01-01T12:00:00Z" });
    workshop
}

/// The pod of the minimal Workshop with this status.
pub(crate) fn pod_object(status: &Value) -> Value {
    json!({
        "metadata": {
            "name": "intro-abcdefghij", "namespace": "workshops", "uid": "pod",
            "creationTimestamp": "2026-01-01T12:00:00Z",
            "labels": { "workshoplauncher.dev/workshop": "intro-abcdefghij" },
            "ownerReferences": [{
                "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "name": "intro-abcdefghij",
                "uid": "0a1b2c3d-0000-4000-8000-000000000001",
            }],
        },
        "status": status,
    })
}

pub(crate) fn built(change: impl FnOnce(&mut Workshop)) -> Manifests {
    build(&validate(&workshop(change)).unwrap(), &settings())
}

/// Returns the metadata of the objects that end with the Workshop.
pub(crate) fn metadata(built: &Manifests) -> Vec<ObjectMeta> {
    let others = built.others.values().map(|object| serde_json::from_value(object["metadata"].clone()).unwrap());
    others.chain([built.pod.metadata.clone()]).collect()
}

/// Builds the pod of the minimal Workshop with these settings and this security profile.
pub(crate) fn pod(settings: &OperatorSettings, profile: &str) -> PodSpec {
    let workshop = workshop(|workshop| workshop.spec.security_profile = profile.to_owned());
    build(&validate(&workshop).unwrap(), settings).pod.spec.unwrap()
}

pub(crate) fn settings() -> OperatorSettings {
    from_arguments(&[
        "--namespace=workshops",
        "--workshop-domain=workshops.example.org",
        "--ingress-class=traefik",
        r#"--ingress-annotations={
            "traefik.ingress.kubernetes.io/router.middlewares":
                "workshops-strip@kubernetescrd,workshops-auth@kubernetescrd"
        }"#,
        "--ingress-tls-secret=workshops-tls",
        "--sidecar-image=registry.example.org/sidecar:1",
        "--trusted-auth-header=x-auth-request-email",
        "--public-url=https://launcher.example.org",
        "--material-image=registry.example.org/material:1",
        "--image-pull-secrets=registry",
    ])
    .unwrap()
}

pub(crate) fn at(text: &str) -> Timestamp {
    format!("2026-01-01T{text}Z").parse().unwrap()
}
