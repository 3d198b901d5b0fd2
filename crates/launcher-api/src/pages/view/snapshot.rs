//! The snapshot of a workshop's files, in words.

use jiff::Timestamp;
use launcher_domain::clock::random_hex;
use launcher_domain::{Caller, Instance, InstanceSnapshot, Snapshot, SnapshotFailure, SnapshotState};
use launcher_service::{Launcher, ServiceError};
use uuid::Uuid;

use crate::pages::language::Around;
use crate::pages::paths::PREFIX;
use crate::pages::view::Instant;
use crate::pages::view::workshop::KEY_BYTES;
use crate::pages::{Language, Text, Visitor};

/// A notice about the files of a workshop that its end saves. The notice begins when the end is decided.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotView {
    /// Kind of the notice, as a CSS class: `bad`, `good` or `wait`.
    pub(crate) kind: &'static str,
    pub(crate) text: Around,
    pub(crate) until: Option<Instant>,
    pub(crate) has_link: bool,
    /// Form that launches a workshop with the saved files, if the reader may, and the files still exist.
    pub(crate) launch: Option<FilesForm>,
}

#[derive(Debug, Clone)]
pub(crate) struct FilesForm {
    pub(crate) template_id: Uuid,
    pub(crate) snapshot_id: Uuid,
    /// Name of the workshop of these files, for screen readers.
    pub(crate) name: String,
    /// Idempotency key of the form.
    pub(crate) key: String,
    /// Fields with the values of launch parameters, without secrets.
    pub(crate) values: Vec<(String, String)>,
}

impl FilesForm {
    /// Returns the form for a snapshot; `None` if the reader is not its owner, or if this launcher saves no files.
    pub(crate) fn new(visitor: &Visitor, snapshot: &Snapshot) -> Option<Self> {
        let is_possible = visitor.launcher.can_restore() && snapshot.owner_email == *visitor.caller.email();
        is_possible.then(|| Self {
            template_id: snapshot.template_id,
            snapshot_id: snapshot.snapshot_id,
            name: snapshot.k8s_name.clone(),
            key: random_hex::<KEY_BYTES>(visitor.launcher.entropy()),
            values: Vec::new(),
        })
    }
}

impl SnapshotView {
    /// Converts the snapshot of an instance; `None` while it is only planned.
    pub(crate) fn of(t: Language, snapshot: &InstanceSnapshot) -> Option<Self> {
        Some(match (snapshot.state, snapshot.failure) {
            (SnapshotState::Planned, _) => return None,
            (SnapshotState::Pending, _) => Self::new("wait", t.text("snapshot-pending")),
            (SnapshotState::Saved, _) => Self { has_link: true, ..Self::new("good", t.text("snapshot-saved")) },
            (SnapshotState::Failed, failure) => {
                let has_link = failure == Some(SnapshotFailure::LimitReached);
                Self { has_link, ..Self::new("bad", t.not_saved(failure)) }
            }
        })
    }

    /// Like [`Self::of`], with the time until which the files are saved, if they are still there.
    pub(crate) async fn dated(visitor: &Visitor, instance: &Instance) -> Result<Option<Self>, ServiceError> {
        let (t, launcher) = (visitor.t, &visitor.launcher);
        let Some(snapshot) = &instance.snapshot else { return Ok(None) };
        let view = Self::of(t, snapshot);
        if snapshot.state != SnapshotState::Saved {
            return Ok(view);
        }
        let Some((snapshot, until)) = saved_until(launcher, &visitor.caller, instance).await? else {
            return Ok(Some(Self::new("wait", t.text("snapshot-deleted"))));
        };
        let field = |(name, value): (&String, &Option<String>)| Some((format!("{PREFIX}{name}"), value.clone()?));
        let values = instance.parameters.iter().filter_map(field).collect();
        let launch = FilesForm::new(visitor, &snapshot).map(|form| FilesForm { values, ..form });
        let dated = |at| (t.around("snapshot-saved-until"), Instant::new(t, at));
        Ok(view.map(|view| match until.map(dated) {
            Some((text, until)) => Self { text, until: Some(until), launch, ..view },
            None => Self { launch, ..view },
        }))
    }

    fn new(kind: &'static str, text: impl Into<Text>) -> Self {
        let text = Around { before: text.into().into_owned(), after: String::new() };
        Self { kind, text, until: None, has_link: false, launch: None }
    }
}

/// Returns the saved files of an instance, and the time of their deletion; `None` if they are deleted.
pub(crate) async fn saved_until(
    launcher: &Launcher,
    caller: &Caller,
    instance: &Instance,
) -> Result<Option<(Snapshot, Option<Timestamp>)>, ServiceError> {
    match launcher.snapshot(caller, instance.instance_id).await {
        Ok(snapshot) => {
            let until = launcher.snapshot_retention().map(|retention| snapshot.deleted_after(retention));
            Ok(Some((snapshot, until)))
        }
        Err(ServiceError::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use launcher_domain::ArchiveToken;
    use launcher_testkit::TestEntropy;

    use super::*;

    fn view(state: SnapshotState, failure: Option<SnapshotFailure>) -> Option<SnapshotView> {
        let planned = InstanceSnapshot::planned(ArchiveToken::random(&TestEntropy::default()));
        SnapshotView::of(Language::english(), &InstanceSnapshot { state, failure, ..planned })
    }

    #[test]
    fn notice_begins_when_end_is_decided() {
        assert!(view(SnapshotState::Planned, None).is_none());
        let pending = view(SnapshotState::Pending, None).unwrap();
        assert_eq!((pending.kind, pending.has_link), ("wait", false));
        assert_eq!(pending.text.before, "Saving your files before the workshop ends.");
        assert!(view(SnapshotState::Saved, None).unwrap().has_link);
    }

    #[test]
    fn failed_snapshot_has_reason_in_every_language() {
        for t in Language::all() {
            for failure in SnapshotFailure::ALL {
                assert!(t.has(&format!("snapshot-failure-{}", failure.as_str())), "{failure:?}");
            }
        }
        let failed = view(SnapshotState::Failed, Some(SnapshotFailure::LimitReached)).unwrap();
        assert_eq!((failed.kind, failed.has_link), ("bad", true), "the link leads to the snapshots to delete");
        assert!(failed.text.before.starts_with("Your files could not be saved. The files of 20 workshops"));
    }
}
