//! Rules of [`Archives`](launcher_fleet::Archives) about the files of apps.

use launcher_domain::ArchiveToken;
use launcher_domain::clock::SystemEntropy;
use launcher_fleet::{FleetError, ReadError};
use launcher_workshop::WorkshopStorage;

use super::harness::FleetHarness;

/// The service then ends the workshop without a snapshot, and never retries.
pub(super) async fn files_of_missing_workshop_are_refused(harness: &dyn FleetHarness) {
    let fleet = harness.fleet();
    let Some(archives) = fleet.archives() else { return };
    let error = archives.read_app("archives-missing", &ArchiveToken::random(&SystemEntropy)).await.err().unwrap();
    assert!(matches!(error, ReadError::Fleet(FleetError::Refused(_))), "{error}");
}

/// The files are kept in any case.
pub(super) async fn files_of_workshop_with_volume_are_no_snapshot(harness: &dyn FleetHarness) {
    let fleet = harness.fleet();
    let Some(archives) = fleet.archives() else { return };
    let mut spec = harness.workshop("archives-volume").spec;
    spec.crash_safe_directory = Some("/work".to_owned());
    assert!(archives.can_read_app(&spec));
    let [volume, size, path] = ["work-archives", "1Gi", "/work"].map(str::to_owned);
    spec.storage = Some(WorkshopStorage { volume, size, path });
    assert!(!archives.can_read_app(&spec));
}
