//! The confirmation page of an action.

use askama::Template;

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
