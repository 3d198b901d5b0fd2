//! The repository that a link to a template names.

use launcher_domain::{RepositoryDraft, Template};

use super::language::Language;
use crate::problem::{Problem, ProblemCode};

/// Returns the repository of these fields of a query or a form; `None` without a URL.
pub(super) fn repository(url: String, reference: String, folder: String) -> Option<RepositoryDraft> {
    let given = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    Some(RepositoryDraft { url: given(url)?, reference: given(reference), folder: given(folder) })
}

/// Checks that the template allows the repository.
///
/// # Errors
/// InvalidParameters, with all rules that the repository breaks.
pub(super) fn check(t: Language, template: &Template, repository: Option<&RepositoryDraft>) -> Result<(), Problem> {
    let Some(repository) = repository else { return Ok(()) };
    let Err(errors) = template.settings.with_repository(repository.clone()) else { return Ok(()) };
    let details: Vec<String> = errors.iter().map(|error| t.coded(&error.key())).collect();
    let detail = t.with_one("repository-refused", "wrong", details.join("; "));
    Err(Problem::new(ProblemCode::InvalidParameters, detail))
}
