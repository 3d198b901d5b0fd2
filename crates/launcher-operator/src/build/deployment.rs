//! Builds the Deployment. It has one pod, and never two at a time.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec, DeploymentStrategy};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};

use super::digest::{self, SPEC_DIGEST};
use super::metadata::{labels, metadata, selector};
use super::pod;
use crate::identifiers::EXPIRES_AT;
use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// Annotations that forbid the cluster autoscaler and Karpenter to remove a node while a workshop runs on it. The work
/// in the workshop's memory would be lost.
const NO_EVICTION: [(&str, &str); 2] =
    [("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), ("karpenter.sh/do-not-disrupt", "true")];
/// Annotation without an expiry. The operator writes the expiry to the pod, and never to the pod template: a changed
/// template would restart the pod.
const NO_EXPIRY: (&str, &str) = (EXPIRES_AT, "");

fn pod_annotations() -> BTreeMap<String, String> {
    let all = NO_EVICTION.into_iter().chain([NO_EXPIRY]);
    all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

pub(super) fn deployment(workshop: &Validated, settings: &OperatorSettings) -> Deployment {
    let annotations = [(SPEC_DIGEST.to_owned(), digest::of(workshop))].into();
    Deployment {
        metadata: ObjectMeta { annotations: Some(annotations), ..metadata(workshop) },
        spec: DeploymentSpec {
            replicas: Some(1),
            // Recreate: the old pod must be gone before a new pod starts. Two pods must never write the same files.
            strategy: Some(DeploymentStrategy { type_: Some("Recreate".to_owned()), rolling_update: None }),
            revision_history_limit: Some(0),
            selector: LabelSelector { match_labels: Some(selector(workshop)), match_expressions: None },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels(workshop)),
                    annotations: Some(pod_annotations()),
                    ..ObjectMeta::default()
                }),
                spec: Some(pod::pod(workshop, settings)),
            },
            ..DeploymentSpec::default()
        },
        status: None,
    }
}
