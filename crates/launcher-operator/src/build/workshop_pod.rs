//! Builds the pod of a Workshop. It has the name of its Workshop, so that the API server never accepts a second one.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::digest::{self, SPEC_DIGEST, TEMPLATE_DIGEST};
use super::metadata::metadata;
use super::{crash_safe, material, pod, pod_template};
use crate::identifiers::{CRASHES, EXPIRES_AT, LAST_CRASH, RESTARTED_AT, VOLUME_LABEL};
use crate::pod_crashes::CrashRecord;
use crate::pod_policy::permitted;
use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// Annotations that forbid the cluster autoscaler and Karpenter to remove a node while a workshop runs on it. The work
/// in the workshop's memory would be lost.
const NO_EVICTION: [(&str, &str); 2] =
    [("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), ("karpenter.sh/do-not-disrupt", "true")];
/// Empty expiry annotation. The digest of the pod is computed with it, so the digest does not depend on the expiry.
const NO_EXPIRY: (&str, &str) = (EXPIRES_AT, "");
/// Annotation without a crash, for the frame page.
const NO_CRASH: (&str, &str) = (LAST_CRASH, "");

pub(super) fn pod(workshop: &Validated, settings: &OperatorSettings) -> Pod {
    let spec = pod::pod(workshop, settings);
    let annotations: BTreeMap<String, String> = NO_EVICTION
        .into_iter()
        .chain([NO_EXPIRY, NO_CRASH])
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut own = ObjectMeta { annotations: Some(annotations), ..metadata(workshop) };
    if let Some(storage) = &workshop.spec.storage {
        own.labels.get_or_insert_default().insert(VOLUME_LABEL.to_owned(), storage.volume.clone());
    }
    let mut metadata = match permitted(workshop, settings) {
        Some(template) => pod_template::merge_metadata(own, template),
        None => own,
    };
    let annotations = metadata.annotations.get_or_insert_default();
    let template = digest::of_template(annotations, &spec);
    annotations.insert(SPEC_DIGEST.to_owned(), digest::of(workshop));
    annotations.insert(TEMPLATE_DIGEST.to_owned(), template);
    annotations.insert(EXPIRES_AT.to_owned(), expiry(workshop));
    annotations.extend(record(workshop, settings).map(|record| (CRASHES.to_owned(), record.to_text())));
    if let Some(restarted_at) = workshop.restarted_at {
        annotations.insert(RESTARTED_AT.to_owned(), restarted_at.to_string());
    }
    Pod { metadata, spec: Some(spec), status: None }
}

/// Returns the expiry if it is known, otherwise the lifetime.
fn expiry(workshop: &Validated) -> String {
    workshop.expiry.map_or_else(|| relative_expiry(workshop.lifetime_seconds), |expiry| expiry.to_string())
}

/// Returns the value of the annotation [`EXPIRES_AT`] for a workshop that expires this number of seconds after it was first
/// ready. The sidecar reads this form.
pub(crate) fn relative_expiry(lifetime_seconds: u32) -> String {
    format!("+{lifetime_seconds}")
}

/// Returns the record of crashes if files of the pod outlive a crash of the app. With course material alone, only the files in
/// its directories do.
fn record(workshop: &Validated, settings: &OperatorSettings) -> Option<CrashRecord> {
    if workshop.spec.storage.is_some() {
        return None;
    }
    let is_crash_safe = crash_safe::directory(workshop, settings).is_some();
    (is_crash_safe || material::placed(workshop, settings).is_some()).then(|| CrashRecord::new(!is_crash_safe))
}
