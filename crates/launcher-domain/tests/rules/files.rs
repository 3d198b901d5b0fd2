//! Fate of a workshop's files at its end.

use std::time::Duration;

use launcher_domain::files::{FileRetention, FilesAtEnd};
use launcher_domain::{ArchiveToken, Instance, InstanceSnapshot, InstanceState};

use crate::{Counter, instance};

const DAY: Duration = Duration::from_secs(86_400);
const BOTH: FileRetention = FileRetention { volumes: Some(DAY), snapshots: Some(DAY) };

fn planned(state: InstanceState) -> Instance {
    let snapshot = InstanceSnapshot::planned(ArchiveToken::random(&Counter::default()));
    Instance { snapshot: Some(snapshot), ..instance(state) }
}

#[test]
fn files_are_kept_in_a_volume_or_saved_as_planned_or_deleted() {
    let running = planned(InstanceState::Running);
    let none = FileRetention { volumes: None, snapshots: None };
    assert_eq!(running.files_at_end(BOTH), FilesAtEnd::Saved(DAY));
    assert_eq!(running.files_at_end(none), FilesAtEnd::Deleted, "this launcher has no object store any more");
    let without = Instance { snapshot: None, ..running.clone() };
    assert_eq!(without.files_at_end(BOTH), FilesAtEnd::Deleted);
    let with_volume = Instance { volume: Some("v-1".to_owned()), ..without };
    assert_eq!(with_volume.files_at_end(BOTH), FilesAtEnd::Kept(Some(DAY)));
    assert_eq!(with_volume.files_at_end(none), FilesAtEnd::Kept(None));
}

#[test]
fn workshop_that_is_ended_before_it_was_ready_has_no_files_of_its_own() {
    for state in [InstanceState::Queued, InstanceState::Starting] {
        let waiting = planned(state);
        assert_eq!(waiting.files_at_end(BOTH), FilesAtEnd::Saved(DAY), "at the end of its lifetime");
        assert_eq!(waiting.files_if_ended(BOTH), FilesAtEnd::NoneYet);
        let with_volume = Instance { volume: Some("v-1".to_owned()), ..waiting };
        assert_eq!(with_volume.files_if_ended(BOTH), FilesAtEnd::Kept(Some(DAY)));
    }
    assert_eq!(planned(InstanceState::Running).files_if_ended(BOTH), FilesAtEnd::Saved(DAY));
}
