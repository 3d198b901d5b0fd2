//! Digest of the Workshop's fields that determine the pod template. Only a change of these fields restarts the pod of a
//! running workshop.

use launcher_workshop::WorkshopResources;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::validate::Validated;

/// Annotation of a Deployment with the digest of the Workshop's fields that determine the pod template.
pub const SPEC_DIGEST: &str = "workshoplauncher.dev/spec-digest";
/// Version of the list of fields in the digest; increase it when the list changes. The operator does not compare
/// digests of different versions, so an upgraded operator does not restart running workshops.
const VERSION: &str = "1";

/// Returns the value of the annotation [`SPEC_DIGEST`] for this Workshop: `VERSION-HEX`.
pub(super) fn of(workshop: &Validated) -> String {
    let Validated {
        name,
        namespace: _,
        owner_reference: _,
        owner,
        image,
        app_type,
        port,
        command,
        args,
        env,
        resources,
        profile,
    } = workshop;
    let WorkshopResources { cpu_request, cpu_limit, memory_request, memory_limit } = resources;
    let fields = json!([
        name,
        owner.to_string(),
        image,
        app_type.as_str(),
        port,
        command,
        args,
        env,
        [cpu_request, cpu_limit, memory_request, memory_limit],
        profile.as_str(),
    ]);
    let hex: String = Sha256::digest(fields.to_string()).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{VERSION}-{hex}")
}

/// True if both digests have the same version. Only then does a difference mean that the Workshop changed.
pub(crate) fn are_comparable(one: &str, other: &str) -> bool {
    let version = |digest: &str| digest.split_once('-').map(|(version, _)| version.to_owned());
    version(one).is_some() && version(one) == version(other)
}
