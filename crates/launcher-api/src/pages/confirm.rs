//! The confirmation page of an action, and its sentences about files.

use std::collections::BTreeMap;

use askama::Template;
use launcher_domain::InstanceState;
use launcher_service::ListedInstance;

use crate::pages::{Language, PageResult, Shell, Text, Visitor, assets, page};

#[derive(Debug, Default)]
pub(crate) struct Question {
    pub(crate) title: Text,
    pub(crate) question: String,
    pub(crate) warning: Text,
    /// Owner of the object, unless it is the reader.
    pub(crate) owner: Option<String>,
    pub(crate) action: String,
    /// Hidden fields of the form, in addition to the path to which it returns.
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) button: Text,
    pub(crate) button_class: &'static str,
    /// Label of the link that leads back without the action.
    pub(crate) cancel: Text,
    pub(crate) return_to: String,
}

#[derive(Debug, Template)]
#[template(path = "confirm.html")]
struct ConfirmPage {
    t: Language,
    shell: Shell,
    ask: Question,
}

pub(crate) fn confirm(visitor: &Visitor, here: &'static str, ask: Question) -> PageResult {
    page(&ConfirmPage { t: visitor.t, shell: visitor.shell(here), ask })
}

/// States what happens to the files of these workshops if they are ended now. Omits workshops that end already.
pub(crate) fn files_if_ended(visitor: &Visitor, listed: &[ListedInstance]) -> Vec<String> {
    let (t, retention) = (visitor.t, visitor.launcher.file_retention());
    let ends = |state| matches!(state, InstanceState::Terminating | InstanceState::Terminated);
    let others = listed.iter().map(|listed| &listed.instance).filter(|instance| !ends(instance.state));
    per_outcome(t, others.map(|instance| instance.files_if_ended(retention)), |files| t.files(files))
}

/// States what happens to the files of these workshops if they are restarted. A restart saves no files.
pub(crate) fn files_if_restarted(t: Language, listed: &[ListedInstance]) -> Vec<String> {
    per_outcome(t, listed.iter().map(|listed| listed.instance.volume.is_some()), |keeps_files| {
        t.text(if keeps_files { "restart-keeps-files" } else { "restart-deletes-files" }).into_owned()
    })
}

/// Returns one sentence for each outcome, with the number of workshops if there are several outcomes.
fn per_outcome<T: Ord>(t: Language, outcomes: impl Iterator<Item = T>, sentence: impl Fn(T) -> String) -> Vec<String> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    for outcome in outcomes {
        *counts.entry(outcome).or_default() += 1;
    }
    let is_one = counts.len() == 1;
    let warning = |(outcome, count): (T, usize)| {
        let files = sentence(outcome);
        if is_one { files } else { t.with("files-of-some", [("count", count.into()), ("files", files.into())]) }
    };
    counts.into_iter().map(warning).collect()
}
