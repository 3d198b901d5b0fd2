//! Digest of the part of a Workshop that decides its pod: its change, and nothing else, restarts a running workshop.

use launcher_workshop::WorkshopResources;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::validate::Validated;

/// Version of the list of fields below. An annotation of another version is not compared but replaced: running workshops
/// survive an operator that digests other fields.
const VERSION: &str = "1";

/// The digest, as the annotation [`super::SPEC_DIGEST`] holds it: `VERSION-HEX`.
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

/// True when both were made by the same version of this module, so that a difference means a changed Workshop.
pub(crate) fn are_comparable(one: &str, other: &str) -> bool {
    let version = |digest: &str| digest.split_once('-').map(|(version, _)| version.to_owned());
    version(one).is_some() && version(one) == version(other)
}
