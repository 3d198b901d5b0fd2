//! Texts of the error pages, and of errors in fields.

use launcher_domain::FieldError;

use crate::pages::{Language, Text};
use crate::problem::ProblemCode;

impl Language {
    /// Returns the title and the text of an error page. `detail` is the problem's own text, used for problems without a
    /// message.
    pub(crate) fn error(self, code: &str, detail: String) -> (Text, Text) {
        let page = ProblemCode::parse(code).map_or(code, |problem| problem.page());
        let key = format!("error-{page}");
        if self.has(&key) {
            (self.text(&key), self.attribute(&key, "text"))
        } else {
            (self.text("error-other"), detail.into())
        }
    }

    /// Returns the error of a field as a sentence.
    pub(crate) fn field_error(self, error: &FieldError) -> String {
        sentence(&self.coded(&error.key()))
    }
}

/// Returns the error of a field as a sentence, with a capital letter and a full stop.
pub(crate) fn sentence(detail: &str) -> String {
    let mut characters = detail.chars();
    let sentence: String =
        characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default();
    if sentence.ends_with(['.', '。']) { sentence } else { format!("{sentence}.") }
}
