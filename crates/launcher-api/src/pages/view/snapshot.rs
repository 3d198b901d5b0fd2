//! The snapshot of a workshop's files, in words.

use launcher_domain::{Caller, Instance, InstanceState, SnapshotFailure, SnapshotState};
use launcher_service::{Launcher, ServiceError};

use super::instant::Instant;
use crate::pages::language::{Around, Language, Text};

/// A notice about the files of a workshop that its end saves. The notice begins when the end is decided.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotView {
    /// Kind of the notice, as a CSS class: `bad`, `good` or `wait`.
    pub(crate) kind: &'static str,
    /// Sentence around the time.
    pub(crate) text: Around,
    /// Time at which the saved files are deleted.
    pub(crate) until: Option<Instant>,
    /// True if a link to the list of saved files follows.
    pub(crate) has_link: bool,
}

impl SnapshotView {
    /// Converts the snapshot of an instance; `None` while it is only planned.
    pub(super) fn of(t: Language, instance: &Instance) -> Option<Self> {
        let snapshot = instance.snapshot.as_ref()?;
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

    /// Like [`Self::of`], with the time until which the files are saved.
    pub(crate) async fn dated(
        t: Language,
        launcher: &Launcher,
        caller: &Caller,
        instance: &Instance,
    ) -> Result<Option<Self>, ServiceError> {
        let view = Self::of(t, instance);
        if instance.snapshot.as_ref().is_none_or(|snapshot| snapshot.state != SnapshotState::Saved) {
            return Ok(view);
        }
        let until = match launcher.snapshot(caller, instance.instance_id).await {
            Ok(snapshot) => launcher.snapshot_retention().map(|retention| snapshot.deleted_after(retention)),
            Err(ServiceError::NotFound) => return Ok(Some(Self::new("wait", t.text("snapshot-deleted")))),
            Err(error) => return Err(error),
        };
        let dated = |at| (t.around("snapshot-saved-until"), Instant::new(t, at));
        Ok(view.map(|view| match until.map(dated) {
            Some((text, until)) => Self { text, until: Some(until), ..view },
            None => view,
        }))
    }

    fn new(kind: &'static str, text: impl Into<Text>) -> Self {
        let text = Around { before: text.into().into_owned(), after: String::new() };
        Self { kind, text, until: None, has_link: false }
    }
}

/// Returns true if the end of the instance saves its files.
pub(crate) fn end_saves_files(instance: &Instance) -> bool {
    instance.state == InstanceState::Running && is_planned(instance)
}

/// Returns true if the launch planned a snapshot, and the end is not decided.
pub(super) fn is_planned(instance: &Instance) -> bool {
    instance.snapshot.as_ref().is_some_and(|snapshot| snapshot.state == SnapshotState::Planned)
}
