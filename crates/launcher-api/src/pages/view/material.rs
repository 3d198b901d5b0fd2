//! The course material of a workshop, in words.

use launcher_domain::{Instance, InstanceState, MaterialOutcome, SourceReport};

use crate::pages::language::{Language, Text};

/// A source that the user must know about.
#[derive(Debug, Clone)]
pub(crate) struct MaterialNotice {
    /// Sentence about the folder: its source could not be read, or it has files in conflict.
    pub(crate) title: String,
    /// English sentence of the program that reads the source; empty if there is none.
    pub(crate) message: String,
    /// Paths of files in conflict.
    pub(crate) files: Vec<String>,
    /// Sentence with the next step of the user.
    pub(crate) advice: Text,
}

impl MaterialNotice {
    /// Returns the notices of an instance that is starting or running.
    pub(crate) fn of(t: Language, instance: &Instance) -> Vec<Self> {
        let is_live = matches!(instance.state, InstanceState::Starting | InstanceState::Running);
        let sources = instance.material.iter().filter(|_| is_live).flat_map(|report| &report.sources);
        sources.filter(|source| source.needs_attention()).map(|source| Self::about(t, source)).collect()
    }

    fn about(t: Language, source: &SourceReport) -> Self {
        let target = source.target.as_str();
        let has_failed = source.outcome == MaterialOutcome::Failed;
        let (title, advice) = if has_failed {
            (t.with_one("material-not-loaded", "target", target), t.text("material-not-loaded-advice"))
        } else {
            let values = [("count", source.conflict_count.into()), ("target", target.into())];
            (t.with("material-conflicts", values), t.text("material-conflicts-advice"))
        };
        Self { title, message: source.message.clone().unwrap_or_default(), files: source.conflicts.clone(), advice }
    }
}

/// Returns the state of each source, as short texts.
pub(crate) fn material_states(t: Language, instance: &Instance) -> Vec<String> {
    let sources = instance.material.iter().flat_map(|report| &report.sources);
    let text = |source: &SourceReport| {
        t.with_one(&format!("material-{}", source.outcome.as_str()), "target", source.target.as_str())
    };
    sources.map(text).collect()
}
