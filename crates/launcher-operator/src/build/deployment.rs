//! The Deployment: one pod, never two at a time.

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec, DeploymentStrategy};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};

use super::{SPEC_DIGEST, digest, labels, metadata, pod, selector};
use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// What the cluster's autoscaler and Karpenter read: a machine is not given up while a workshop runs there, since what was
/// in its memory would be gone.
const KEPT: [(&str, &str); 2] =
    [("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), ("karpenter.sh/do-not-disrupt", "true")];

pub(super) fn deployment(workshop: &Validated, settings: &OperatorSettings) -> Deployment {
    let annotations = [(SPEC_DIGEST.to_owned(), digest::of(workshop))].into();
    Deployment {
        metadata: ObjectMeta { annotations: Some(annotations), ..metadata(workshop) },
        spec: DeploymentSpec {
            replicas: Some(1),
            // An old pod has to be gone before a new one starts: two would write the same files, one day.
            strategy: Some(DeploymentStrategy { type_: Some("Recreate".to_owned()), rolling_update: None }),
            revision_history_limit: Some(0),
            selector: LabelSelector { match_labels: Some(selector(workshop)), match_expressions: None },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels(workshop)),
                    annotations: Some(KEPT.map(|(name, value)| (name.to_owned(), value.to_owned())).into()),
                    ..ObjectMeta::default()
                }),
                spec: Some(pod::pod(workshop, settings)),
            },
            ..DeploymentSpec::default()
        },
        status: None,
    }
}
