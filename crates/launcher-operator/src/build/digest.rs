//! Digest of the Workshop's fields that decide its pod. Only a change of these fields restarts a running workshop.

use launcher_workshop::WorkshopResources;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::validate::Validated;

/// Version of the list of fields below. An annotation of another version is replaced without a comparison, so that
/// running workshops survive an operator that digests other fields.
const VERSION: &str = "1";

/// The digest in the form of the annotation [`super::SPEC_DIGEST`]: `VERSION-HEX`.
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

/// True if both digests have the same version, so that a difference means a changed Workshop.
pub(crate) fn are_comparable(one: &str, other: &str) -> bool {
    let version = |digest: &str| digest.split_once('-').map(|(version, _)| version.to_owned());
    version(one).is_some() && version(one) == version(other)
}
