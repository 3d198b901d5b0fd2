//! Tests of the pod of a download.

use launcher_operator::OperatorSettings;
use launcher_operator::build::reader_pod;
use launcher_workshop::WorkshopDownload;
use serde_json::{Value, json};

use crate::support::settings;

const DIGEST: &str = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";

pub(crate) fn download() -> Value {
    json!({
        "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "WorkshopDownload",
        "metadata": {
            "name": "work-abcdefghij-01234567", "namespace": "workshops", "uid": "download", "resourceVersion": "3",
            "creationTimestamp": "2026-01-01T12:00:00Z",
        },
        "spec": { "volume": "work-abcdefghij", "tokenSha256": DIGEST },
    })
}

fn pod(settings: &OperatorSettings) -> Value {
    let download: WorkshopDownload = serde_json::from_value(download()).unwrap();
    serde_json::to_value(reader_pod(&download, settings)).unwrap()
}

#[test]
fn pod_belongs_to_the_download_and_is_no_pod_of_a_workshop() {
    let metadata = pod(&settings())["metadata"].clone();
    assert_eq!(metadata["name"], "work-abcdefghij-01234567");
    let labels = json!({
        "app": "workshop-download", "managed-by": "workshop-launcher", "workshoplauncher.dev/volume": "work-abcdefghij",
    });
    assert_eq!(metadata["labels"], labels);
    let owner = &metadata["ownerReferences"][0];
    assert_eq!((&owner["kind"], &owner["uid"]), (&json!("WorkshopDownload"), &json!("download")));
    assert_eq!(owner["blockOwnerDeletion"], Value::Null, "would need a permission for finalizers");
}

#[test]
fn pod_is_admitted_by_the_restricted_profile_and_has_no_credentials() {
    let spec = pod(&settings())["spec"].clone();
    let container = &spec["containers"][0];
    assert_eq!(spec["automountServiceAccountToken"], false);
    assert_eq!(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    let expected = json!({
        "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] }, "privileged": false,
        "readOnlyRootFilesystem": true, "runAsNonRoot": true, "runAsUser": 1000,
    });
    assert_eq!(container["securityContext"], expected);
    assert_eq!(container["resources"]["limits"], json!({ "cpu": "1", "memory": "64Mi" }));
    assert_eq!(container["env"].as_array().unwrap().len(), 3, "{container}");
    assert!(!spec.to_string().contains("secret"), "{spec}");
}

#[test]
fn files_have_the_user_and_the_group_of_workshops_unless_the_cluster_assigns_them() {
    for (user, expected) in [(Some(1001), json!(1001)), (None, Value::Null)] {
        let spec = pod(&OperatorSettings { run_as_user: user, ..settings() })["spec"].clone();
        assert_eq!(spec["containers"][0]["securityContext"]["runAsUser"], expected);
        assert_eq!(spec["securityContext"]["fsGroup"], expected);
        assert_eq!(spec["securityContext"]["fsGroupChangePolicy"], "OnRootMismatch");
    }
}

#[test]
fn pod_reads_one_volume_on_the_node_that_has_it() {
    let spec = pod(&settings())["spec"].clone();
    let volume = json!([{ "name": "kept-work", "persistentVolumeClaim": { "claimName": "work-abcdefghij" } }]);
    assert_eq!(spec["volumes"], volume);
    let mount = json!([{ "name": "kept-work", "mountPath": "/kept-work", "readOnly": true }]);
    assert_eq!(spec["containers"][0]["volumeMounts"], mount);
    let terms = &spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let labels = json!({ "workshoplauncher.dev/volume": "work-abcdefghij" });
    assert_eq!(terms[0]["labelSelector"]["matchLabels"], labels);
    assert_eq!(terms[0]["topologyKey"], "kubernetes.io/hostname");
}

#[test]
fn pod_ends_without_the_operator() {
    let spec = pod(&settings())["spec"].clone();
    assert_eq!((&spec["restartPolicy"], &spec["activeDeadlineSeconds"]), (&json!("Never"), &json!(21600)));
}

#[test]
fn pod_has_the_placement_and_the_images_of_workshops() {
    let mut settings = settings();
    settings.node_selector.insert("pool".to_owned(), "workshops".to_owned());
    let spec = pod(&settings)["spec"].clone();
    assert_eq!(spec["nodeSelector"], json!({ "pool": "workshops" }));
    assert_eq!(spec["imagePullSecrets"], json!([{ "name": "registry" }]));
    let container = &spec["containers"][0];
    assert_eq!(container["image"], "registry.example.org/sidecar:1");
    assert_eq!((&container["args"], &container["imagePullPolicy"]), (&json!(["archive"]), &json!("IfNotPresent")));
}
