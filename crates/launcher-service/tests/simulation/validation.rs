//! Validation of Workshops by the simulated API server, with the rules of their resource definition.

use launcher_domain::names::is_k8s_name;
use serde_json::Value;

/// Minimum length of an owner in the resource definition.
const SHORTEST_OWNER: usize = 3;

/// True if a Workshop is valid and keeps the immutable fields of the stored one.
pub(crate) fn is_valid(before: Option<&Value>, after: &Value) -> bool {
    let name = after["metadata"]["name"].as_str().unwrap_or_default();
    let owner = after["spec"]["owner"].as_str().unwrap_or_default();
    let is_constant = |field| before.is_none_or(|before| before["spec"][field] == after["spec"][field]);
    is_k8s_name(name) && owner.len() >= SHORTEST_OWNER && ["owner", "image"].into_iter().all(is_constant)
}
