//! Tests of the names in a pod template that the policy must allow.

use launcher_domain::PodTemplatePolicy;
use serde_json::json;

use super::{complete, parse};

/// All names of [`complete`], as entries of a policy, with their locations.
const NAMES: [(&str, &str); 18] = [
    ("annotation/example.org/billing", "/metadata/annotations/example.org~1billing"),
    ("label/example.org/team", "/metadata/labels/example.org~1team"),
    ("persistentVolumeClaim/course-data", "/spec/volumes/2/persistentVolumeClaim"),
    ("configMap/course", "/spec/volumes/3/configMap"),
    ("secret/course-token", "/spec/volumes/4/secret"),
    ("csi/vault.example.org", "/spec/volumes/5/csi"),
    ("secret/n", "/spec/volumes/5/csi/nodePublishSecretRef"),
    ("secret/course-token", "/spec/containers/0/env/0/valueFrom/secretKeyRef"),
    ("configMap/course", "/spec/containers/0/env/1/valueFrom/configMapKeyRef"),
    ("configMap/course", "/spec/containers/0/envFrom/0/configMapRef"),
    ("secret/all", "/spec/containers/0/envFrom/1/secretRef"),
    ("resource/nvidia.com/gpu", "/spec/containers/0/resources/limits/nvidia.com~1gpu"),
    ("secret/fetch", "/spec/initContainers/0/envFrom/0/secretRef"),
    ("toleration/gpu", "/spec/tolerations/0"),
    ("imagePullSecret/registry", "/spec/imagePullSecrets/0"),
    ("runtimeClass/gvisor", "/spec/runtimeClassName"),
    ("priorityClass/low", "/spec/priorityClassName"),
    ("serviceAccount/course", "/spec/serviceAccountName"),
];

fn forbidden(policy: &str) -> Vec<(String, String)> {
    let errors = parse(&complete()).unwrap().forbidden(&PodTemplatePolicy::parse(policy).unwrap());
    errors.into_iter().map(|error| (error.pointer.clone(), error.detail())).collect()
}

#[test]
fn empty_policy_forbids_every_name_with_its_entry() {
    let wanted: Vec<_> = NAMES
        .iter()
        .map(|(entry, pointer)| {
            let detail = format!(
                "needs the entry {entry} in SERVICE_POD_TEMPLATE_ALLOW, which an administrator of the installation sets"
            );
            ((*pointer).to_owned(), detail)
        })
        .collect();
    assert_eq!(forbidden(""), wanted);
}

#[test]
fn policy_with_the_named_entries_forbids_nothing() {
    let entries: Vec<_> = NAMES.iter().map(|(entry, _)| *entry).collect();
    assert_eq!(forbidden(&entries.join(",")), []);
    for (entry, pointer) in NAMES {
        let others: Vec<_> = entries.iter().filter(|other| **other != entry).copied().collect();
        let refused = forbidden(&others.join(","));
        assert!(refused.iter().any(|(place, _)| place == pointer), "{entry} is not needed");
    }
}

#[test]
fn toleration_of_all_taints_needs_a_star() {
    let template = json!({ "spec": { "tolerations": [{ "operator": "Exists" }] } });
    let errors = |policy: &str| parse(&template).unwrap().forbidden(&PodTemplatePolicy::parse(policy).unwrap());
    assert_eq!(errors("toleration/*"), []);
    assert!(errors("toleration/gpu")[0].detail().contains("toleration/*"));
}
