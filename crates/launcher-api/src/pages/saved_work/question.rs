//! The question before files are deleted.

use askama::Template;
use http::StatusCode;
use launcher_domain::Caller;
use launcher_service::ServiceError;
use serde::Deserialize;

use super::list::{self, ALL, OWN};
use crate::pages::html::{PageResult, page, shell};
use crate::pages::language::{Language, Text};
use crate::pages::view::Shell;
use crate::pages::{assets, forms};
use crate::state::AppState;

/// The form of the button that deletes files, and the query of the question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteForm {
    return_to: Option<String>,
}

/// The files that the question is about.
#[derive(Debug)]
pub(super) struct Files {
    /// Path of the form.
    pub(super) path: String,
    /// Name of the template.
    pub(super) name: String,
    pub(super) warning: Text,
    /// The owner, unless it is the reader.
    pub(super) owner: Option<String>,
}

#[derive(Debug, Template)]
#[template(path = "saved_work_delete.html")]
struct DeletePage {
    t: Language,
    shell: Shell,
    files: Files,
    return_to: &'static str,
}

impl DeleteForm {
    /// Returns the list to which the form returns.
    fn list(&self) -> &'static str {
        if self.return_to.as_deref() == Some(ALL) { ALL } else { OWN }
    }
}

/// Asks if the files shall be deleted.
pub(super) fn ask(state: &AppState, caller: &Caller, t: Language, files: Files, query: &DeleteForm) -> PageResult {
    let shell = shell(state, caller, t, "work");
    page(StatusCode::OK, &DeletePage { t, shell, files, return_to: query.list() })
}

/// Answers the form: returns to the list, or shows the list with a notice about the error.
pub(super) async fn answer(
    state: &AppState,
    caller: &Caller,
    t: Language,
    form: &DeleteForm,
    outcome: Result<(), ServiceError>,
) -> PageResult {
    let path = form.list();
    let Err(error) = outcome else { return Ok(forms::redirect(path)) };
    list::refused(state, caller, t, if caller.is_admin() { path } else { OWN }, error).await
}
