//! Rules for [`Archives::read_app`](crate::Archives::read_app) that all fleets share.

use launcher_workshop::{ResourceExt, Workshop};

use crate::port::FleetError;

/// Checks that the files of the Workshop's app can be read.
///
/// # Errors
/// [`FleetError::Refused`]: the Workshop has ended, has its files in a volume, or has no `spec.snapshot`.
pub(crate) fn check_readable(workshop: &Workshop) -> Result<(), FleetError> {
    let has_ended = workshop.metadata.deletion_timestamp.is_some()
        || workshop.status.as_ref().is_some_and(|status| status.phase.is_final());
    let reason = match &workshop.spec {
        _ if has_ended => "it has ended",
        spec if spec.storage.is_some() => "they are in its volume",
        spec if spec.snapshot.is_none() => "its spec has no snapshot",
        _ => return Ok(()),
    };
    Err(FleetError::Refused(format!("the files of {} cannot be read: {reason}", workshop.name_any())))
}

/// Returns the error of a name that no Workshop has.
pub(crate) fn missing(name: &str) -> FleetError {
    FleetError::Refused(format!("no Workshop has the name {name:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns the error message for a running Workshop with these changes of its spec, in this phase.
    fn refusal(changes: &Value, phase: &str) -> Option<String> {
        let resources = json!({ "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" });
        let mut spec = json!({
            "owner": "alice@example.org", "image": "app:1", "appType": "custom", "port": 8888, "resources": resources,
            "securityProfile": "restricted", "lifetimeSeconds": 3600,
            "snapshot": { "tokenSha256": "0".repeat(64), "graceSeconds": 90 },
        });
        spec.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let workshop: Workshop = serde_json::from_value(json!({
            "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "metadata": { "name": "lab-a" },
            "spec": spec, "status": { "phase": phase },
        }))
        .unwrap();
        check_readable(&workshop).err().map(|error| error.to_string())
    }

    #[test]
    fn only_files_of_a_workshop_with_a_snapshot_and_without_a_volume_are_readable_before_its_end() {
        assert_eq!(refusal(&json!({}), "Running"), None);
        // The app has crashed, and starts again beside its files.
        assert_eq!(refusal(&json!({}), "Starting"), None);
        let storage = json!({ "storage": { "volume": "work-aaaaaaaaaa", "size": "1Gi", "path": "/work" } });
        let cases = [
            (json!({}), "Expired", "it has ended"),
            (json!({}), "Failed", "it has ended"),
            (storage, "Running", "they are in its volume"),
            (json!({ "snapshot": null }), "Running", "its spec has no snapshot"),
        ];
        for (changes, phase, expected) in cases {
            let found = refusal(&changes, phase).unwrap();
            assert!(found.contains("lab-a") && found.ends_with(expected), "{found}");
        }
    }
}
